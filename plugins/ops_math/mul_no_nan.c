/* MulNoNan: z = x * y, but 0 where y = 0, be x infinite or NaN. dx = MulNoNan(dz, y), dy =
 * MulNoNan(x, dz). */
#include <tfsdk/elementwise.h>
#include "calc.h"

TFSDK_BINARY(compute, TFSDK_EW_FLOATS, b == 0 ? (T)0 : a * b)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), y = tfsdk_input(g, 1), dz = tfsdk_dy(g, 0);
  tfsdk_val dx = tfsdk_none(), dy = tfsdk_none();
  if (tfsdk_wants(g, 0)) dx = tfsdk_emit2(c, "MulNoNan", dz, y);
  if (tfsdk_wants(g, 1)) dy = tfsdk_emit2(c, "MulNoNan", x, dz);
  return v_set_dx2(c, g, dx, dy);
}

static const char *const samples[] = {"T[2,3](-2,2) ; T[2,3](0.3,2)",
                                      "T[2,1,3](-2,2) ; T[4,1](0.3,2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("MulNoNan", "product, 0 where y is 0"), TFSDK_EW_BINARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "z = x * y, but 0 where y = 0, be x infinite or NaN. dx = MulNoNan(dz, y), dy = "
            "MulNoNan(x, dz).",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
};
TFSDK_UNIT_OPS(mul_no_nan, ops);
