/* softmax.h - the steps that softmax, log-softmax and the cross entropies share, for float32 rows.
 *
 * A block of whole rows is shifted by their maxima, and exponentials are taken over the block at
 * once, so that rows of a few classes keep the vector units as busy as long ones. Sums are in
 * double: the loss of a row that is classified with near certainty is the logarithm of a sum barely
 * above 1.
 */
#ifndef TFSDK_CPU_SOFTMAX_H
#define TFSDK_CPU_SOFTMAX_H

#include "common.h"
#include "vmath.h"

static const int32_t cpu_float32_type[] = {TFSDK_FLOAT32, 0};
static const tfsdk_where cpu_where_float32[] = {{"T", cpu_float32_type}};
#define CPU_KERNEL_F32(op_, label_, compute_)                                                      \
  TFSDK_KERNEL_HEAD(op_, "cpu", 100), .label = label_, .where = cpu_where_float32, .n_where = 1,   \
                                      .compute = compute_

#define CPU_SOFTMAX_BLOCK 1024 /* elements that are worked on together, if a row is not longer */

typedef float cpu_v8f __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t cpu_v8i __attribute__((vector_size(32), may_alias));
typedef double cpu_v8d __attribute__((vector_size(64), aligned(8), may_alias));

/* s = the larger of s and v, or NaN. Vectors of 8: gcc 12 takes comparisons of longer ones apart. */
#define CPU_SOFTMAX_LARGER(s, v)                                                                   \
  do {                                                                                             \
    const cpu_v8f v_ = (v);                                                                        \
    const cpu_v8i take_ = (v_ > s) | (v_ != v_);                                                   \
    s = (cpu_v8f)(((cpu_v8i)v_ & take_) | ((cpu_v8i)s & ~take_));                                  \
  } while (0)

/* The largest of n elements; NaN if there is one. */
CPU_INLINE float cpu_softmax_top(const float *x, int64_t n) {
  float top = -INFINITY;
  int64_t i = 0;
  if (n >= 32) {
    cpu_v8f a = *(const cpu_v8f *)x, b = *(const cpu_v8f *)(x + 8);
    cpu_v8f c = *(const cpu_v8f *)(x + 16), d = *(const cpu_v8f *)(x + 24);
    for (i = 32; i + 32 <= n; i += 32) {
      CPU_SOFTMAX_LARGER(a, *(const cpu_v8f *)(x + i));
      CPU_SOFTMAX_LARGER(b, *(const cpu_v8f *)(x + i + 8));
      CPU_SOFTMAX_LARGER(c, *(const cpu_v8f *)(x + i + 16));
      CPU_SOFTMAX_LARGER(d, *(const cpu_v8f *)(x + i + 24));
    }
    CPU_SOFTMAX_LARGER(a, b);
    CPU_SOFTMAX_LARGER(c, d);
    CPU_SOFTMAX_LARGER(a, c);
    for (int j = 0; j < 8; j++) top = a[j] > top || a[j] != a[j] ? a[j] : top;
  }
  for (; i < n; i++) top = x[i] > top || x[i] != x[i] ? x[i] : top;
  return top;
}

__attribute__((unused)) CPU_CLONES static float cpu_softmax_max(const float *x, int64_t n) {
  return cpu_softmax_top(x, n);
}
__attribute__((unused)) CPU_CLONES static void cpu_softmax_shift(const float *x, float *y,
                                                                 int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; r++, x += n, y += n) {
    const float top = cpu_softmax_top(x, n);
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) y[i] = x[i] - top;
  }
}

__attribute__((unused)) CPU_CLONES static void cpu_softmax_exp(const float *x, float *y,
                                                               int64_t n) {
  _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) y[i] = cpu_exp(x[i]);
}

CPU_INLINE double cpu_softmax_sum(const float *x, int64_t n) {
  cpu_v8d a = {0}, b = {0};
  double s = 0;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    a += __builtin_convertvector(*(const cpu_v8f *)(x + i), cpu_v8d);
    b += __builtin_convertvector(*(const cpu_v8f *)(x + i + 8), cpu_v8d);
  }
  for (; i < n; i++) s += (double)x[i];
  a += b;
  return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])) + s;
}

__attribute__((unused)) CPU_CLONES static void cpu_softmax_sums(const float *x, int64_t rows,
                                                                int64_t n, double *sum) {
  for (int64_t r = 0; r < rows; r++) sum[r] = cpu_softmax_sum(x + r * n, n);
}

/* y = exponentials of x - top, and their sum, for a long row: piece by piece, so that it
 * passes through the first-level cache. */
__attribute__((unused)) CPU_CLONES static double cpu_softmax_long(const float *x, float *y,
                                                                  int64_t n, float top) {
  double sum = 0;
  for (int64_t i = 0; i < n; i += CPU_SOFTMAX_BLOCK) {
    const int64_t m = n - i < CPU_SOFTMAX_BLOCK ? n - i : CPU_SOFTMAX_BLOCK;
    const float *a = x + i;
    float *b = y + i;
    _Pragma("GCC ivdep") for (int64_t k = 0; k < m; k++) b[k] = cpu_exp(a[k] - top);
    sum += cpu_softmax_sum(b, m);
  }
  return sum;
}

__attribute__((unused)) CPU_CLONES static void cpu_softmax_scale(float *y, int64_t n, float by) {
  for (int64_t i = 0; i < n; i++) y[i] *= by;
}

/* How many rows of n elements make a block. */
static inline int64_t cpu_softmax_rows(int64_t n) {
  return n >= CPU_SOFTMAX_BLOCK ? 1 : CPU_SOFTMAX_BLOCK / n;
}

#endif
