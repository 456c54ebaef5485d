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

/* The last few elements go through a buffer of CPU_UNARY_STEP: vectors for them as well, not one
 * call of the function for each. */
#define CPU_UNARY_STEP 16
#define CPU_UNARY_LOOP(name, T_, ...)                                                              \
  CPU_CLONES static void name(const void *in_, void *out_, int64_t n_) {                           \
    typedef T_ T;                                                                                  \
    const T *x_ = (const T *)in_;                                                                  \
    T *y_ = (T *)out_, rest_[CPU_UNARY_STEP];                                                      \
    const int64_t whole_ = n_ - n_ % CPU_UNARY_STEP;                                               \
    _Pragma("GCC ivdep") for (int64_t i_ = 0; i_ < whole_; i_++) {                                 \
      const T x = x_[i_];                                                                          \
      y_[i_] = (__VA_ARGS__);                                                                      \
    }                                                                                              \
    if (whole_ == n_) return;                                                                      \
    for (int i_ = 0; i_ < CPU_UNARY_STEP; i_++)                                                    \
      rest_[i_] = i_ < n_ - whole_ ? x_[whole_ + i_] : (T)0;                                       \
    _Pragma("GCC ivdep") for (int i_ = 0; i_ < CPU_UNARY_STEP; i_++) {                             \
      const T x = rest_[i_];                                                                       \
      rest_[i_] = (__VA_ARGS__);                                                                   \
    }                                                                                              \
    memcpy(y_ + whole_, rest_, (size_t)(n_ - whole_) * sizeof(T));                                 \
  }

#define CPU_UNARY(name, grain, float_, double_)                                                    \
  CPU_UNARY_LOOP(name##_f32, float, float_)                                                        \
  CPU_UNARY_LOOP(name##_f64, double, double_)                                                      \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    (void)state;                                                                                   \
    return cpu_unary_run(r, name##_f32, name##_f64, grain);                                        \
  }

#endif
