/* Functions of the gamma family, in double: Hurwitz's zeta, digamma, polygamma, the incomplete
 * gamma functions and their derivative. Formulas: NIST Digital Library of Mathematical Functions
 * (DLMF), chapters 5, 8 and 25. */
#ifndef OPS_MATH_GAMMA_H
#define OPS_MATH_GAMMA_H

#include <math.h>

#define GAMMA_PI 3.14159265358979323846

/* ln |Gamma(x)| without the global that lgamma writes. */
static inline double gamma_ln(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

/* zeta(s, q) = sum over k >= 0 of (q + k)^-s, s > 1, by Euler and Maclaurin (DLMF 25.11.5): terms
 * one by one until q + k is at least 10, then the integral and 12 corrections B_2j / (2j)!, the
 * last below 1e-19. */
static inline double gamma_zeta(double s, double q) {
  static const double b[12] = {1.0 / 12,
                               -1.0 / 720,
                               1.0 / 30240,
                               -1.0 / 1209600,
                               1.0 / 47900160,
                               -691.0 / 1307674368000.0,
                               1.0 / 74724249600.0,
                               -3.3896802963225828e-13,
                               8.586062056277845e-15,
                               -2.174868698558062e-16,
                               5.5090028283602295e-18,
                               -1.3954464685812525e-19};
  double sum = 0, at, rising, power;
  if (s != s || q != q || s < 1) return NAN;
  if (s == 1) return INFINITY;
  if (q <= 0) {
    if (q == floor(q)) return INFINITY; /* a pole */
    if (s != floor(s)) return NAN;      /* powers of negative numbers */
  }
  if (q == INFINITY) return 0;
  at = q;
  if (at < -1e6) return NAN; /* out of reach of summing */
  for (; at < 10; at += 1) sum += pow(at, -s);
  power = pow(at, -s);
  sum += at * power / (s - 1) + power / 2;
  rising = s;
  power /= at;
  for (int j = 0; j < 12; j++) {
    double term = b[j] * rising * power;
    sum += term;
    if (fabs(term) <= 1e-17 * fabs(sum)) break;
    rising *= (s + 2 * j + 1) * (s + 2 * j + 2);
    power /= at * at;
  }
  return sum;
}

/* psi(x) = d/dx ln Gamma(x). Reflection (DLMF 5.5.4) below 0, the recurrence up to 10, then the
 * asymptotic series (5.11.2). At 0 it is -inf (inf at -0), at the other poles NaN. */
static inline double gamma_digamma(double x) {
  double sum = 0, y;
  if (x == 0) return signbit(x) ? INFINITY : -INFINITY;
  if (x < 0) {
    double fraction = x - floor(x);
    if (fraction == 0) return NAN;
    return gamma_digamma(1 - x) - GAMMA_PI / tan(GAMMA_PI * fraction);
  }
  for (; x < 10; x += 1) sum -= 1 / x;
  y = 1 / (x * x);
  y *= 1.0 / 12 -
       y * (1.0 / 120 -
            y * (1.0 / 252 -
                 y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 -
                                                        y * (1.0 / 12 - y * (3617.0 / 8160)))))));
  return sum + log(x) - 0.5 / x - y;
}

/* The n-th derivative of psi, n a whole number: (-1)^(n+1) n! zeta(n + 1, x) (DLMF 25.11.12). */
static inline double gamma_polygamma(double n, double x) {
  double size;
  if (!(n >= 0) || n != floor(n)) return NAN;
  if (n == 0) return gamma_digamma(x);
  size = exp(gamma_ln(n + 1)) * gamma_zeta(n + 1, x);
  return fmod(n, 2) == 0 ? -size : size;
}

/* A number and its derivative with respect to a. */
typedef struct gamma_dual {
  double v, d;
} gamma_dual;

/* P(a, x), or Q(a, x) = 1 - P(a, x) for `upper`, with the derivative with respect to a. Below a + 1
 * by the series (DLMF 8.11.4), else by the continued fraction (8.9.2) in Lentz's form, each
 * differentiated term by term. NaN unless a > 0 and x >= 0. */
static inline gamma_dual gamma_incomplete(double a, double x, int upper) {
  gamma_dual r = {NAN, NAN};
  double scale, slope; /* x^a e^-x / Gamma, and the derivative of its logarithm */
  int is_upper;
  if (!(a > 0) || !(x >= 0)) return r;
  if (x == 0 || x == INFINITY) {
    r.v = (x == 0) == (upper != 0) ? 1 : 0;
    r.d = 0;
    return r;
  }
  if (x < a + 1) {
    double term = 1, dterm = 0, sum = 1, dsum = 0;
    scale = exp(a * log(x) - x - gamma_ln(a + 1));
    slope = log(x) - gamma_digamma(a + 1);
    for (int k = 1; k < 100000; k++) {
      double f = x / (a + k);
      dterm = dterm * f - term * f / (a + k);
      term *= f;
      sum += term;
      dsum += dterm;
      if (term <= 1e-17 * sum && fabs(dterm) <= 1e-17 * fabs(dsum)) break;
    }
    r.v = scale * sum;
    r.d = scale * (dsum + slope * sum);
    is_upper = 0;
  } else {
    double b = x + 1 - a, c = 1e300, dc = 0, d = 1 / b, dd = d * d, h = d, dh = dd;
    scale = exp(a * log(x) - x - gamma_ln(a));
    slope = log(x) - gamma_digamma(a);
    for (int k = 1; k < 100000; k++) { /* primes: db = -1, dn = k */
      double n = -k * (k - a), p, dp, delta, ddelta;
      b += 2;
      p = n * d + b;
      dp = k * d + n * dd - 1;
      d = 1 / p;
      dd = -dp * d * d;
      dc = -1 + k / c - n * dc / (c * c);
      c = b + n / c;
      delta = c * d;
      ddelta = dc * d + c * dd;
      dh = dh * delta + h * ddelta;
      h *= delta;
      if (fabs(delta - 1) <= 1e-16 && fabs(h * ddelta) <= 1e-16 * fabs(dh)) break;
    }
    r.v = scale * h;
    r.d = scale * (dh + slope * h);
    is_upper = 1;
  }
  if (is_upper != (upper != 0)) {
    r.v = 1 - r.v;
    r.d = -r.d;
  }
  return r;
}

#endif
