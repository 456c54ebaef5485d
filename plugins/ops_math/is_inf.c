/* IsInf: true where x is an infinity. */
#include <tfsdk/elementwise.h>
#include <tgmath.h>

TFSDK_PREDICATE(compute, TFSDK_EW_FLOATS, isinf(x) != 0)

static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("IsInf", "true where x is an infinity"), TFSDK_EW_PREDICATE_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS), .doc = "true where x is an infinity.", .reference = compute,
     .no_grad_reason = "the output is bool", .samples = samples},
};
TFSDK_UNIT_OPS(is_inf, ops);
