/* IsNan: true where x is not a number. */
#include <tfsdk/elementwise.h>

TFSDK_PREDICATE(compute, TFSDK_EW_FLOATS, x != x)

static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("IsNan", "true where x is not a number"), TFSDK_EW_PREDICATE_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS), .doc = "true where x is not a number.", .reference = compute,
     .no_grad_reason = "the output is bool", .samples = samples},
};
TFSDK_UNIT_OPS(is_nan, ops);
