/* Greater, GreaterEqual, Less, LessEqual, Equal, NotEqual of float32, float64, int32 and int64. */
#include "common.h"

#include <tfsdk/elementwise.h>

/* n elements; a and b advance by their steps, 1 or 0. */
typedef void compare_fn(const void *a, const void *b, uint8_t *z, int64_t n, int64_t a_step,
                        int64_t b_step);

typedef struct job {
  compare_fn *fn;
  const char *a, *b;
  uint8_t *z;
  int64_t size, a_step, b_step;
} job;

static void range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  j->fn(j->a + begin * j->a_step * j->size, j->b + begin * j->b_step * j->size, j->z + begin,
        end - begin, j->a_step, j->b_step);
}

#define LOOP(name, T, OP)                                                                          \
  CPU_CLONES static void name(const void *in0, const void *in1, uint8_t *z, int64_t n,             \
                              int64_t a_step, int64_t b_step) {                                    \
    const T *a = (const T *)in0, *b = (const T *)in1, a0 = a[0], b0 = b[0];                        \
    if (a_step != 0 && b_step != 0)                                                                \
      for (int64_t i = 0; i < n; i++) z[i] = (uint8_t)(a[i] OP b[i]);                              \
    else if (a_step != 0)                                                                          \
      for (int64_t i = 0; i < n; i++) z[i] = (uint8_t)(a[i] OP b0);                                \
    else                                                                                           \
      for (int64_t i = 0; i < n; i++) z[i] = (uint8_t)(a0 OP b[i * b_step]);                       \
  }
#define COMPARISON(name, OP)                                                                       \
  LOOP(name##_f32, float, OP)                                                                      \
  LOOP(name##_f64, double, OP)                                                                     \
  LOOP(name##_i32, int32_t, OP)                                                                    \
  LOOP(name##_i64, int64_t, OP)                                                                    \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    (void)state;                                                                                   \
    switch (r->in[0].dtype) {                                                                      \
    case TFSDK_FLOAT32: return run(r, name##_f32, 4);                                              \
    case TFSDK_FLOAT64: return run(r, name##_f64, 8);                                              \
    case TFSDK_INT32: return run(r, name##_i32, 4);                                                \
    default: return run(r, name##_i64, 8);                                                         \
    }                                                                                              \
  }

static tfsdk_status *run(tfsdk_run *r, compare_fn *fn, int64_t size) {
  const tfsdk_view *a = &r->in[0], *b = &r->in[1], *z = &r->out[0];
  job j = {fn, (const char *)a->data, (const char *)b->data, (uint8_t *)z->data, size, 1, 1};
  tfsdk_walk w;
  if (z->n_elem == 0) return NULL;
  if ((a->n_elem == z->n_elem || a->n_elem == 1) && (b->n_elem == z->n_elem || b->n_elem == 1)) {
    j.a_step = a->n_elem == z->n_elem, j.b_step = b->n_elem == z->n_elem;
    if (z->n_elem <= CPU_GRAIN_COPY)
      range(&j, 0, z->n_elem);
    else
      r->api->par_for(r, z->n_elem, CPU_GRAIN_COPY, range, &j);
    return NULL;
  }
  for (tfsdk_walk_begin(&w, r->in, 2, z); w.rows > 0; tfsdk_walk_next(&w))
    fn(j.a + w.at[0] * size, j.b + w.at[1] * size, j.z + w.out, w.n, w.step[0], w.step[1]);
  return NULL;
}

COMPARISON(greater, >)
COMPARISON(greater_equal, >=)
COMPARISON(less, <)
COMPARISON(less_equal, <=)
COMPARISON(equal, ==)
COMPARISON(not_equal, !=)

/* Shapes that do not broadcast need not be an error for Equal and NotEqual. */
static tfsdk_status *supports(const tfsdk_kbuild *b, int32_t *yes, char *why, size_t why_n) {
  if (!tfsdk_attr_int(&b->attr, "incompatible_shape_error"))
    CPU_CANNOT("only with incompatible_shape_error");
  *yes = 1;
  return NULL;
}

static const int32_t types[] = {TFSDK_FLOAT32, TFSDK_FLOAT64, TFSDK_INT32, TFSDK_INT64, 0};
static const tfsdk_where where[] = {{"T", types}};
#define RECORD(op, fn, may)                                                                        \
  {                                                                                                \
    TFSDK_KERNEL_HEAD(op, "cpu", 100), .label = "vector", .where = where, .n_where = 1,            \
                                       .supports = may, .compute = fn                              \
  }
static const tfsdk_kerneldef kernels[] = {
    RECORD("Greater", greater, NULL), RECORD("GreaterEqual", greater_equal, NULL),
    RECORD("Less", less, NULL),       RECORD("LessEqual", less_equal, NULL),
    RECORD("Equal", equal, supports), RECORD("NotEqual", not_equal, supports)};
TFSDK_UNIT_KERNELS(greater, kernels);
