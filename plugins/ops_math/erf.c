/* Erf: y = 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x. dx = 2 / sqrt(pi) e^(-x^2) dy.
 */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, erf(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), dy = tfsdk_dy(g, 0);
  tfsdk_val e = tfsdk_emit1(c, "Exp", v_neg(c, v_square(c, x)));
  return tfsdk_set_dx(g, 0, v_mul(c, dy, v_scale(c, e, 1.1283791670955126)) /* 2 / sqrt(pi) */);
}

static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Erf", "error function"), TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x. dx = 2 / sqrt(pi) "
            "e^(-x^2) dy.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(erf, ops);
