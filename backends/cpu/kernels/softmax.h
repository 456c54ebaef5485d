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

/* y = x - max of the row; NaN if the row has one. */
CPU_CLONES static void cpu_softmax_shift(const float *x, float *y, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; r++, x += n, y += n) {
    float lane[16], top = -INFINITY;
    int64_t i = 0;
    if (n >= 16) {
      for (int j = 0; j < 16; j++) lane[j] = x[j];
      for (i = 16; i + 16 <= n; i += 16)
        for (int j = 0; j < 16; j++) {
          float v = x[i + j], s = lane[j];
          lane[j] = cpu_select((v > s) | (v != v), v, s);
        }
      for (int j = 0; j < 16; j++) top = lane[j] > top || lane[j] != lane[j] ? lane[j] : top;
    }
    for (; i < n; i++) top = x[i] > top || x[i] != x[i] ? x[i] : top;
    _Pragma("GCC ivdep") for (i = 0; i < n; i++) y[i] = x[i] - top;
  }
}

CPU_CLONES static void cpu_softmax_exp(const float *x, float *y, int64_t n) {
  _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) y[i] = cpu_exp(x[i]);
}

CPU_CLONES static void cpu_softmax_sums(const float *x, int64_t rows, int64_t n, double *sum) {
  for (int64_t r = 0; r < rows; r++, x += n) {
    double lane[8] = {0}, s = 0;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
      for (int j = 0; j < 8; j++) lane[j] += (double)x[i + j];
    for (; i < n; i++) s += (double)x[i];
    for (int j = 0; j < 8; j++) s += lane[j];
    sum[r] = s;
  }
}

__attribute__((unused)) CPU_CLONES static void cpu_softmax_scale(float *y, int64_t n, float by) {
  for (int64_t i = 0; i < n; i++) y[i] *= by;
}

/* How many rows of n elements make a block. */
static inline int64_t cpu_softmax_rows(int64_t n) {
  return n >= CPU_SOFTMAX_BLOCK ? 1 : CPU_SOFTMAX_BLOCK / n;
}

#endif
