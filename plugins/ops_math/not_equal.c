/* NotEqual: true where x and y differ, element by element with broadcasting (equality.h). */
#include "equality.h"

TFSDK_COMPARE(plain, TFSDK_EW_ANY, a != b)
static tfsdk_status *compute(void *state, tfsdk_run *r) { return equality_run(state, r, 0, plain); }

static const tfsdk_attrdef attr[] = {EQUALITY_ATTRS("true")};
static const char *const samples[] = {"T[2,3] ; T[2,3]", "T[2,1,3] ; T[4,1]",
                                      "T[2,3] ; T[4] | incompatible_shape_error=false", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("NotEqual", "true where x and y differ"), .in = tfsdk_ew_xy, .n_in = 2,
     .out = tfsdk_ew_z_bool, .n_out = 1, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = equality_infer, .flags = TFSDK_OP_ELEMENTWISE | TFSDK_OP_COMMUTATIVE,
     .doc = "z is true where x and y differ, false elsewhere. NaN differs from everything, itself "
            "included. Strings "
            "are compared byte by byte.",
     .reference = compute, .no_grad_reason = "the output is bool", .samples = samples},
};
TFSDK_UNIT_OPS(not_equal, ops);
