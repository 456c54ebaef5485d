/* channel_sums.h - two sums over the rows of a matrix for each of its columns (channels), as batch
 * normalisation needs them, in one pass.
 *
 *     CPU_CHANNEL_SUMS(moments, const V u = x - k, v = u * u;)
 *
 * defines a function that adds up u and v, computed from the elements x, dy and the channel's k, all
 * of type V. Blocks of rows are summed in float, and their sums in double: what is lost is that of BLOCK / 2
 * sums. Few columns: the sums stay in registers while rows pass by; many: rows are read along, so
 * that memory comes in few long streams, and the sums lie in the first-level cache.
 */
#ifndef TFSDK_CPU_CHANNEL_SUMS_H
#define TFSDK_CPU_CHANNEL_SUMS_H

#include "common.h"

#define CPU_CHANNEL_WIDE       16
#define CPU_CHANNEL_BLOCK      64    /* rows */
#define CPU_CHANNEL_FEW        64    /* columns */
#define CPU_CHANNEL_PIECE      16384 /* elements worth a part */
#define CPU_CHANNEL_MOST_PARTS 64

typedef float cpu_v16f __attribute__((vector_size(64), aligned(4), may_alias));

/* How many parts the rows are cut into, by sizes alone: parts have sums of their own, which are
 * added in their order. */
static inline int64_t cpu_channel_parts(int64_t rows, int64_t n) {
  int64_t parts = cpu_min(rows * n / CPU_CHANNEL_PIECE, rows / (CPU_CHANNEL_BLOCK / 2));
  return cpu_max(cpu_min(parts, CPU_CHANNEL_MOST_PARTS), 1);
}

#define CPU_CHANNEL_AT(p) (*(const cpu_v16f *)(p))
/* Adds to the sums. dy: x again where the formula has none. s: room for 2 n floats. Rows may come in
 * several calls, of whole blocks but for the last. */
#define CPU_CHANNEL_SUMS(name, ...)                                                                \
  CPU_CLONES static void name(const float *x_, const float *dy_, const float *k_, int64_t rows_,   \
                              int64_t n_, float *s_, double *sum_, double *product_) {             \
    float *q_ = s_ + n_;                                                                           \
    const int64_t whole_ = n_ / CPU_CHANNEL_WIDE * CPU_CHANNEL_WIDE;                               \
    for (int64_t r_ = 0; r_ < rows_; r_ += CPU_CHANNEL_BLOCK) {                                    \
      const int64_t m_ = rows_ - r_ < CPU_CHANNEL_BLOCK ? rows_ - r_ : CPU_CHANNEL_BLOCK;          \
      const int64_t step_ = n_ <= CPU_CHANNEL_FEW ? m_ : 4;                                        \
      for (int64_t j_ = 0; j_ < 2 * n_; j_++) s_[j_] = 0;                                          \
      for (int64_t i_ = 0; i_ < m_; i_ += step_) {                                                 \
        const int64_t some_ = m_ - i_ < step_ ? m_ - i_ : step_;                                   \
        const float *a_ = x_ + (r_ + i_) * n_, *b_ = dy_ + (r_ + i_) * n_;                         \
        for (int64_t j_ = 0; j_ < whole_; j_ += CPU_CHANNEL_WIDE) {                                \
          typedef cpu_v16f V;                                                                      \
          const cpu_v16f k = CPU_CHANNEL_AT(k_ + j_);                                              \
          cpu_v16f u0_ = CPU_CHANNEL_AT(s_ + j_), v0_ = CPU_CHANNEL_AT(q_ + j_);                   \
          cpu_v16f u1_ = {0}, v1_ = {0};                                                           \
          int64_t c_ = 0;                                                                          \
          for (; c_ + 2 <= some_; c_ += 2) {                                                       \
            {                                                                                      \
              const cpu_v16f x = CPU_CHANNEL_AT(a_ + c_ * n_ + j_);                                \
              const cpu_v16f dy = CPU_CHANNEL_AT(b_ + c_ * n_ + j_);                               \
              __VA_ARGS__(void) dy, u0_ += u, v0_ += v;                                            \
            }                                                                                      \
            {                                                                                      \
              const cpu_v16f x = CPU_CHANNEL_AT(a_ + (c_ + 1) * n_ + j_);                          \
              const cpu_v16f dy = CPU_CHANNEL_AT(b_ + (c_ + 1) * n_ + j_);                         \
              __VA_ARGS__(void) dy, u1_ += u, v1_ += v;                                            \
            }                                                                                      \
          }                                                                                        \
          if (c_ < some_) {                                                                        \
            const cpu_v16f x = CPU_CHANNEL_AT(a_ + c_ * n_ + j_);                                  \
            const cpu_v16f dy = CPU_CHANNEL_AT(b_ + c_ * n_ + j_);                                 \
            __VA_ARGS__(void) dy, u0_ += u, v0_ += v;                                              \
          }                                                                                        \
          *(cpu_v16f *)(s_ + j_) = u0_ + u1_;                                                      \
          *(cpu_v16f *)(q_ + j_) = v0_ + v1_;                                                      \
        }                                                                                          \
        for (int64_t j_ = whole_; j_ < n_; j_++)                                                   \
          for (int64_t c_ = 0; c_ < some_; c_++) {                                                 \
            typedef float V;                                                                       \
            const float k = k_[j_], x = a_[c_ * n_ + j_], dy = b_[c_ * n_ + j_];                   \
            __VA_ARGS__(void) dy, s_[j_] += u, q_[j_] += v;                                        \
          }                                                                                        \
      }                                                                                            \
      for (int64_t j_ = 0; j_ < n_; j_++) {                                                        \
        sum_[j_] += (double)s_[j_];                                                                \
        product_[j_] += (double)q_[j_];                                                            \
      }                                                                                            \
    }                                                                                              \
  }

#endif
