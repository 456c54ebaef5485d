/* Dawsn: y = e^(-x^2) times the integral of e^(t^2) from 0 to x. dx = (1 - 2 x y) dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <math.h>

/* Near 0 the series x - 2/3 x^3 + ...; else Rybicki's sum over odd n of e^-((x - n h)^2) / n
 * ("Dawson's integral and the sampling theorem", Computers in Physics 3, 1989), whose error e^-(pi
 * / 2h)^2 is below 1e-17 for h = 1/4. */
static inline double dawson(double x) {
  const double h = 0.25;
  double middle, rest, sum = 0;
  if (x != x) return x;
  if (fabs(x) > 1e8) return 0.5 / x;
  if (fabs(x) < 0.5) {
    double term = x;
    for (int k = 1; k < 30; k++) {
      sum += term;
      term *= -2 * x * x / (2 * k + 1);
    }
    return sum;
  }
  middle = 2 * floor(x / (2 * h) + 0.5); /* the even n nearest to x / h */
  rest = x - middle * h;
  for (int n = -27; n <= 27; n += 2) {
    double d = rest - n * h;
    sum += exp(-d * d) / (n + middle);
  }
  return sum / 1.7724538509055160273; /* sqrt(pi) */
}
TFSDK_UNARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, dawson(x))

/* 1 - 2 x y tends to -1 / (2 x^2): in double, as little is left of it otherwise. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = v_double(c, tfsdk_input(g, 0)), dy = tfsdk_dy(g, 0);
  tfsdk_val xy = v_mul(c, x, tfsdk_emit1(c, "Dawsn", x));
  tfsdk_val slope = v_from(c, 1, v_scale(c, xy, 2));
  return tfsdk_set_dx(g, 0, v_mul(c, dy, v_cast_like(c, slope, dy)));
}

static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Dawsn", "Dawson's integral"), TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = e^(-x^2) times the integral of e^(t^2) from 0 to x. dx = (1 - 2 x y) dy.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(dawsn, ops);
