/* InvertPermutation: y[x[i]] = i. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) { return tfsdk_with_rank(c, 0, 1, &c->out[0].shape); }

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *y = &r->out[0];
  TFSDK_TRY(array_check_indices(r, 0, "x", x->n_elem));
  for (int64_t i = 0; i < y->n_elem; i++) array_set_index(y, i, -1);
  for (int64_t i = 0; i < y->n_elem; i++) {
    int64_t at = array_index(x, i);
    TFSDK_REQUIRE(r, array_index(y, at) < 0, "x is no permutation: %lld occurs twice",
                  (long long)at);
    array_set_index(y, at, i);
  }
  return NULL;
}

static const tfsdk_arg in[] = {
    {"x", "T", "vector: the numbers 0..n-1 in some order", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"y", "T", "vector: where each number stands", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_INDEX_TYPES, "int32", "type of the numbers", 0, 0}};
static const char *const samples[] = {"int32{2,0,1}", "int64{0}", "int32{}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("InvertPermutation", "the inverse of a permutation"),
     .doc = "`y[x[i]] = i`. Anything but each of 0..n-1 once is an error.\n\n"
            "Source: TensorFlow `InvertPermutation`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute,
     .no_grad_reason = "integers", .samples = samples}};
TFSDK_UNIT_OPS(invert_permutation, ops);
