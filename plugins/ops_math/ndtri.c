/* Ndtri: y such that a standard normal number is below y with probability x; NaN outside [0, 1]. y
 * = -sqrt(2) erfc^-1(2 x). dx = sqrt(2 pi) e^(y^2 / 2) dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "inverse_erf.h"

static inline double ndtri(double p) {
  double tail = p < 0.5 ? 2 * p : 2 * (1 - p), y;
  if (!(p >= 0 && p <= 1)) return NAN;
  y = 1.4142135623730951 * inverse_erf(p < 0.5 ? 1 - tail : 2 * (p - 0.5), tail);
  return p < 0.5 ? -y : y;
}
TFSDK_UNARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, ndtri(x))

/* From x in double: in the tails e^(y^2 / 2) magnifies the rounding of y. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val y = tfsdk_emit1(c, "Ndtri", v_double(c, tfsdk_input(g, 0))), dy = tfsdk_dy(g, 0);
  tfsdk_val e = tfsdk_emit1(c, "Exp", v_scale(c, v_square(c, y), 0.5));
  tfsdk_val slope = v_scale(c, e, 2.5066282746310002); /* sqrt(2 pi) */
  return tfsdk_set_dx(g, 0, v_mul(c, dy, v_cast_like(c, slope, dy)));
}

static const char *const samples[] = {"T[2,3](0.05,0.95)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Ndtri", "quantile of the normal distribution"), TFSDK_EW_UNARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y such that a standard normal number is below y with probability x; NaN outside "
            "[0, 1]. y = -sqrt(2) erfc^-1(2 x). dx = sqrt(2 pi) e^(y^2 / 2) dy.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(ndtri, ops);
