/* vmath.h - exp, log and their kin in float32, without branches, tables or calls, so that the
 * compiler turns a loop over them into vector code. Errors are below 2.5 units in the last place over
 * all floats unless a function says more; NaN, infinities, zeros and subnormal numbers come out as
 * they should.
 *
 * Method: Cody and Waite, "Software Manual for the Elementary Functions" (1980): reduction by
 * constants in two parts, then a polynomial. The coefficients are minimax fits (Remez) of our own.
 * Nothing relies on fused multiply-add: every instruction set gives the same bits.
 */
#ifndef TFSDK_CPU_VMATH_H
#define TFSDK_CPU_VMATH_H

#include "cpu.h"

#include <math.h>
#include <string.h>

CPU_INLINE uint32_t cpu_bits(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return u;
}
CPU_INLINE float cpu_float(uint32_t u) {
  float x;
  memcpy(&x, &u, 4);
  return x;
}

/* yes ? a : b by masks: a branch here would keep a loop from being vectorised. */
CPU_INLINE float cpu_select(int yes, float a, float b) {
  uint32_t mask = 0u - (uint32_t)yes;
  return cpu_float((cpu_bits(a) & mask) | (cpu_bits(b) & ~mask));
}

/* ln 2 in two parts: the first has 9 significant bits, so that small multiples of it are exact. */
#define CPU_LN2_HIGH 0x1.63p-1f
#define CPU_LN2_LOW  (-0x1.bd0106p-13f)
/* Adding it puts a float's nearest integer into the low bits of the sum. */
#define CPU_ROUND 0x1.8p23f

/* below 1 unit */
CPU_INLINE float cpu_exp(float x) {
  float t, n, high, r, rest, p, y;
  uint32_t i, half;
  x = cpu_select(x > 89.0f, 89.0f, x); /* NaN passes both */
  x = cpu_select(x < -104.0f, -104.0f, x);
  t = x * 0x1.715476p+0f + CPU_ROUND;
  n = t - CPU_ROUND;
  high = x - n * CPU_LN2_HIGH; /* exact */
  r = high - n * CPU_LN2_LOW;
  rest = (high - r) - n * CPU_LN2_LOW; /* what r lost */
  p = 0x1.6a242ep-10f;
  p = p * r + 0x1.1239e2p-7f;
  p = p * r + 0x1.5558f2p-5f;
  p = p * r + 0x1.555492p-3f;
  p = p * r + 0x1.fffffcp-2f;
  y = (p * (r * r) + rest + r) + 1.0f;
  /* 2^n in two factors, so that results beyond the normal range round once, or overflow to infinity
   */
  i = cpu_bits(t) - cpu_bits(CPU_ROUND);
  half = (uint32_t)((int32_t)i >> 1);
  return y * cpu_float((half + 127u) << 23) * cpu_float((i - half + 127u) << 23);
}

/* e^x - 1 for x <= 0; larger x count as 0. Below 1.5 units. */
CPU_INLINE float cpu_expm1_below(float x) {
  float t, n, high, r, rest, p, q, scale;
  x = cpu_select(x > 0.0f, 0.0f, x); /* NaN passes both */
  x = cpu_select(x < -30.0f, -30.0f, x);
  t = x * 0x1.715476p+0f + CPU_ROUND;
  n = t - CPU_ROUND;
  high = x - n * CPU_LN2_HIGH; /* exact */
  r = high - n * CPU_LN2_LOW;
  rest = (high - r) - n * CPU_LN2_LOW; /* what r lost */
  p = 0x1.6a242ep-10f;
  p = p * r + 0x1.1239e2p-7f;
  p = p * r + 0x1.5558f2p-5f;
  p = p * r + 0x1.555492p-3f;
  p = p * r + 0x1.fffffcp-2f;
  q = p * (r * r) + rest + r;
  scale = cpu_float((cpu_bits(t) - cpu_bits(CPU_ROUND) + 127u) << 23); /* 2^n */
  return scale * q + (scale - 1.0f);
}

/* log(1 + f) less f for f in [sqrt(1/2) - 1, sqrt(2) - 1] */
CPU_INLINE float cpu_log_tail(float f) {
  float p = -0x1.41eddep-4f;
  p = p * f + 0x1.07d0e6p-3f;
  p = p * f - 0x1.0ce07ep-3f;
  p = p * f + 0x1.226e4cp-3f;
  p = p * f - 0x1.54788ap-3f;
  p = p * f + 0x1.99a596p-3f;
  p = p * f - 0x1.000220p-2f;
  p = p * f + 0x1.55554ap-2f;
  return p * f * (f * f) - 0.5f * (f * f);
}

/* Below 1 unit. Zero gives -infinity, negative numbers NaN. */
CPU_INLINE float cpu_log(float x) {
  int tiny = x < 0x1p-126f;
  float m = cpu_select(tiny, x * 0x1p23f, x), e, f, y;
  uint32_t u = cpu_bits(m) - 0x3f3504f3u; /* sqrt(1/2) */
  int32_t n = (int32_t)u >> 23;
  e = (float)(n - 23 * tiny);
  f = cpu_float((u & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  y = (cpu_log_tail(f) + e * CPU_LN2_LOW) + f;
  y = y + e * CPU_LN2_HIGH;
  y = cpu_select(x > 0.0f, y, cpu_select(x == 0.0f, -INFINITY, NAN));
  return cpu_select(x > 0x1.fffffep127f, x, y);
}

/* log(1 + x) for x in [0, 1]; below 1.5 units */
CPU_INLINE float cpu_log1p_unit(float x) {
  float w = 1.0f + x, rest = (w - 1.0f) - x;
  return cpu_log(w) - rest / w;
}

/* x p / q, polynomials in x^2; for |x| < 1.4 it is x + x (p - q) / q, where rounding counts for
 * less. Below 2.5 units there, 6 beyond; never beyond 1. Two short sums and a quotient: a
 * chain of less than half the length of an exponential's. */
CPU_INLINE float cpu_tanh(float x) {
  float y, z, z2, p, q;
  int small;
  x = cpu_select(x > 0x1.20596cp+3f, 0x1.20596cp+3f, x); /* 1 from there on; NaN passes both */
  x = cpu_select(x < -0x1.20596cp+3f, -0x1.20596cp+3f, x);
  z = x * x;
  z2 = z * z;
  small = z < 2.0f;
#define P_(p_, q_) cpu_select(small, (p_) - (q_), p_)
  p = (cpu_select(small, 0.0f, 1.0f) + z * P_(0x1.121372p-3f, 0x1.de5f06p-2f)) +
      z2 * ((P_(0x1.ca68b8p-9f, 0x1.a81592p-6f) + z * P_(0x1.5a32f0p-16f, 0x1.58d0c0p-12f)) +
            z2 * P_(0x1.cbdfc8p-27f, 0x1.a238d4p-21f));
#undef P_
  q = (1.0f + z * 0x1.de5f06p-2f) +
      z2 * ((0x1.a81592p-6f + z * 0x1.58d0c0p-12f) + z2 * 0x1.a238d4p-21f);
  y = cpu_select(small, x, 0.0f) + x * p / q;
  y = cpu_select(y > 1.0f, 1.0f, y);
  return cpu_select(y < -1.0f, -1.0f, y);
}

/* 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x: a polynomial near zero, then one minus e to
 * a polynomial; below 1.5 units */
CPU_INLINE float cpu_erf(float x) {
  float a = fabsf(x), z = x * x, b = cpu_select(a > 4.0f, 4.0f, a), p, q, small, large;
  p = 0x1.574ec6p-14f;
  p = p * z - 0x1.a88d8ap-11f;
  p = p * z + 0x1.549664p-8f;
  p = p * z - 0x1.b80962p-6f;
  p = p * z + 0x1.ce2dcap-4f;
  p = p * z - 0x1.812742p-2f;
  p = p * z + 0x1.06eba8p-3f;
  small = x + x * p;
  q = -0x1.9fb39cp-13f;
  q = q * b + 0x1.91cd8ap-9f;
  q = q * b - 0x1.6d9d28p-6f;
  q = q * b + 0x1.aa734cp-4f;
  q = q * b + 0x1.4621b4p-1f;
  q = q * b + 0x1.20b754p+0f;
  q = q * b + 0x1.5d017cp-13f;
  large = copysignf(1.0f - cpu_exp(-q), x);
  return cpu_select(x == x, cpu_select(a < 0.9375f, small, large), x);
}

/* 1 / (1 + e^-x); below 2.5 units. From e^-|x|, so that nothing overflows. */
CPU_INLINE float cpu_sigmoid(float x) {
  float e = cpu_exp(-fabsf(x));
  return cpu_select(x >= 0.0f, 1.0f, e) / (1.0f + e);
}

/* log(1 + e^x); below 2.5 units */
CPU_INLINE float cpu_softplus(float x) {
  float big = cpu_select(x > 0.0f, x, 0.0f), y = big + cpu_log1p_unit(cpu_exp(-fabsf(x)));
  return cpu_select(x == x, y, x);
}

#endif
