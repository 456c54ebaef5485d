/* Digamma: y = d/dx ln Gamma(x); -inf at 0, NaN at the negative integers. dx = polygamma(1, x) dy.
 */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "gamma.h"

TFSDK_UNARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, gamma_digamma(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0);
  return tfsdk_set_dx(g, 0,
                      v_mul(c, tfsdk_dy(g, 0), tfsdk_emit2(c, "Polygamma", v_num(c, x, 1), x)));
}

static const char *const samples[] = {"T[2,3](0.3,4)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Digamma", "derivative of ln Gamma"), TFSDK_EW_UNARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = d/dx ln Gamma(x); -inf at 0, NaN at the negative integers. dx = polygamma(1, "
            "x) dy.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(digamma, ops);
