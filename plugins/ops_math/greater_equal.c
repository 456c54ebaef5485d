/* GreaterEqual: z = (x >= y), false where one of them is NaN. */
#include <tfsdk/elementwise.h>

TFSDK_COMPARE(compute, TFSDK_EW_NUMBERS, a >= b)

static const char *const samples[] = {"T[2,3] ; T[2,3]", "T[2,1,3] ; T[4,1]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("GreaterEqual", "x >= y"), TFSDK_EW_COMPARE_SCHEMA, TFSDK_EW_T(TFSDK_T_NUMBERS),
     .doc = "z = (x >= y), false where one of them is NaN.", .reference = compute,
     .no_grad_reason = "the output is bool", .samples = samples},
};
TFSDK_UNIT_OPS(greater_equal, ops);
