/* ZerosLike: zeros (false, empty strings) of the input's type and shape. */
#include "array.h"

static void write(array_sink *s, const void *user) {
  array_put_zeros(s, ((const tfsdk_view *)user)->n_elem);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_write(r, 0, write, &r->in[0]);
}

static const tfsdk_arg in[] = {
    {"x", "T", "any shape", TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0}};
static const tfsdk_arg out[] = {{"y", "T", "zeros of x's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[2,3]", "float32[]", "float32[0,2]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ZerosLike", "zeros of a tensor's type and shape"),
     .doc = "Reads no data. False for bool, empty for string.\n\nSource: TensorFlow `ZerosLike`.",
     ARRAY_SCHEMA(in, out, attr), .infer = tfsdk_infer_same, .reference = compute,
     .no_grad_reason = "constant", .samples = samples}};
TFSDK_UNIT_OPS(zeros_like, ops);
