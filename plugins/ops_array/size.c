/* Size: the number of elements of a tensor. */
#include "array.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  int64_t n = r->in[0].n_elem;
  if (r->out[0].dtype == TFSDK_INT64) {
    *(int64_t *)r->out[0].data = n;
    return NULL;
  }
  TFSDK_REQUIRE(r, n <= INT32_MAX, "%lld elements do not fit int32: ask for out_type int64",
                (long long)n);
  *(int32_t *)r->out[0].data = (int32_t)n;
  return NULL;
}

static const tfsdk_arg in[] = {
    {"input", "T", "any shape", TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0}};
static const tfsdk_arg out[] = {
    {"output", "out_type", "scalar: the number of elements", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of input", 0, 0},
    {"out_type", ARRAY_INDEX_TYPES, "int32", "type of the result", 0, 0}};
static const char *const samples[] = {"T[2,3]", "float32[0,4] | out_type=int64", "float32[]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Size", "the number of elements of a tensor"),
     .doc = "A scalar has 1. Reads no data.\n\nSource: TensorFlow `Size`.",
     ARRAY_SCHEMA(in, out, attr), .infer = tfsdk_infer_scalar, .reference = compute,
     .no_grad_reason = "integers: a size does not depend on the values", .samples = samples}};
TFSDK_UNIT_OPS(size, ops);
