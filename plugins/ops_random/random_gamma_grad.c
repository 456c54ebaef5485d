/* RandomGammaGrad: how a gamma number moves with alpha while its quantile stays.
 *
 *     output = dx/da = -(dP(a, x)/da) / p(a, x),  P the regularised incomplete gamma function,
 *                                                 p its derivative by x  (TensorFlow's
 * RandomGammaGrad)
 *
 * Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients", NeurIPS 2018. The derivative by
 * a of the series (x below a + 1) or of the continued fraction (else) of the incomplete gamma
 * function (Abramowitz and Stegun 6.5.29, 6.5.31) is taken term by term. The powers and
 * exponentials in front of both cancel against p.
 */
#include "draw.h"

/* The digamma function of a > 0: recurrence, then the asymptotic series (Abramowitz and
 * Stegun 6.3.18). */
static double digamma(double a) {
  double sum = 0, r;
  for (; a < 10; a++) sum -= 1 / a;
  r = 1 / (a * a);
  return sum + log(a) - 0.5 / a -
         r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r / 132))));
}

/* P = x^a e^-x / Gamma(a + 1) S with S = sum of t(n), t(n) = x^n / ((a + 1) ... (a + n)), whose
 * derivative by a is -t(n) (1 / (a + 1) + ... + 1 / (a + n)). */
static double by_series(double a, double x) {
  double term = 1, harmonic = 0, sum = 1, slope = 0;
  for (int n = 1; n < 100000; n++) {
    term *= x / (a + n);
    harmonic += 1 / (a + n);
    sum += term;
    slope -= term * harmonic;
    if (term * (1 + harmonic) < 1e-17 * sum) break;
  }
  return -x / a * (sum * (log(x) - digamma(a + 1)) + slope);
}

/* 1 - P = x^a e^-x / Gamma(a) / f(0) with f(n) = x + 2n + 1 - a - (n + 1) (n + 1 - a) / f(n + 1),
 * from the end inward; `slope` is f's derivative by a. */
static double by_fraction(double a, double x) {
  int n = 300 + (int)(20 * sqrt(a));
  double f = x + 2 * n + 1 - a, slope = -1;
  while (n-- > 0) {
    double above = (n + 1) * (n + 1 - a);
    slope = -1 + ((n + 1) * f + above * slope) / (f * f);
    f = x + 2 * n + 1 - a - above / f;
  }
  return x * ((log(x) - digamma(a)) / f - slope / (f * f));
}

/* Large a: Wilson and Hilferty's x = a c^3, c = 1 - 1/(9a) + z / (3 sqrt(a)), z the quantile's
 * normal number; its error is far below binary32's from here on. */
static double by_cube(double a, double x) {
  double c = cbrt(x / a), shift = c - 1 + 1 / (9 * a);
  return c * c * c + 3 * c * c * (1 / (9 * a) - shift / 2);
}

static double slope_of(double a, double x) {
  if (!(a > 0) || isinf(a) || !(x >= 0) || isinf(x)) return NAN;
  if (x == 0) return 0;
  if (a > 1e6) return by_cube(a, x);
  return x < a + 1 ? by_series(a, x) : by_fraction(a, x);
}

/* Where element i of the output is in a view that is stretched to the output's shape. */
static int64_t place(const tfsdk_view *v, const tfsdk_view *out, int64_t i) {
  int64_t at = 0, step = 1;
  for (int k = 1; k <= (int)out->rank; k++) {
    int64_t d = out->dim[out->rank - k], index = i % d;
    i /= d;
    if (k > (int)v->rank) break;
    if (v->dim[v->rank - k] != 1) at += index * step;
    step *= v->dim[v->rank - k];
  }
  return at;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *out = &r->out[0];
  (void)state;
  for (int64_t i = 0; i < out->n_elem; i++)
    draw_store(out, i,
               slope_of(tfsdk_view_number(&r->in[0], place(&r->in[0], out, i)),
                        tfsdk_view_number(&r->in[1], place(&r->in[1], out, i))));
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  return tfsdk_infer_broadcast(c, 0, 1, &c->out[0].shape);
}

static const tfsdk_arg in[] = {
    {"alpha", "T", "the shape parameters, positive", 0, 0},
    {"sample", "T", "numbers that were drawn with them", 0, 0},
};
static const tfsdk_arg out[] = {{"output", "T", "d sample / d alpha", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", DRAW_FLOATS, NULL, "the element type", 0, 0}};
static const char *const samples[] = {
    "T[2,3](0.5,3) ; T[2,3](0.1,4)",
    "float32[3](0.5,3) ; float32[2,3](0.1,4)",
    "float32[0](0.5,3) ; float32[2,0](0.1,4)",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("RandomGammaGrad", "the derivative of gamma numbers by alpha"),
    .doc =
        "How `sample` changes with `alpha` while its quantile stays the same: minus the derivative "
        "by alpha of the distribution function, divided by the density. NaN outside of alpha > 0, "
        "sample >= 0.",
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = infer,
    .reference = compute,
    .no_grad_reason = "needs second derivatives of the incomplete gamma function",
    .samples = samples,
}};
TFSDK_UNIT_OPS(random_gamma_grad, ops);
