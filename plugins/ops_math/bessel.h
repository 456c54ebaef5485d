/* Modified Bessel functions I_0 and I_1, in double. Up to |x| = 20 by their power series
 * (DLMF 10.25.2: all terms have one sign), beyond by Hankel's expansion (10.40.1), whose smallest
 * term is e^(-2x), below 1e-17. */
#ifndef OPS_MATH_BESSEL_H
#define OPS_MATH_BESSEL_H

#include <math.h>

/* I_order(x), times e^-|x| if `scaled`; order 0 or 1 */
static inline double bessel_i(int order, double x, int scaled) {
  double size = fabs(x), sum = 1, term = 1;
  if (x != x) return x;
  if (size == INFINITY) return scaled ? 0 : NAN; /* e^x times 0, as TensorFlow has it */
  if (size <= 20) {
    double q = size * size / 4;
    for (int k = 1; k < 200; k++) {
      term *= q / ((double)k * (k + order));
      sum += term;
      if (term <= 1e-17 * sum) break;
    }
    if (order == 1) sum *= size / 2;
    if (scaled) sum *= exp(-size);
  } else {
    double mu = 4.0 * order * order;
    for (int k = 1; k < 60; k++) {
      double odd = 2.0 * k - 1, next = -term * (mu - odd * odd) / (8.0 * k * size);
      if (fabs(next) >= fabs(term)) break; /* it diverges from here on */
      term = next;
      sum += term;
      if (fabs(term) <= 1e-17) break;
    }
    sum /= sqrt(2 * 3.14159265358979323846 * size);
    /* in two factors, as e^x overflows before I(x) does */
    if (!scaled) sum = sum * exp(size / 2) * exp(size / 2);
  }
  return order == 1 && x < 0 ? -sum : sum;
}

#endif
