/* Invert: y = ~x, bit by bit: -1 - x for signed integers. */
#include <tfsdk/elementwise.h>

TFSDK_UNARY(compute, TFSDK_EW_INTS, ~x)

static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Invert", "every bit flipped"), TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_INTS),
     .doc = "y = ~x, bit by bit: -1 - x for signed integers.", .reference = compute,
     .no_grad_reason = "integers", .samples = samples},
};
TFSDK_UNIT_OPS(invert, ops);
