/* binary.h - element-wise kernels of two inputs, with NumPy broadcasting.
 *
 *     CPU_BINARY(add_kernel, CPU_GRAIN_COPY, a + b, a + b)
 *
 * defines a kernel function from an expression over `a` and `b` for float and one for double. Along
 * the innermost axes that can be taken as one an input either advances or stays, which gives three
 * loops for the compiler to vectorise; equal shapes, a scalar on either side, and a row added to a
 * matrix are each a single call of one of them. Inputs and output may be the same memory.
 */
#ifndef TFSDK_CPU_BINARY_H
#define TFSDK_CPU_BINARY_H

#include "common.h"
#include "vmath.h"

#include <tfsdk/elementwise.h>

/* `rows` rows of n elements; the inputs advance by a_row and b_row from row to row. */
typedef void cpu_binary_fn(const void *a, const void *b, void *z, int64_t n, int64_t rows,
                           int64_t a_row, int64_t b_row);

typedef struct cpu_binary_job {
  cpu_binary_fn *fn;
  const char *a, *b;
  char *z;
  int64_t size;
  tfsdk_walk walk; /* at the first row */
} cpu_binary_job;

/* One row: pieces of it. */
static void cpu_binary_piece(void *user, int64_t begin, int64_t end) {
  const cpu_binary_job *j = (const cpu_binary_job *)user;
  j->fn(j->a + begin * j->walk.step[0] * j->size, j->b + begin * j->walk.step[1] * j->size,
        j->z + begin * j->size, end - begin, 1, 0, 0);
}

/* Many rows: runs of them along the innermost of the outer axes. */
static void cpu_binary_rows(void *user, int64_t begin, int64_t end) {
  const cpu_binary_job *j = (const cpu_binary_job *)user;
  const tfsdk_walk *w = &j->walk;
  const int32_t last = w->n_axes - 1;
  while (begin < end) {
    int64_t left = begin, a = 0, b = 0, at = begin % w->dim[last], run;
    for (int32_t d = last; d >= 0; d--) {
      int64_t i = left % w->dim[d];
      left /= w->dim[d];
      a += i * w->stride[0][d];
      b += i * w->stride[1][d];
    }
    run = cpu_min(w->dim[last] - at, end - begin);
    j->fn(j->a + a * j->size, j->b + b * j->size, j->z + begin * w->n * j->size, w->n, run,
          w->stride[0][last], w->stride[1][last]);
    begin += run;
  }
}

/* Equal sizes, or a scalar on either side, and not much of it: no walk is needed. -1: it is. */
static inline int cpu_binary_simple(const tfsdk_run *r, int64_t grain) {
  const int64_t n = r->out[0].n_elem;
  if (n > grain || n == 0) return -1;
  if (r->in[0].n_elem == n) return r->in[1].n_elem == n ? 0 : r->in[1].n_elem == 1 ? 2 : -1;
  return r->in[0].n_elem == 1 && r->in[1].n_elem == n ? 1 : -1;
}

/* fn[type][0: both advance, 1: a stays, 2: b stays] */
static inline tfsdk_status *cpu_binary_run(tfsdk_run *r, cpu_binary_fn *const fn[2][3],
                                           int64_t grain) {
  const int type = r->out[0].dtype == TFSDK_FLOAT32 ? 0 : 1;
  const int simple = cpu_binary_simple(r, grain);
  cpu_binary_job j;
  if (simple >= 0) {
    fn[type][simple](r->in[0].data, r->in[1].data, r->out[0].data, r->out[0].n_elem, 1, 0, 0);
    return NULL;
  }
  tfsdk_walk_begin(&j.walk, r->in, 2, &r->out[0]);
  if (j.walk.rows == 0) return NULL;
  j.fn = fn[type][j.walk.n == 1 || (j.walk.step[0] && j.walk.step[1]) ? 0 : j.walk.step[0] ? 2 : 1];
  j.a = (const char *)r->in[0].data;
  j.b = (const char *)r->in[1].data;
  j.z = (char *)r->out[0].data;
  j.size = type == 0 ? 4 : 8;
  if (j.walk.rows == 1) {
    if (j.walk.n <= grain)
      cpu_binary_piece(&j, 0, j.walk.n);
    else
      r->api->par_for(r, j.walk.n, grain, cpu_binary_piece, &j);
  } else if (r->out[0].n_elem <= grain) {
    cpu_binary_rows(&j, 0, j.walk.rows);
  } else {
    r->api->par_for(r, j.walk.rows, cpu_row_grain(j.walk.n, grain), cpu_binary_rows, &j);
  }
  return NULL;
}

/* a_step_, b_step_: 1 where an input advances, 0 where it stays. What is left behind the last whole
 * step goes by fours, see unary.h, then one by one. */
#define CPU_BINARY_STEP 16
#define CPU_BINARY_LOOP(name, T_, a_step_, b_step_, ...)                                           \
  CPU_CLONES static void name(const void *in0_, const void *in1_, void *out_, int64_t n_,          \
                              int64_t rows_, int64_t a_row_, int64_t b_row_) {                     \
    typedef T_ T;                                                                                  \
    const int64_t whole_ = n_ - n_ % CPU_BINARY_STEP;                                              \
    for (int64_t r_ = 0; r_ < rows_; r_++) {                                                       \
      const T *a_ = (const T *)in0_ + r_ * a_row_, *b_ = (const T *)in1_ + r_ * b_row_;            \
      T *z_ = (T *)out_ + r_ * n_;                                                                 \
      const T a0_ = a_[0], b0_ = b_[0];                                                            \
      int64_t i_ = 0;                                                                              \
      (void)a0_, (void)b0_;                                                                        \
      _Pragma("GCC ivdep") for (; i_ < whole_; i_++) {                                             \
        const T a = a_step_ ? a_[i_] : a0_, b = b_step_ ? b_[i_] : b0_;                            \
        z_[i_] = (__VA_ARGS__);                                                                    \
      }                                                                                            \
      for (; i_ + 4 <= n_; i_ += 4) {                                                              \
        T a4_[4], b4_[4], z4_[4];                                                                  \
        if (a_step_) memcpy(a4_, a_ + i_, sizeof a4_);                                             \
        if (b_step_) memcpy(b4_, b_ + i_, sizeof b4_);                                             \
        for (int j_ = 0; j_ < 4; j_++) {                                                           \
          const T a = a_step_ ? a4_[j_] : a0_, b = b_step_ ? b4_[j_] : b0_;                        \
          z4_[j_] = (__VA_ARGS__);                                                                 \
        }                                                                                          \
        memcpy(z_ + i_, z4_, sizeof z4_);                                                          \
      }                                                                                            \
      for (; i_ < n_; i_++) {                                                                      \
        const T a = a_step_ ? a_[i_] : a0_, b = b_step_ ? b_[i_] : b0_;                            \
        z_[i_] = (__VA_ARGS__);                                                                    \
      }                                                                                            \
    }                                                                                              \
  }

#define CPU_BINARY_LOOPS(name, T, ...)                                                             \
  CPU_BINARY_LOOP(name##_both, T, 1, 1, __VA_ARGS__)                                               \
  CPU_BINARY_LOOP(name##_right, T, 0, 1, __VA_ARGS__)                                              \
  CPU_BINARY_LOOP(name##_left, T, 1, 0, __VA_ARGS__)

#define CPU_BINARY(name, grain, float_, double_)                                                   \
  CPU_BINARY_LOOPS(name##_f32, float, float_)                                                      \
  CPU_BINARY_LOOPS(name##_f64, double, double_)                                                    \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    static cpu_binary_fn *const fn_[2][3] = {                                                      \
        {name##_f32_both, name##_f32_right, name##_f32_left},                                      \
        {name##_f64_both, name##_f64_right, name##_f64_left}};                                     \
    (void)state;                                                                                   \
    return cpu_binary_run(r, fn_, grain);                                                          \
  }

/* Backward ops take two tensors of one shape: one loop will do. */
#define CPU_PAIR(name, grain, float_, double_)                                                     \
  CPU_BINARY_LOOP(name##_f32, float, 1, 1, float_)                                                 \
  CPU_BINARY_LOOP(name##_f64, double, 1, 1, double_)                                               \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    static cpu_binary_fn *const fn_[2][3] = {{name##_f32, name##_f32, name##_f32},                 \
                                             {name##_f64, name##_f64, name##_f64}};                \
    (void)state;                                                                                   \
    return cpu_binary_run(r, fn_, grain);                                                          \
  }

#endif
