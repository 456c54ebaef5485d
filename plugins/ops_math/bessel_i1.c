/* BesselI1: y = I_1(x). dx = (I_0(x) - y / x) dy, and dy / 2 at 0. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "bessel.h"

TFSDK_UNARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, bessel_i(1, x, 0))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), y = tfsdk_output(g, 0), dy = tfsdk_dy(g, 0);
  tfsdk_val zero = tfsdk_emit2(c, "Equal", x, v_num(c, x, 0));
  tfsdk_val safe = tfsdk_emit3(c, "SelectV2", zero, v_num(c, x, 1), x);
  tfsdk_val slope = v_sub(c, tfsdk_emit1(c, "BesselI0", x), v_div(c, y, safe));
  return tfsdk_set_dx(g, 0,
                      v_mul(c, dy, tfsdk_emit3(c, "SelectV2", zero, v_num(c, x, 0.5), slope)));
}

static const char *const samples[] = {"T[2,3](0.1,2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("BesselI1", "modified Bessel function of order 1"), TFSDK_EW_UNARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS), .doc = "y = I_1(x). dx = (I_0(x) - y / x) dy, and dy / 2 at 0.",
     .reference = compute, .grad = grad, .grad_in = 1, .grad_out = 1, .samples = samples},
};
TFSDK_UNIT_OPS(bessel_i1, ops);
