/* unary.h - element-wise kernels of one input.
 *
 *     CPU_UNARY(exp_kernel, CPU_GRAIN_HEAVY, cpu_exp(x), exp(x))
 *
 * defines a kernel function of that name from an expression over `x` for float and one for double,
 * each a loop that the compiler vectorises. Input and output may be the same memory.
 */
#ifndef TFSDK_CPU_UNARY_H
#define TFSDK_CPU_UNARY_H

#include "common.h"
#include "vmath.h"

typedef void cpu_unary_fn(const void *x, void *y, int64_t n);

typedef struct cpu_unary_job {
  cpu_unary_fn *fn;
  const char *x;
  char *y;
  int64_t size;
} cpu_unary_job;

static void cpu_unary_range(void *user, int64_t begin, int64_t end) {
  const cpu_unary_job *j = (const cpu_unary_job *)user;
  j->fn(j->x + begin * j->size, j->y + begin * j->size, end - begin);
}

static inline tfsdk_status *cpu_unary_run(tfsdk_run *r, cpu_unary_fn *f32, cpu_unary_fn *f64,
                                          int64_t grain) {
  cpu_unary_job j;
  int64_t n = r->out[0].n_elem;
  j.fn = r->out[0].dtype == TFSDK_FLOAT32 ? f32 : f64;
  j.x = (const char *)r->in[0].data;
  j.y = (char *)r->out[0].data;
  j.size = r->out[0].dtype == TFSDK_FLOAT32 ? 4 : 8;
  if (n <= grain) {
    if (n > 0) j.fn(j.x, j.y, n);
  } else {
    r->api->par_for(r, n, grain, cpu_unary_range, &j);
  }
  return NULL;
}

/* What is left behind the last whole CPU_UNARY_STEP goes by fours, in a buffer that the compiler
 * keeps in a register: a vector that was stored as one is loaded as one, so a chain of small tensors
 * need not wait for the memory. */
#define CPU_UNARY_STEP 16
#define CPU_UNARY_LOOP(name, T_, ...)                                                              \
  CPU_CLONES static void name(const void *in_, void *out_, int64_t n_) {                           \
    typedef T_ T;                                                                                  \
    const T *x_ = (const T *)in_;                                                                  \
    T *y_ = (T *)out_, four_[4] = {0};                                                             \
    int64_t i_ = 0;                                                                                \
    const int64_t whole_ = n_ - n_ % CPU_UNARY_STEP;                                               \
    _Pragma("GCC ivdep") for (; i_ < whole_; i_++) {                                               \
      const T x = x_[i_];                                                                          \
      y_[i_] = (__VA_ARGS__);                                                                      \
    }                                                                                              \
    for (; i_ + 4 <= n_; i_ += 4) {                                                                \
      memcpy(four_, x_ + i_, sizeof four_);                                                        \
      for (int j_ = 0; j_ < 4; j_++) {                                                             \
        const T x = four_[j_];                                                                     \
        four_[j_] = (__VA_ARGS__);                                                                 \
      }                                                                                            \
      memcpy(y_ + i_, four_, sizeof four_);                                                        \
    }                                                                                              \
    if (i_ == n_) return;                                                                          \
    memcpy(four_, x_ + i_, (size_t)(n_ - i_) * sizeof(T));                                         \
    for (int j_ = 0; j_ < 4; j_++) {                                                               \
      const T x = four_[j_];                                                                       \
      four_[j_] = (__VA_ARGS__);                                                                   \
    }                                                                                              \
    memcpy(y_ + i_, four_, (size_t)(n_ - i_) * sizeof(T));                                         \
  }

#define CPU_UNARY(name, grain, float_, double_)                                                    \
  CPU_UNARY_LOOP(name##_f32, float, float_)                                                        \
  CPU_UNARY_LOOP(name##_f64, double, double_)                                                      \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    (void)state;                                                                                   \
    return cpu_unary_run(r, name##_f32, name##_f64, grain);                                        \
  }

#endif
