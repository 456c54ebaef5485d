/* Div: z = x / y. Integers are truncated towards zero, as in C; floating numbers follow IEEE 754.
 * dx = dz / y, dy = -x / y^2 dz. Integers: division by zero is an error, and the smallest integer
 * divided by -1 wraps around. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "divide.h"

DIVIDE(compute, a / b, trunc_div(a, b), a / b)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), y = tfsdk_input(g, 1), dz = tfsdk_dy(g, 0);
  tfsdk_val dx = tfsdk_none(), dy = tfsdk_none();
  if (tfsdk_wants(g, 0)) dx = v_div(c, dz, y);
  if (tfsdk_wants(g, 1)) dy = v_mul(c, dz, v_div(c, v_div(c, v_neg(c, x), y), y));
  return v_set_dx2(c, g, dx, dy);
}

static const char *const samples[] = {DIVIDE_SAMPLES, NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Div", "quotient"), TFSDK_EW_BINARY_SCHEMA, TFSDK_EW_T(TFSDK_T_NUMBERS),
     .doc = "z = x / y. Integers are truncated towards zero, as in C; floating numbers follow "
            "IEEE 754. dx = dz / y, dy = -x / y^2 dz. Integers: division by zero is an error, "
            "and the smallest integer divided by -1 wraps around.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
};
TFSDK_UNIT_OPS(div, ops);
