/* LogicalNot: not x, element by element. */
#include <tfsdk/elementwise.h>

TFSDK_UNARY(compute, TFSDK_EW_BOOL, !x)

static const tfsdk_arg in[] = {{"x", "bool", "any shape", 0, 0}};
static const char *const samples[] = {"bool[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("LogicalNot", "not x"), .in = in, .n_in = 1, .out = tfsdk_ew_y_bool, .n_out = 1,
     .infer = tfsdk_infer_same, .flags = TFSDK_OP_ELEMENTWISE, .may_alias = tfsdk_ew_alias0,
     .doc = "y is true where x is false.", .reference = compute, .no_grad_reason = "bool",
     .samples = samples},
};
TFSDK_UNIT_OPS(logical_not, ops);
