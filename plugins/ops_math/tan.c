/* Tan: y = tan x, x in radians. dx = dy / cos(x)^2. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, tan(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(
      g, 0, v_div(c, tfsdk_dy(g, 0), v_square(c, tfsdk_emit1(c, "Cos", tfsdk_input(g, 0)))));
}

static const char *const samples[] = {"T[2,3](-1.3,1.3)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Tan", "tangent"), TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = tan x, x in radians. dx = dy / cos(x)^2.", .reference = compute, .grad = grad,
     .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(tan, ops);
