/* Betainc: the regularised incomplete beta function, z = I_x(a, b), the integral of t^(a-1)
 * (1-t)^(b-1) from 0 to x over B(a, b). dx = x^(a-1) (1-x)^(b-1) / B(a, b) dz; there is no gradient
 * for a and b. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "gamma.h"

/* The continued fraction (DLMF 8.17.22) in Lentz's form, on the side of the mean where it converges
 * fast. */
static double betainc(double a, double b, double x) {
  double front, c = 1, d, f;
  if (!(a > 0) || !(b > 0) || !(x >= 0 && x <= 1)) return NAN;
  if (x == 0 || x == 1) return x;
  if (x > (a + 1) / (a + b + 2)) return 1 - betainc(b, a, 1 - x);
  front = exp(gamma_ln(a + b) - gamma_ln(a) - gamma_ln(b) + a * log(x) + b * log1p(-x)) / a;
  d = 1 / (1 - (a + b) * x / (a + 1));
  f = d;
  for (int k = 1; k < 10000; k++) {
    double n = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k)), delta;
    d = 1 / (1 + n * d);
    c = 1 + n / c;
    f *= c * d;
    n = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
    d = 1 / (1 + n * d);
    c = 1 + n / c;
    delta = c * d;
    f *= delta;
    if (fabs(delta - 1) <= 1e-16) break;
  }
  return front * f;
}
TFSDK_TERNARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, betainc(a, b, c))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val a = tfsdk_input(g, 0), b = tfsdk_input(g, 1), x = tfsdk_input(g, 2), ln, beta;
  ln = v_add(c, tfsdk_emit2(c, "Xlog1py", v_plus(c, b, -1), v_neg(c, x)),
             tfsdk_emit2(c, "Xlogy", v_plus(c, a, -1), x));
  beta = v_sub(c, v_add(c, tfsdk_emit1(c, "Lgamma", a), tfsdk_emit1(c, "Lgamma", b)),
               tfsdk_emit1(c, "Lgamma", v_add(c, a, b)));
  ln = v_mul(c, tfsdk_dy(g, 0), tfsdk_emit1(c, "Exp", v_sub(c, ln, beta)));
  return tfsdk_set_dx(g, 2, tfsdk_sum_like(c, ln, x));
}

static const tfsdk_arg in[] = {
    {"a", "T", "above 0; it has no gradient", TFSDK_ARG_NONDIFF, 0},
    {"b", "T", "above 0; it has no gradient", TFSDK_ARG_NONDIFF, 0},
    {"x", "T", "in 0..1", 0, 0},
};
static const tfsdk_arg out[] = {{"z", "T", "the three shapes broadcast together", 0, 0}};
static const char *const samples[] = {"T[2,3](0.5,3) ; T[2,3](0.5,3) ; T[2,3](0.1,0.9)",
                                      "float32(2) ; float32(0.5) ; float32[3](0.1,0.9)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Betainc", "incomplete beta function"), .in = in, .n_in = TFSDK_COUNT(in),
     .out = out, .n_out = TFSDK_COUNT(out), TFSDK_EW_T(TFSDK_T_FLOATS), .infer = tfsdk_ew_infer3,
     .flags = TFSDK_OP_ELEMENTWISE,
     .doc = "z = I_x(a, b), the distribution function of the beta distribution. NaN unless a > 0, "
            "b > 0 and "
            "0 <= x <= 1.",
     .reference = compute, .grad = grad, .grad_in = 7, .samples = samples},
};
TFSDK_UNIT_OPS(betainc, ops);
