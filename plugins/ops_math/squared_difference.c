/* SquaredDifference: z = (x - y)^2. Integers wrap around. dx = 2 (x - y) dz, dy = -dx. The
 * gradients are summed over the axes along which an input was stretched. */
#include <tfsdk/elementwise.h>
#include "calc.h"

TFSDK_BINARY(compute, TFSDK_EW_NUMBERS_WRAP, (a - b) * (a - b))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), y = tfsdk_input(g, 1), dz = tfsdk_dy(g, 0);
  tfsdk_val d = v_mul(c, v_scale(c, dz, 2), v_sub(c, x, y));
  return v_set_dx2(c, g, d, tfsdk_wants(g, 1) ? v_neg(c, d) : tfsdk_none());
}

static const char *const samples[] = {"T[2,3] ; T[2,3]", "T[2,1,3] ; T[4,1]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SquaredDifference", "(x - y)^2"), TFSDK_EW_COMMUTATIVE_SCHEMA,
     TFSDK_EW_T(TFSDK_T_NUMBERS),
     .doc = "z = (x - y)^2. Integers wrap around. dx = 2 (x - y) dz, dy = -dx. The gradients "
            "are summed over the axes along which an input was stretched.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
};
TFSDK_UNIT_OPS(squared_difference, ops);
