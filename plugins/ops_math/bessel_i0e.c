/* BesselI0e: y = e^-|x| I_0(x), which does not overflow. dx = (e^-|x| I_1(x) - sign(x) y) dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "bessel.h"

TFSDK_UNARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, bessel_i(0, x, 1))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), dy = tfsdk_dy(g, 0);
  tfsdk_val down = v_mul(c, tfsdk_emit1(c, "Sign", x), tfsdk_output(g, 0));
  return tfsdk_set_dx(g, 0, v_mul(c, dy, v_sub(c, tfsdk_emit1(c, "BesselI1e", x), down)));
}

static const char *const samples[] = {"T[2,3](0.1,2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("BesselI0e", "modified Bessel function of order 0, scaled"),
     TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = e^-|x| I_0(x), which does not overflow. dx = (e^-|x| I_1(x) - sign(x) y) dy.",
     .reference = compute, .grad = grad, .grad_in = 1, .grad_out = 1, .samples = samples},
};
TFSDK_UNIT_OPS(bessel_i0e, ops);
