/* UniqueWithCountsV2: the distinct slices along an axis, with their counts (see distinct.h). */
#include "distinct.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  int32_t axis;
  TFSDK_TRY(array_unique_axis(c, &axis));
  c->out[1].shape = tfsdk_shape_vector(axis >= 0 && x->rank >= 0 ? x->dim[axis] : -1);
  if (x->rank >= 0) {
    c->out[0].shape = axis >= 0 ? *x : tfsdk_shape_of_rank(x->rank);
    if (axis >= 0) c->out[0].shape.dim[axis] = -1;
  }
  c->out[2].shape = tfsdk_shape_vector(-1);
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  int64_t axis = r->in[1].n_elem > 0 ? tfsdk_view_int(&r->in[1], 0) : 0;
  return array_unique_run(r, (int32_t)(axis < 0 ? axis + r->in[0].rank : axis));
}

static const tfsdk_arg in[] = {
    {"x", "T", "rank 1 or more", TFSDK_ARG_NONDIFF, 0},
    {"axis", "Taxis", "vector: the one axis along which slices are compared; empty: x is a vector",
     ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {
    {"y", "T", "x with the slices that occur for the first time only", 0, 0},
    {"idx", "out_idx", "vector: for each the number of its equal in y", 0, 0},
    {"count", "out_idx", "vector: how often each occurs", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"Taxis", ARRAY_INDEX_TYPES, "int64", "type of axis", 0, 0},
    {"out_idx", ARRAY_INDEX_TYPES, "int32", "type of the numbers", 0, 0}};
static const char *const samples[] = {"int32{{1,2},{3,4},{1,2}} ; int64{0}", "T[3] ; int64{}",
                                      "float32[2,0] ; int32{0}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("UniqueWithCountsV2", "the distinct slices along an axis, with counts"),
     .doc = "Slices of x along `axis` are compared; the first of equal ones stays, in order. "
            "`y[..., idx[i], ...] = x[..., i, ...]`. 0 equals -0; a NaN equals nothing.\n\n"
            "Source: TensorFlow `UniqueWithCountsV2`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute,
     .no_grad_reason = "which slices are equal is a step function", .samples = samples}};
TFSDK_UNIT_OPS(unique_with_counts_v2, ops);
