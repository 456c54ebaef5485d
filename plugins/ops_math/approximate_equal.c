/* ApproximateEqual: true where |x - y| < tolerance, for two tensors of one shape. */
#include <tfsdk/elementwise.h>

TFSDK_COMPARE_WITH(compute_plain, TFSDK_EW_NUMBERS,
                   const double tolerance = tfsdk_attr_float(&r->attr, "tolerance"),
                   (double)(a > b ? a - b : b - a) < tolerance)

static const tfsdk_attrdef attr[] = {
    {"T", TFSDK_T_NUMBERS, NULL, "element type", 0, 0},
    {"tolerance", "float", "1e-05", "largest difference, exclusive", 0, 0},
};
static const char *const samples[] = {"T[2,3] ; T[2,3]", "T[2,3] ; T[2,3] | tolerance=1.0", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ApproximateEqual", "true where |x - y| < tolerance"), .in = tfsdk_ew_xy,
     .n_in = 2, .out = tfsdk_ew_z_bool, .n_out = 1, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = tfsdk_ew_infer_equal2, .flags = TFSDK_OP_ELEMENTWISE | TFSDK_OP_COMMUTATIVE,
     .doc = "z is true where |x - y| < tolerance, in the precision of T. It does not broadcast.",
     .reference = compute_plain, .no_grad_reason = "the output is bool", .samples = samples},
};
TFSDK_UNIT_OPS(approximate_equal, ops);
