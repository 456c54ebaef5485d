/* BitwiseAnd: z = x & y, bit by bit. */
#include <tfsdk/elementwise.h>

TFSDK_BINARY(compute, TFSDK_EW_INTS, a &b)

static const char *const samples[] = {"T[2,3] ; T[2,3]", "T[2,1,3] ; T[4,1]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("BitwiseAnd", "x & y, bit by bit"), TFSDK_EW_COMMUTATIVE_SCHEMA,
     TFSDK_EW_T(TFSDK_T_INTS), .doc = "z = x & y, bit by bit.", .reference = compute,
     .no_grad_reason = "integers", .samples = samples},
};
TFSDK_UNIT_OPS(bitwise_and, ops);
