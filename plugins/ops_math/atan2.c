/* Atan2: z = arctan(y / x) in (-pi, pi], the quadrant told by the signs of both. The first input is
 * the ordinate y, the second the abscissa x. dy = x dz / (x^2 + y^2), dx = -y dz / (x^2 + y^2). */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_BINARY(compute, TFSDK_EW_FLOATS, atan2(a, b))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val y = tfsdk_input(g, 0), x = tfsdk_input(g, 1);
  tfsdk_val q = v_div(c, tfsdk_dy(g, 0), v_add(c, v_square(c, x), v_square(c, y)));
  tfsdk_val dx = tfsdk_none(), dy = tfsdk_none();
  if (tfsdk_wants(g, 0)) dx = v_mul(c, x, q);
  if (tfsdk_wants(g, 1)) dy = v_neg(c, v_mul(c, y, q));
  return v_set_dx2(c, g, dx, dy);
}

static const char *const samples[] = {"T[2,3](0.3,2) ; T[2,3](0.3,2)",
                                      "T[2,1,3](0.3,2) ; T[4,1](0.3,2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Atan2", "the angle of the point (x, y)"), TFSDK_EW_BINARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "z = arctan(y / x) in (-pi, pi], the quadrant told by the signs of both. The first "
            "input is the ordinate y, the second the abscissa x. dy = x dz / (x^2 + y^2), dx = "
            "-y dz / (x^2 + y^2).",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
};
TFSDK_UNIT_OPS(atan2, ops);
