/* The inverse of the complementary error function, in double: what Erfinv and Ndtri share. */
#ifndef OPS_MATH_INVERSE_ERF_H
#define OPS_MATH_INVERSE_ERF_H

#include <math.h>

/* y with erfc(y) = q, given x = 1 - q as well, 0 <= x < 1, so that neither is lost when it is
 * small. From Winitzki's estimate (error below 0.005; "A handy approximation for the error function
 * and its inverse", 2008) by Halley's steps, which cube the error. */
static inline double inverse_erf(double x, double q) {
  const double a = 0.147, two_over_root_pi = 1.1283791670955126;
  double l = log(q * (1 + x)), t = 2 / (3.14159265358979323846 * a) + l / 2, y;
  if (q == 0) return INFINITY;
  y = sqrt(sqrt(t * t - l / a) - t);
  if (x < 1e-8) return x / two_over_root_pi;
  for (int i = 0; i < 3; i++) {
    double miss = x < 0.5 ? erf(y) - x : q - erfc(y);
    double u = miss / (two_over_root_pi * exp(-y * y));
    y -= u / (1 + y * u);
  }
  return y;
}

#endif
