/* Erfinv: erf(y) = x; infinite at -1 and 1, NaN outside. dx = sqrt(pi) / 2 e^(y^2) dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "inverse_erf.h"

static inline double erfinv(double x) {
  double size = fabs(x);
  if (!(size <= 1)) return NAN;
  return copysign(inverse_erf(size, 1 - size), x);
}
TFSDK_UNARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, erfinv(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val y = tfsdk_output(g, 0), dy = tfsdk_dy(g, 0);
  tfsdk_val e = tfsdk_emit1(c, "Exp", v_square(c, y));
  return tfsdk_set_dx(g, 0, v_mul(c, dy, v_scale(c, e, 0.88622692545275801)) /* sqrt(pi) / 2 */);
}

static const char *const samples[] = {"T[2,3](-0.9,0.9)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Erfinv", "inverse of the error function"), TFSDK_EW_UNARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "erf(y) = x; infinite at -1 and 1, NaN outside. dx = sqrt(pi) / 2 e^(y^2) dy.",
     .reference = compute, .grad = grad, .grad_out = 1, .samples = samples},
};
TFSDK_UNIT_OPS(erfinv, ops);
