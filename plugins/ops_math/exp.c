/* Exp: y = e^x. dx = y dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, exp(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, v_mul(c, tfsdk_dy(g, 0), tfsdk_output(g, 0)));
}

static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Exp", "e to the power of x"), TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = e^x. dx = y dy.", .reference = compute, .grad = grad, .grad_out = 1,
     .samples = samples},
};
TFSDK_UNIT_OPS(exp, ops);
