/* Log: y = ln x; -inf at 0, NaN below. dx = dy / x. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, log(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, v_div(c, tfsdk_dy(g, 0), tfsdk_input(g, 0)));
}

static const char *const samples[] = {"T[2,3](0.1,2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Log", "natural logarithm"), TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = ln x; -inf at 0, NaN below. dx = dy / x.", .reference = compute, .grad = grad,
     .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(log, ops);
