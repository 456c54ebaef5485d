/* BroadcastArgs: the shape that two shapes broadcast to. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape a, b;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 1, &a));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 1, &b));
  c->out[0].shape = tfsdk_shape_vector(-1);
  if (a.dim[0] >= 0 && b.dim[0] >= 0)
    c->out[0].shape.dim[0] = a.dim[0] > b.dim[0] ? a.dim[0] : b.dim[0];
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *a = &r->in[0], *b = &r->in[1], *y = &r->out[0];
  for (int64_t i = 1; i <= y->n_elem; i++) { /* from the last axis on */
    int64_t m = i <= a->n_elem ? array_index(a, a->n_elem - i) : 1;
    int64_t n = i <= b->n_elem ? array_index(b, b->n_elem - i) : 1;
    TFSDK_REQUIRE(r, m == n || m == 1 || n == 1,
                  "extents %lld and %lld, %lld from the end, cannot be broadcast together",
                  (long long)m, (long long)n, (long long)i);
    array_set_index(y, y->n_elem - i, m == 1 ? n : m);
  }
  return NULL;
}

static const tfsdk_arg in[] = {{"s0", "T", "vector: a shape", ARRAY_SHAPE_ARG, 0},
                               {"s1", "T", "vector: another", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"r0", "T", "vector: the common shape", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {{"T", ARRAY_INDEX_TYPES, "int32", "type of the shapes", 0, 0}};
static const char *const samples[] = {"int32{2,1,3} ; int32{4,1}", "int64{} ; int64{2}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("BroadcastArgs", "the shape that two shapes broadcast to"),
     .doc = "NumPy's rule: aligned at the last axis, extents are equal or 1.\n\n"
            "Source: TensorFlow `BroadcastArgs`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute,
     .no_grad_reason = "integers", .samples = samples}};
TFSDK_UNIT_OPS(broadcast_args, ops);
