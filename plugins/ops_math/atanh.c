/* Atanh: y = artanh x; NaN outside [-1, 1]. dx = dy / (1 - x^2). */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, atanh(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), dy = tfsdk_dy(g, 0);
  return tfsdk_set_dx(g, 0, v_div(c, dy, v_from(c, 1, v_square(c, x))));
}

static const char *const samples[] = {"T[2,3](-0.9,0.9)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Atanh", "inverse hyperbolic tangent"), TFSDK_EW_UNARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS), .doc = "y = artanh x; NaN outside [-1, 1]. dx = dy / (1 - x^2).",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(atanh, ops);
