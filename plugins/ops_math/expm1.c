/* Expm1: y = e^x - 1 without cancellation near 0. dx = e^x dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, expm1(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, v_mul(c, tfsdk_dy(g, 0), tfsdk_emit1(c, "Exp", tfsdk_input(g, 0))));
}

static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Expm1", "e^x - 1, exact near 0"), TFSDK_EW_UNARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS), .doc = "y = e^x - 1 without cancellation near 0. dx = e^x dy.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(expm1, ops);
