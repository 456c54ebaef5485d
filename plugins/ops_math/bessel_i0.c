/* BesselI0: y = I_0(x). dx = I_1(x) dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "bessel.h"

TFSDK_UNARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, bessel_i(0, x, 0))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0,
                      v_mul(c, tfsdk_dy(g, 0), tfsdk_emit1(c, "BesselI1", tfsdk_input(g, 0))));
}

static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("BesselI0", "modified Bessel function of order 0"), TFSDK_EW_UNARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS), .doc = "y = I_0(x). dx = I_1(x) dy.", .reference = compute,
     .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(bessel_i0, ops);
