/* OnesLike: ones (true) of the input's type and shape. */
#include "array.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  array_fill(r->out[0].data, r->out[0].dtype, 1, r->out[0].n_elem);
  return NULL;
}

static const tfsdk_arg in[] = {
    {"x", "T", "any shape", TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0}};
static const tfsdk_arg out[] = {{"y", "T", "ones of x's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_NUMBER_TYPES_AND_BOOL, NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[2,3]", "float32[]", "float32[0,2]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("OnesLike", "ones of a tensor's type and shape"),
     .doc = "Reads no data. True for bool.\n\nSource: TensorFlow `OnesLike`.",
     ARRAY_SCHEMA(in, out, attr), .infer = tfsdk_infer_same, .reference = compute,
     .no_grad_reason = "constant", .samples = samples}};
TFSDK_UNIT_OPS(ones_like, ops);
