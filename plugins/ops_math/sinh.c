/* Sinh: y = sinh x. dx = cosh(x) dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, sinh(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), dy = tfsdk_dy(g, 0);
  return tfsdk_set_dx(g, 0, v_mul(c, dy, tfsdk_emit1(c, "Cosh", x)));
}

static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Sinh", "hyperbolic sine"), TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = sinh x. dx = cosh(x) dy.", .reference = compute, .grad = grad, .grad_in = 1,
     .samples = samples},
};
TFSDK_UNIT_OPS(sinh, ops);
