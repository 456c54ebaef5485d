/* Xdivy: z = x / y, but 0 where x = 0, be y 0 or NaN. dx = dz / y and dy = -x / y^2 dz, both 0
 * where x = 0. */
#include <tfsdk/elementwise.h>
#include "calc.h"

TFSDK_BINARY(compute, TFSDK_EW_FLOATS, a == 0 ? (T)0 : a / b)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), y = tfsdk_input(g, 1), dz = tfsdk_dy(g, 0);
  tfsdk_val one = v_cast_like(c, tfsdk_emit2(c, "NotEqual", x, v_num(c, x, 0)), x);
  tfsdk_val dx = tfsdk_none(), dy = tfsdk_none();
  if (tfsdk_wants(g, 0)) dx = v_mul(c, dz, tfsdk_emit2(c, "Xdivy", one, y));
  if (tfsdk_wants(g, 1)) dy = v_mul(c, dz, tfsdk_emit2(c, "Xdivy", v_neg(c, x), v_square(c, y)));
  return v_set_dx2(c, g, dx, dy);
}

static const char *const samples[] = {"T[2,3](0.3,2) ; T[2,3](0.3,2)",
                                      "T[2,1,3](0.3,2) ; T[4,1](0.3,2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Xdivy", "x / y, 0 where x is 0"), TFSDK_EW_BINARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "z = x / y, but 0 where x = 0, be y 0 or NaN. dx = dz / y and dy = -x / y^2 dz, "
            "both 0 where x = 0.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
};
TFSDK_UNIT_OPS(xdivy, ops);
