/* ConcatV2: joins tensors along an axis. */
#include "join.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  return array_join_infer(c, 0, c->n_in - 1, c->n_in - 1);
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_join_compute(r, 0, r->n_in - 1, r->n_in - 1);
}
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_join_grad(c, g, 0, g->n_in - 1, g->n_in - 1);
}

static const tfsdk_arg in[] = {
    {"values", "N*T", "tensors whose shapes agree on all other axes", 0, 0},
    {"axis", "Tidx", "scalar; negative counts from the end", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "T", "the values one after another along axis", 0, 0}};
static const tfsdk_attrdef attr[] = {{"N", "int", NULL, "number of values", 1, 65536},
                                     {"T", "dtype", NULL, "type of the elements", 0, 0},
                                     {"Tidx", ARRAY_INDEX_TYPES, "int32", "type of axis", 0, 0}};
static const char *const samples[] = {"[T[2,3] ; T[1,3]] ; int32(0)",
                                      "[float32[2,3] ; float32[2,1] ; float32[2,0]] ; int64(-1)",
                                      "[float32[2]] ; int32(0)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ConcatV2", "joins tensors along an axis"),
     .doc = "The extent of `axis` is the sum of the inputs' extents; all other extents must be "
            "equal.\n\nSource: TensorFlow `ConcatV2`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 2, .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(concat_v2, ops);
