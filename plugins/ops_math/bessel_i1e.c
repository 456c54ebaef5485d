/* BesselI1e: y = e^-|x| I_1(x), which does not overflow. dx = (e^-|x| I_0(x) - (sign(x) + 1 / x) y)
 * dy, and dy / 2 at 0. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "bessel.h"

TFSDK_UNARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, bessel_i(1, x, 1))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), y = tfsdk_output(g, 0), dy = tfsdk_dy(g, 0);
  tfsdk_val zero = tfsdk_emit2(c, "Equal", x, v_num(c, x, 0));
  tfsdk_val safe = tfsdk_emit3(c, "SelectV2", zero, v_num(c, x, 1), x);
  tfsdk_val rate = v_add(c, tfsdk_emit1(c, "Sign", x), tfsdk_emit1(c, "Reciprocal", safe));
  tfsdk_val slope = v_sub(c, tfsdk_emit1(c, "BesselI0e", x), v_mul(c, y, rate));
  return tfsdk_set_dx(g, 0,
                      v_mul(c, dy, tfsdk_emit3(c, "SelectV2", zero, v_num(c, x, 0.5), slope)));
}

static const char *const samples[] = {"T[2,3](0.1,2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("BesselI1e", "modified Bessel function of order 1, scaled"),
     TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = e^-|x| I_1(x), which does not overflow. dx = (e^-|x| I_0(x) - (sign(x) + 1 / "
            "x) y) dy, and dy / 2 at 0.",
     .reference = compute, .grad = grad, .grad_in = 1, .grad_out = 1, .samples = samples},
};
TFSDK_UNIT_OPS(bessel_i1e, ops);
