/* Lgamma: y = ln |Gamma(x)|; infinite at 0 and the negative integers. dx = digamma(x) dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "gamma.h"

TFSDK_UNARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, gamma_ln(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, v_mul(c, tfsdk_dy(g, 0), tfsdk_emit1(c, "Digamma", tfsdk_input(g, 0))));
}

static const char *const samples[] = {"T[2,3](0.3,4)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Lgamma", "logarithm of the absolute value of the gamma function"),
     TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = ln |Gamma(x)|; infinite at 0 and the negative integers. dx = digamma(x) dy.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(lgamma, ops);
