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

#define CPU_UNARY_STEP 16

typedef struct cpu_unary_loops {
  cpu_unary_fn *loop, *few; /* few: for less than CPU_UNARY_STEP elements */
} cpu_unary_loops;

/* loops: for float, for double */
static tfsdk_status *cpu_unary_run(tfsdk_run *r, const cpu_unary_loops *loops, int64_t grain) {
  const tfsdk_view *x = &r->in[0], *y = &r->out[0];
  const int wide = y->dtype != TFSDK_FLOAT32;
  const cpu_unary_loops *f = &loops[wide];
  const int64_t n = y->n_elem;
  if (n < CPU_UNARY_STEP) {
    f->few(x->data, y->data, n);
  } else if (n <= grain) {
    f->loop(x->data, y->data, n);
  } else {
    cpu_unary_job j = {f->loop, (const char *)x->data, (char *)y->data, wide ? 8 : 4};
    r->api->par_for(r, n, grain, cpu_unary_range, &j);
  }
  return NULL;
}

/* What is left behind the last whole CPU_UNARY_STEP goes by fours, in a buffer that the compiler
 * keeps in a register: a vector that was stored as one is loaded as one, so a chain of small tensors
 * need not wait for the memory. */
#define CPU_UNARY_FOURS(...)                                                                       \
  for (; i_ + 4 <= n_; i_ += 4) {                                                                  \
    memcpy(four_, x_ + i_, sizeof four_);                                                          \
    for (int j_ = 0; j_ < 4; j_++) {                                                               \
      const T x = four_[j_];                                                                       \
      four_[j_] = (__VA_ARGS__);                                                                   \
    }                                                                                              \
    memcpy(y_ + i_, four_, sizeof four_);                                                          \
  }                                                                                                \
  if (i_ == n_) return;                                                                            \
  memcpy(four_, x_ + i_, (size_t)(n_ - i_) * sizeof(T));                                           \
  for (int j_ = 0; j_ < 4; j_++) {                                                                 \
    const T x = four_[j_];                                                                         \
    four_[j_] = (__VA_ARGS__);                                                                     \
  }                                                                                                \
  memcpy(y_ + i_, four_, (size_t)(n_ - i_) * sizeof(T));

#define CPU_UNARY_LOOPS(name, T_, ...)                                                             \
  CPU_CLONES static void name##_loop(const void *in_, void *out_, int64_t n_) {                    \
    typedef T_ T;                                                                                  \
    const T *x_ = (const T *)in_;                                                                  \
    T *y_ = (T *)out_, four_[4] = {0};                                                             \
    int64_t i_ = 0;                                                                                \
    const int64_t whole_ = n_ - n_ % CPU_UNARY_STEP;                                               \
    _Pragma("GCC ivdep") for (; i_ < whole_; i_++) {                                               \
      const T x = x_[i_];                                                                          \
      y_[i_] = (__VA_ARGS__);                                                                      \
    }                                                                                              \
    CPU_UNARY_FOURS(__VA_ARGS__)                                                                   \
  }                                                                                                \
  CPU_CLONES static void name##_few(const void *in_, void *out_, int64_t n_) {                     \
    typedef T_ T;                                                                                  \
    const T *x_ = (const T *)in_;                                                                  \
    T *y_ = (T *)out_, four_[4] = {0};                                                             \
    int64_t i_ = 0;                                                                                \
    CPU_UNARY_FOURS(__VA_ARGS__)                                                                   \
  }

#define CPU_UNARY(name, grain, float_, double_)                                                    \
  CPU_UNARY_LOOPS(name##_f32, float, float_)                                                       \
  CPU_UNARY_LOOPS(name##_f64, double, double_)                                                     \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    static const cpu_unary_loops loops_[] = {{name##_f32_loop, name##_f32_few},                    \
                                             {name##_f64_loop, name##_f64_few}};                   \
    (void)state;                                                                                   \
    return cpu_unary_run(r, loops_, grain);                                                        \
  }

#endif
