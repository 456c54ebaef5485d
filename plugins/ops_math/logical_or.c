/* LogicalOr: x or y, element by element with broadcasting. */
#include <tfsdk/elementwise.h>

TFSDK_BINARY(compute, TFSDK_EW_BOOL, a || b)

static const tfsdk_arg in[] = {{"x", "bool", "any shape", 0, 0},
                               {"y", "bool", "a shape that broadcasts with x's", 0, 0}};
static const char *const samples[] = {"bool[2,3] ; bool[2,3]", "bool[2,1,3] ; bool[4,1]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("LogicalOr", "x or y"), .in = in, .n_in = TFSDK_COUNT(in),
     .out = tfsdk_ew_z_bool, .n_out = 1, .infer = tfsdk_ew_infer2,
     .flags = TFSDK_OP_ELEMENTWISE | TFSDK_OP_COMMUTATIVE, .may_alias = tfsdk_ew_alias0,
     .doc = "z = x or y, element by element with broadcasting.", .reference = compute,
     .no_grad_reason = "bool", .samples = samples},
};
TFSDK_UNIT_OPS(logical_or, ops);
