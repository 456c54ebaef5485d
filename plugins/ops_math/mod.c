/* Mod: z = x - y trunc(x / y), as % in C: it has the sign of x. The old name of TruncateMod. dx =
 * dz, dy = -trunc(x / y) dz. Integers: division by zero is an error, and the smallest integer
 * divided by -1 wraps around. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "divide.h"
#include <tgmath.h>

DIVIDE(compute, fmod(a, b), trunc_mod(a, b), a % b)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), y = tfsdk_input(g, 1), dz = tfsdk_dy(g, 0);
  tfsdk_val dx = tfsdk_none(), dy = tfsdk_none();
  if (tfsdk_wants(g, 0)) dx = dz;
  if (tfsdk_wants(g, 1)) dy = v_neg(c, v_mul(c, dz, tfsdk_emit2(c, "TruncateDiv", x, y)));
  return v_set_dx2(c, g, dx, dy);
}

static const char *const samples[] = {DIVIDE_SAMPLES, NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Mod", "remainder of the division towards zero"), TFSDK_EW_BINARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_NUMBERS),
     .doc = "z = x - y trunc(x / y), as % in C: it has the sign of x. The old name of "
            "TruncateMod. dx = dz, dy = -trunc(x / y) dz. Integers: division by zero is an "
            "error, and the smallest integer divided by -1 wraps around.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
};
TFSDK_UNIT_OPS(mod, ops);
