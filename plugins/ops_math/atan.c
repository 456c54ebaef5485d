/* Atan: y = arctan x in [-pi/2, pi/2]. dx = dy / (1 + x^2). */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, atan(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), dy = tfsdk_dy(g, 0);
  return tfsdk_set_dx(g, 0, v_div(c, dy, v_plus(c, v_square(c, x), 1)));
}

static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Atan", "inverse tangent"), TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = arctan x in [-pi/2, pi/2]. dx = dy / (1 + x^2).", .reference = compute,
     .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(atan, ops);
