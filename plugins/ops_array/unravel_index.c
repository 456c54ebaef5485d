/* UnravelIndex: flat row-major positions as coordinates. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  tfsdk_shape dims;
  TFSDK_TRY(tfsdk_with_rank(c, 1, 1, &dims));
  if (x->rank < 0) return NULL;
  if (x->rank > 1)
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "'indices' must be a scalar or vector, but its shape is %s",
                      tfsdk_shape_text(x).s);
  c->out[0].shape = dims;
  if (x->rank == 1) c->out[0].shape.dim[c->out[0].shape.rank++] = x->dim[0];
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *dims = &r->in[1];
  int64_t n = x->n_elem, size = 1;
  for (int64_t k = 0; k < dims->n_elem; k++) {
    int64_t d = array_index(dims, k);
    TFSDK_REQUIRE(r, d >= 0 && (d == 0 || size <= INT64_MAX / d),
                  "dims[%lld] = %lld is out of range", (long long)k, (long long)d);
    size *= d;
  }
  TFSDK_TRY(array_check_indices(r, 0, "indices", size));
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = array_index(x, i);
    for (int64_t k = dims->n_elem; k-- > 0; rest /= array_index(dims, k))
      array_set_index(&r->out[0], k * n + i, rest % array_index(dims, k));
  }
  return NULL;
}

static const tfsdk_arg in[] = {
    {"indices", "Tidx", "scalar or vector: flat positions", TFSDK_ARG_NONDIFF, 0},
    {"dims", "Tidx", "vector: the shape", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {
    {"output", "Tidx", "[rank] + indices.shape: one row for each axis", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"Tidx", ARRAY_INDEX_TYPES, "int32", "type of the positions", 0, 0}};
static const char *const samples[] = {"int32{22,3,7} ; int32{7,6}", "int64(5) ; int64{2,3}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("UnravelIndex", "flat positions as coordinates"),
     .doc = "Coordinate k of position i is `floor(i / product(dims[k+1:])) mod dims[k]`.\n\n"
            "Source: TensorFlow `UnravelIndex`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute,
     .no_grad_reason = "integers", .samples = samples}};
TFSDK_UNIT_OPS(unravel_index, ops);
