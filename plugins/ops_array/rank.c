/* Rank: the number of axes of a tensor. */
#include "array.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  *(int32_t *)r->out[0].data = r->in[0].rank;
  return NULL;
}

static const tfsdk_arg in[] = {
    {"input", "T", "any shape", TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0}};
static const tfsdk_arg out[] = {
    {"output", "int32", "scalar: the number of axes", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of input", 0, 0}};
static const char *const samples[] = {"T[2,3]", "float32[]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Rank", "the number of axes of a tensor"),
     .doc = "A scalar has rank 0. Reads no data.\n\nSource: TensorFlow `Rank`.",
     ARRAY_SCHEMA(in, out, attr), .infer = tfsdk_infer_scalar, .reference = compute,
     .no_grad_reason = "integers: a rank does not depend on the values", .samples = samples}};
TFSDK_UNIT_OPS(rank, ops);
