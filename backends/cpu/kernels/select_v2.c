/* SelectV2 and Select: elements of 4 and 8 bytes, by masks. */
#include "common.h"

#include <tfsdk/elementwise.h>

typedef struct job {
  const uint8_t *condition;
  const char *t, *e;
  char *y;
  int64_t size, step[3];
} job;

#define LOOP(name, U)                                                                              \
  CPU_CLONES static void name(const uint8_t *c, const U *t, const U *e, U *y, int64_t n,           \
                              const int64_t *step) {                                               \
    const U t0 = t[0], e0 = e[0];                                                                  \
    if (step[0] && step[1] && step[2]) {                                                           \
      _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) {                                       \
        const U m = (U)0 - (U)(c[i] != 0);                                                         \
        y[i] = (t[i] & m) | (e[i] & ~m);                                                           \
      }                                                                                            \
    } else if (step[0] && step[1]) {                                                               \
      _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) {                                       \
        const U m = (U)0 - (U)(c[i] != 0);                                                         \
        y[i] = (t[i] & m) | (e0 & ~m);                                                             \
      }                                                                                            \
    } else if (step[0] && step[2]) {                                                               \
      _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) {                                       \
        const U m = (U)0 - (U)(c[i] != 0);                                                         \
        y[i] = (t0 & m) | (e[i] & ~m);                                                             \
      }                                                                                            \
    } else {                                                                                       \
      for (int64_t i = 0; i < n; i++) y[i] = c[i * step[0]] ? t[i * step[1]] : e[i * step[2]];     \
    }                                                                                              \
  }
LOOP(choose32, uint32_t)
LOOP(choose64, uint64_t)

static void row(const job *j, int64_t c, int64_t t, int64_t e, int64_t y, int64_t n) {
  if (j->size == 4)
    choose32(j->condition + c, (const uint32_t *)j->t + t, (const uint32_t *)j->e + e,
             (uint32_t *)j->y + y, n, j->step);
  else
    choose64(j->condition + c, (const uint64_t *)j->t + t, (const uint64_t *)j->e + e,
             (uint64_t *)j->y + y, n, j->step);
}
static void range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  row(j, begin * j->step[0], begin * j->step[1], begin * j->step[2], begin, end - begin);
}

static tfsdk_status *run(tfsdk_run *r, const tfsdk_view *in) {
  const tfsdk_view *y = &r->out[0];
  const int64_t n = y->n_elem;
  job j = {(const uint8_t *)in[0].data,
           (const char *)in[1].data,
           (const char *)in[2].data,
           (char *)y->data,
           (int64_t)tfsdk_dtype_size(y->dtype),
           {0, 0, 0}};
  int simple = 1;
  tfsdk_walk w;
  if (n == 0) return NULL;
  for (int i = 0; i < 3; i++) {
    j.step[i] = in[i].n_elem == n;
    simple = simple && (in[i].n_elem == n || in[i].n_elem == 1);
  }
  if (simple) {
    if (n <= CPU_GRAIN_COPY)
      range(&j, 0, n);
    else
      r->api->par_for(r, n, CPU_GRAIN_COPY, range, &j);
    return NULL;
  }
  for (tfsdk_walk_begin(&w, in, 3, y); w.rows > 0; tfsdk_walk_next(&w)) {
    memcpy(j.step, w.step, sizeof j.step);
    row(&j, w.at[0], w.at[1], w.at[2], w.out, w.n);
  }
  return NULL;
}

static tfsdk_status *compute_v2(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, r->in);
}

/* A vector chooses rows: a column that broadcasts. */
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_view in[3];
  int64_t dim[TFSDK_MAX_RANK];
  (void)state;
  memcpy(in, r->in, sizeof in);
  if (in[0].rank == 1 && in[1].rank > 1) {
    for (int32_t d = 0; d < in[1].rank; d++) dim[d] = d == 0 ? in[0].dim[0] : 1;
    in[0].dim = dim;
    in[0].rank = in[1].rank;
  }
  return run(r, in);
}

static const int32_t types[] = {
    TFSDK_FLOAT32, TFSDK_FLOAT64, TFSDK_INT32, TFSDK_INT64, TFSDK_UINT32, TFSDK_UINT64, 0};
static const tfsdk_where where[] = {{"T", types}};
static const tfsdk_kerneldef kernels[] = {
    {TFSDK_KERNEL_HEAD("SelectV2", "cpu", 100), .label = "vector", .where = where, .n_where = 1,
     .compute = compute_v2},
    {TFSDK_KERNEL_HEAD("Select", "cpu", 100), .label = "vector", .where = where, .n_where = 1,
     .compute = compute}};
TFSDK_UNIT_KERNELS(select_v2, kernels);
