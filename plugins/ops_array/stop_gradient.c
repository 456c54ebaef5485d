/* StopGradient: y = x, but a constant where gradients are taken. */
#include "array.h"

static const tfsdk_arg in[] = {{"input", "T", "any shape", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"output", "T", "input", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[2,3]", "float32[]", "float32[0,2]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("StopGradient", "its input, treated as a constant by gradients"),
     .flags = TFSDK_OP_VIEW,
     .doc = "y = x; nothing is copied. Gradients end here: what lies behind gets none through "
            "this op.\n\nSource: TensorFlow `StopGradient`.",
     ARRAY_SCHEMA(in, out, attr), .infer = tfsdk_infer_same, .no_grad_reason = "stopped on purpose",
     .samples = samples}};
TFSDK_UNIT_OPS(stop_gradient, ops);
