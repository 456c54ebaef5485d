/* Expint: y = Ei(x), the principal value of the integral of e^t / t from -inf to x; -inf at 0. dx =
 * e^x / x dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <math.h>

#define EULER 0.57721566490153286061

/* The series gamma + ln |x| + sum x^k / (k k!) (DLMF 6.6.1) where it does not cancel; for large x
 * the asymptotic one (6.12.1), for x < -1 the continued fraction of E_1 (6.9.1) in Lentz's form. */
static inline double expint(double x) {
  double term = 1, sum = 0;
  if (x != x) return x;
  if (x == 0) return -INFINITY;
  if (x > 40) {
    if (x == INFINITY) return x;
    for (int k = 1; k <= 40 && term > 1e-17; k++) {
      sum += term;
      term *= k / x;
    }
    return exp(x - log(x)) * sum;
  }
  if (x < -1) {
    double b = 1 - x, c = 1e300, d = 1 / b, f = d;
    for (int k = 1; k < 1000; k++) {
      double n = -(double)k * k, delta;
      b += 2;
      d = 1 / (n * d + b);
      c = b + n / c;
      delta = c * d;
      f *= delta;
      if (fabs(delta - 1) <= 1e-16) break;
    }
    return x == -INFINITY ? 0 : -f * exp(x);
  }
  for (int k = 1; k < 200; k++) {
    term *= x / k;
    sum += term / k;
    if (fabs(term) <= 1e-17 * fabs(sum)) break;
  }
  return EULER + log(fabs(x)) + sum;
}
TFSDK_UNARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, expint(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), dy = tfsdk_dy(g, 0);
  return tfsdk_set_dx(g, 0, v_mul(c, dy, v_div(c, tfsdk_emit1(c, "Exp", x), x)));
}

static const char *const samples[] = {"T[2,3](0.3,3)", "T[2,3](-3,-0.3)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Expint", "exponential integral"), TFSDK_EW_UNARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = Ei(x), the principal value of the integral of e^t / t from -inf to x; -inf at "
            "0. dx = e^x / x dy.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(expint, ops);
