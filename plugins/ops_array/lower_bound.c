/* LowerBound: where in each sorted row values would be put in, found by halving. */
#include "order.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s, v;
  int64_t n;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 2, &s));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 2, &v));
  TFSDK_TRY(tfsdk_merge_dim(c, s.dim[0], v.dim[0], "both inputs must have as many rows", &n));
  c->out[0].shape = v;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *s = &r->in[0], *v = &r->in[1];
  int64_t n = s->dim[1], m = v->dim[1];
  TFSDK_REQUIRE(r, n <= INT32_MAX || r->out[0].dtype == TFSDK_INT64,
                "rows of %lld need out_type int64", (long long)n);
  for (int64_t i = 0; i < v->n_elem; i++)
    array_set_index(&r->out[0], i, array_bound(s, i / m * n, n, v, i, 0));
  return NULL;
}

static const tfsdk_arg in[] = {
    {"sorted_inputs", "T", "[rows, n]: each row rises", TFSDK_ARG_NONDIFF, 0},
    {"values", "T", "[rows, m]: what to look for in the same row", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {
    {"output", "out_type", "[rows, m]: the first position with sorted >= value, or n", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_REAL_TYPES, NULL, "type of the elements", 0, 0},
    {"out_type", ARRAY_INDEX_TYPES, "int32", "type of the positions", 0, 0}};
static const char *const samples[] = {"float32{{1,2,2,5}} ; float32{{2,0,9}}",
                                      "int32{{1,3},{4,4}} ; int32{{2},{4}} | out_type=int64", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("LowerBound", "finds values in sorted rows"),
     .doc = "The first position p with `sorted_inputs[row, p] >= value`; n if there is none.\n\n"
            "Source: TensorFlow `LowerBound` (`tf.searchsorted`).",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute,
     .no_grad_reason = "integers", .samples = samples}};
TFSDK_UNIT_OPS(lower_bound, ops);
