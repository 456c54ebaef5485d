/* TruncateDiv: z = x / y without its fraction. Integers: division by zero is an error, and the
 * smallest integer divided by -1 wraps around. */
#include <tfsdk/elementwise.h>
#include "divide.h"
#include <tgmath.h>

DIVIDE(compute, trunc(a / b), trunc_div(a, b), a / b)

static const char *const samples[] = {DIVIDE_SAMPLES, NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("TruncateDiv", "quotient truncated towards zero"), TFSDK_EW_BINARY_STEP_SCHEMA,
     TFSDK_EW_T(TFSDK_T_NUMBERS),
     .doc = "z = x / y without its fraction. Integers: division by zero is an error, and the "
            "smallest integer divided by -1 wraps around.",
     .reference = compute,
     .no_grad_reason = "a step function: its derivative is zero almost everywhere",
     .samples = samples},
};
TFSDK_UNIT_OPS(truncate_div, ops);
