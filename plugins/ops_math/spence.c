/* Spence: y = Li_2(1 - x), minus the integral of ln t / (t - 1) from 1 to x; NaN for x < 0 and, as
 * in TensorFlow, for x infinite. dx = ln(x) / (1 - x) dy, and -dy at 1. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <math.h>

#define PI2_6 1.64493406684822643647 /* pi^2 / 6 */

/* The series of z^k / k^2 for |z| <= 1/2, z = 1 - x; elsewhere by DLMF 25.12.6 and 25.12.4. */
static inline double spence(double x) {
  double z = 1 - x, power = 1, sum = 0;
  if (x != x || x < 0) return NAN;
  if (x == 0) return PI2_6;
  if (x > 1.5) {
    double l = log(x);
    return x == INFINITY ? NAN : -l * l / 2 - spence(1 / x);
  }
  if (x < 0.5) return PI2_6 - log(x) * log1p(-x) - spence(1 - x);
  for (int k = 1; k < 60; k++) {
    power *= z;
    sum += power / ((double)k * k);
  }
  return sum;
}
TFSDK_UNARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, spence(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), dy = tfsdk_dy(g, 0);
  tfsdk_val one = tfsdk_emit2(c, "Equal", x, v_num(c, x, 1));
  tfsdk_val safe = tfsdk_emit3(c, "SelectV2", one, v_num(c, x, 2), x);
  tfsdk_val slope = v_div(c, tfsdk_emit1(c, "Log", x), v_from(c, 1, safe));
  return tfsdk_set_dx(g, 0, v_mul(c, dy, tfsdk_emit3(c, "SelectV2", one, v_num(c, x, -1), slope)));
}

static const char *const samples[] = {"T[2,3](0.2,0.9)", "T[2,3](1.1,4)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Spence", "dilogarithm of 1 - x"), TFSDK_EW_UNARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = Li_2(1 - x), minus the integral of ln t / (t - 1) from 1 to x; NaN for x < 0 and, "
            "as in TensorFlow, for x infinite. "
            "dx = ln(x) / (1 - x) dy, and -dy at 1.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(spence, ops);
