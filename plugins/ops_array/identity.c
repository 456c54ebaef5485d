/* Identity: y = x, the very tensor. */
#include "array.h"

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_dy(g, 0));
}

static const tfsdk_arg in[] = {{"input", "T", "any shape", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "input", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[2,3]", "float32[]", "float32[0,2]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Identity", "its input"), .flags = TFSDK_OP_VIEW,
     .doc = "y = x; nothing is copied. Gives a tensor a second name, or a node to hang control "
            "dependencies on.\n\nSource: TensorFlow `Identity`.",
     ARRAY_SCHEMA(in, out, attr), .infer = tfsdk_infer_same, .grad = grad, .samples = samples}};
TFSDK_UNIT_OPS(identity, ops);
