/* FloorMod: z = x - y floor(x / y): it has the sign of y. dx = dz, dy = -floor(x / y) dz. Integers:
 * division by zero is an error, and the smallest integer divided by -1 wraps around. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "divide.h"
#include <math.h>

/* For floats: fmod, which is exact, moved by one divisor where its sign is not y's. */
static inline double real_mod(double a, double b) {
  double m = fmod(a, b);
  return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}
DIVIDE(compute, real_mod((double)a, (double)b), floor_mod(a, b), a % b)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), y = tfsdk_input(g, 1), dz = tfsdk_dy(g, 0);
  tfsdk_val dx = tfsdk_none(), dy = tfsdk_none();
  if (tfsdk_wants(g, 0)) dx = dz;
  if (tfsdk_wants(g, 1)) dy = v_neg(c, v_mul(c, dz, tfsdk_emit2(c, "FloorDiv", x, y)));
  return v_set_dx2(c, g, dx, dy);
}

static const char *const samples[] = {DIVIDE_SAMPLES, NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("FloorMod", "remainder of the division rounded down"), TFSDK_EW_BINARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_NUMBERS),
     .doc = "z = x - y floor(x / y): it has the sign of y. dx = dz, dy = -floor(x / y) dz. "
            "Integers: division by zero is an error, and the smallest integer divided by -1 "
            "wraps around.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
};
TFSDK_UNIT_OPS(floor_mod, ops);
