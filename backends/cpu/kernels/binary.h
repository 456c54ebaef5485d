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

/* A few elements, fewer than CPU_BINARY_STEP. */
typedef void cpu_binary_few_fn(const void *a, const void *b, void *z, int64_t n);

/* [0: both advance, 1: a stays, 2: b stays] */
typedef struct cpu_binary_loops {
  cpu_binary_fn *loop[3];
  cpu_binary_few_fn *few[3];
} cpu_binary_loops;

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

/* Equal sizes, or a scalar on either side: no walk is needed. -1: it is. */
static inline int cpu_binary_simple(int64_t a, int64_t b, int64_t n) {
  if (a == n) return b == n ? 0 : b == 1 ? 2 : -1;
  return a == 1 && b == n ? 1 : -1;
}

#define CPU_BINARY_STEP 16

/* Broadcasting of other kinds, and what is worth threads. */
static __attribute__((noinline)) tfsdk_status *cpu_binary_walk(tfsdk_run *r,
                                                               const cpu_binary_loops *f,
                                                               int64_t size, int64_t grain) {
  const int64_t n = r->out[0].n_elem;
  cpu_binary_job j;
  tfsdk_walk_begin(&j.walk, r->in, 2, &r->out[0]);
  if (j.walk.rows == 0) return NULL;
  j.fn = f->loop[j.walk.n == 1 || (j.walk.step[0] && j.walk.step[1]) ? 0 : j.walk.step[0] ? 2 : 1];
  j.a = (const char *)r->in[0].data;
  j.b = (const char *)r->in[1].data;
  j.z = (char *)r->out[0].data;
  j.size = size;
  if (j.walk.rows == 1) {
    if (j.walk.n <= grain)
      cpu_binary_piece(&j, 0, j.walk.n);
    else
      r->api->par_for(r, j.walk.n, grain, cpu_binary_piece, &j);
  } else if (n <= grain) {
    cpu_binary_rows(&j, 0, j.walk.rows);
  } else {
    r->api->par_for(r, j.walk.rows, cpu_row_grain(j.walk.n, grain), cpu_binary_rows, &j);
  }
  return NULL;
}

/* loops: for float, for double */
static tfsdk_status *cpu_binary_run(tfsdk_run *r, const cpu_binary_loops *loops, int64_t grain) {
  const tfsdk_view *a = &r->in[0], *b = &r->in[1], *z = &r->out[0];
  const int wide = z->dtype != TFSDK_FLOAT32;
  const int64_t n = z->n_elem;
  const int simple = cpu_binary_simple(a->n_elem, b->n_elem, n);
  const cpu_binary_loops *f = &loops[wide];
  if (n == 0) return NULL;
  if (simple < 0 || n > grain) return cpu_binary_walk(r, f, wide ? 8 : 4, grain);
  if (n < CPU_BINARY_STEP)
    f->few[simple](a->data, b->data, z->data, n);
  else
    f->loop[simple](a->data, b->data, z->data, n, 1, 0, 0);
  return NULL;
}

/* a_step_, b_step_: 1 where an input advances, 0 where it stays. What is left behind the last whole
 * step goes by fours, see unary.h, then one by one. */
#define CPU_BINARY_FOURS(a_step_, b_step_, ...)                                                    \
  for (; i_ + 4 <= n_; i_ += 4) {                                                                  \
    T a4_[4], b4_[4], z4_[4];                                                                      \
    if (a_step_) memcpy(a4_, a_ + i_, sizeof a4_);                                                 \
    if (b_step_) memcpy(b4_, b_ + i_, sizeof b4_);                                                 \
    for (int j_ = 0; j_ < 4; j_++) {                                                               \
      const T a = a_step_ ? a4_[j_] : a0_, b = b_step_ ? b4_[j_] : b0_;                            \
      z4_[j_] = (__VA_ARGS__);                                                                     \
    }                                                                                              \
    memcpy(z_ + i_, z4_, sizeof z4_);                                                              \
  }                                                                                                \
  for (; i_ < n_; i_++) {                                                                          \
    const T a = a_step_ ? a_[i_] : a0_, b = b_step_ ? b_[i_] : b0_;                                \
    z_[i_] = (__VA_ARGS__);                                                                        \
  }
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
      CPU_BINARY_FOURS(a_step_, b_step_, __VA_ARGS__)                                              \
    }                                                                                              \
  }

#define CPU_BINARY_FEW(name, T_, a_step_, b_step_, ...)                                            \
  static void name(const void *in0_, const void *in1_, void *out_, int64_t n_) {                   \
    typedef T_ T;                                                                                  \
    const T *a_ = (const T *)in0_, *b_ = (const T *)in1_, a0_ = a_[0], b0_ = b_[0];                \
    T *z_ = (T *)out_;                                                                             \
    int64_t i_ = 0;                                                                                \
    (void)a0_, (void)b0_;                                                                          \
    CPU_BINARY_FOURS(a_step_, b_step_, __VA_ARGS__)                                                \
  }

#define CPU_BINARY_ALL(name, T, ...)                                                               \
  CPU_BINARY_LOOP(name##_both, T, 1, 1, __VA_ARGS__)                                               \
  CPU_BINARY_LOOP(name##_right, T, 0, 1, __VA_ARGS__)                                              \
  CPU_BINARY_LOOP(name##_left, T, 1, 0, __VA_ARGS__)                                               \
  CPU_BINARY_FEW(name##_few_both, T, 1, 1, __VA_ARGS__)                                            \
  CPU_BINARY_FEW(name##_few_right, T, 0, 1, __VA_ARGS__)                                           \
  CPU_BINARY_FEW(name##_few_left, T, 1, 0, __VA_ARGS__)
#define CPU_BINARY_LOOPS(name)                                                                     \
  {                                                                                                \
    {name##_both, name##_right, name##_left}, {                                                    \
      name##_few_both, name##_few_right, name##_few_left                                           \
    }                                                                                              \
  }

#define CPU_BINARY(name, grain, float_, double_)                                                   \
  CPU_BINARY_ALL(name##_f32, float, float_)                                                        \
  CPU_BINARY_ALL(name##_f64, double, double_)                                                      \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    static const cpu_binary_loops loops_[] = {CPU_BINARY_LOOPS(name##_f32),                        \
                                              CPU_BINARY_LOOPS(name##_f64)};                       \
    (void)state;                                                                                   \
    return cpu_binary_run(r, loops_, grain);                                                       \
  }

/* Backward ops take two tensors of one shape: one loop will do. */
#define CPU_PAIR_ALL(name, T, ...)                                                                 \
  CPU_BINARY_LOOP(name##_both, T, 1, 1, __VA_ARGS__)                                               \
  CPU_BINARY_FEW(name##_few, T, 1, 1, __VA_ARGS__)
#define CPU_PAIR_LOOPS(name)                                                                       \
  {                                                                                                \
    {name##_both, name##_both, name##_both}, { name##_few, name##_few, name##_few }                \
  }

#define CPU_PAIR(name, grain, float_, double_)                                                     \
  CPU_PAIR_ALL(name##_f32, float, float_)                                                          \
  CPU_PAIR_ALL(name##_f64, double, double_)                                                        \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    static const cpu_binary_loops loops_[] = {CPU_PAIR_LOOPS(name##_f32),                          \
                                              CPU_PAIR_LOOPS(name##_f64)};                         \
    (void)state;                                                                                   \
    return cpu_binary_run(r, loops_, grain);                                                       \
  }

#endif
