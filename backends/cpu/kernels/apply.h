/* apply.h - optimizer steps: a formula for one element, run over a variable, its slots and its
 * gradient.
 *
 *     CPU_APPLY(step, 2, s1 = s1 * k[MOMENTUM] + g; var -= s1 * k[LR];)
 *
 * defines step_f32 and step_f64. In the formula `var` is the variable's element, s1 and s2 those of
 * its slots, g the gradient's; k[] are numbers that are the same for all elements. Numbers and
 * order of operations are those of the ops' own kernels, so results are the same to the bit.
 */
#ifndef TFSDK_CPU_APPLY_H
#define TFSDK_CPU_APPLY_H

#include "common.h"

#include <tfsdk/shape.h>
#include <tgmath.h>

#define CPU_APPLY_NUMBERS 6
#define CPU_APPLY_GRAIN   16384

typedef void cpu_apply_fn(int64_t n, void *const *state, int64_t at, const void *grad,
                          const double *numbers);

typedef struct cpu_apply_job {
  cpu_apply_fn *fn;
  void *state[3];
  const char *grad;
  int64_t size;
  const double *numbers;
} cpu_apply_job;

static void cpu_apply_range(void *user, int64_t begin, int64_t end) {
  const cpu_apply_job *j = (const cpu_apply_job *)user;
  j->fn(end - begin, j->state, begin, j->grad + begin * j->size, j->numbers);
}

static inline double cpu_apply_number(const tfsdk_run *r, uint32_t i) {
  return tfsdk_view_number(&r->in[i], 0);
}

/* The variable and its slots are inputs 0..n_state-1, the gradient is input `grad`. */
static inline tfsdk_status *cpu_apply_run(tfsdk_run *r, uint32_t n_state, uint32_t grad,
                                          cpu_apply_fn *f32, cpu_apply_fn *f64,
                                          const double *numbers) {
  const tfsdk_view *g = &r->in[grad];
  const tfsdk_shape want = tfsdk_shape_of_view(g);
  cpu_apply_job j = {.grad = (const char *)g->data, .numbers = numbers};
  for (uint32_t i = 0; i < n_state; i++) {
    tfsdk_view v;
    tfsdk_shape have;
    int same;
    TFSDK_TRY(r->api->var_mutable(r, i, &v));
    have = tfsdk_shape_of_view(&v);
    TFSDK_REQUIRE(r, v.dtype == g->dtype, "'%s' holds %s, but the gradient is %s",
                  r->op->in[i].name, tfsdk_dtype_name(v.dtype), tfsdk_dtype_name(g->dtype));
    same = have.rank == want.rank;
    for (int32_t d = 0; same && d < have.rank; d++) same = have.dim[d] == want.dim[d];
    TFSDK_REQUIRE(r, same, "'%s' and '%s' must have the same shape, but they have %s and %s",
                  r->op->in[i].name, r->op->in[grad].name, tfsdk_shape_text(&have).s,
                  tfsdk_shape_text(&want).s);
    j.state[i] = v.data;
  }
  j.fn = g->dtype == TFSDK_FLOAT32 ? f32 : f64;
  j.size = g->dtype == TFSDK_FLOAT32 ? 4 : 8;
  if (g->n_elem > 0) r->api->par_for(r, g->n_elem, CPU_APPLY_GRAIN, cpu_apply_range, &j);
  return NULL;
}

#define CPU_APPLY_LOOP(name, F, n_state, ...)                                                      \
  CPU_CLONES static void name(int64_t n_elem, void *const *state, int64_t at, const void *grad,    \
                              const double *numbers) {                                             \
    F *p0 = (F *)state[0] + at, *p1 = n_state > 1 ? (F *)state[1] + at : NULL;                     \
    F *p2 = n_state > 2 ? (F *)state[2] + at : NULL;                                               \
    const F *gradient = (const F *)grad;                                                           \
    F k[CPU_APPLY_NUMBERS];                                                                        \
    for (int i = 0; i < CPU_APPLY_NUMBERS; i++) k[i] = (F)numbers[i];                              \
    _Pragma("GCC ivdep") for (int64_t i = 0; i < n_elem; i++) {                                    \
      F var = p0[i], g = gradient[i], s1 = n_state > 1 ? p1[i] : 0, s2 = n_state > 2 ? p2[i] : 0;  \
      (void)s1, (void)s2;                                                                          \
      __VA_ARGS__                                                                                  \
      p0[i] = var;                                                                                 \
      if (n_state > 1) p1[i] = s1;                                                                 \
      if (n_state > 2) p2[i] = s2;                                                                 \
    }                                                                                              \
  }

#define CPU_APPLY(name, n_state, ...)                                                              \
  CPU_APPLY_LOOP(name##_f32, float, n_state, __VA_ARGS__)                                          \
  CPU_APPLY_LOOP(name##_f64, double, n_state, __VA_ARGS__)

#endif
