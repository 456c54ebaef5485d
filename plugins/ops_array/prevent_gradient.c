/* PreventGradient: y = x; asking for a gradient through it is an error. */
#include "array.h"

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  const char *message = tfsdk_attr_string(&g->attr, "message");
  return TFSDK_FAIL(g, FAILED_PRECONDITION, "a gradient was asked for where none may be taken%s%s",
                    *message != 0 ? ": " : "", message);
}

static const tfsdk_arg in[] = {{"input", "T", "any shape", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "input", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0},
                                     {"message", "string", "", "said by the error", 0, 0}};
static const char *const samples[] = {"nograd T[2,3]", "nograd float32[] | message=not here", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("PreventGradient", "its input; gradients through it are an error"),
     .flags = TFSDK_OP_VIEW,
     .doc = "y = x; nothing is copied. Guards places where a gradient would be wrong.\n\n"
            "Source: TensorFlow `PreventGradient`.",
     ARRAY_SCHEMA(in, out, attr), .infer = tfsdk_infer_same, .grad = grad, .samples = samples}};
TFSDK_UNIT_OPS(prevent_gradient, ops);
