/* What the optimizer steps of this folder share.
 *
 * A step changes a variable and its slots in place, in one pass over memory. Its formula is written
 * once, for one element, and holds for all element types and for whole tensors as well as for rows:
 *
 *     enum { LR, MOMENTUM };
 *     TRAIN_STEP(plain, 2, s1 = s1 * k[MOMENTUM] + g; var -= s1 * k[LR];)
 *
 * In the formula `var` is the variable's element, s1, s2, s3 are those of its slots in the order of
 * the inputs, g is the gradient's, and k[] holds numbers that are the same for all elements.
 * float32 and the 16-bit types are computed in binary32 (rounded once, when an element is stored),
 * float64 in binary64; numbers that are the same for all elements are worked out in binary64.
 */
#ifndef OPS_TRAIN_TRAIN_H
#define OPS_TRAIN_TRAIN_H

#include <math.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>
#include <tgmath.h> /* sqrt, pow, exp, fabs of the type at hand */

#define TRAIN_FLOATS      "dtype{float32,float64,float16,bfloat16}"
#define TRAIN_NO_GRAD     "changes variables; gradients go through reading them"
#define TRAIN_MAX_STATE   4
#define TRAIN_MAX_NUMBERS 12

/* Arguments and attributes, by their roles. The variable and its slots come first; the gradient is
 * called `grad` or `delta`; all else but `indices` is a scalar. */
#define TRAIN_VAR(doc)                                                                             \
  { "var", "resource", doc, TFSDK_ARG_HOST, 0 }
#define TRAIN_SLOT(name, doc)                                                                      \
  { name, "resource", doc, TFSDK_ARG_HOST, 0 }
#define TRAIN_NUMBER(name, doc)                                                                    \
  { name, "T", "a scalar: " doc, 0, 0 }
#define TRAIN_GRAD(name)                                                                           \
  { name, "T", "the gradient, of the variable's shape", 0, 0 }
#define TRAIN_ROWS                                                                                 \
  { "grad", "T", "the gradients of the rows that `indices` names", 0, 0 }
#define TRAIN_INDICES                                                                              \
  { "indices", "Tindices", "a vector: rows of the variable", 0, 0 }
#define TRAIN_ATTR_T                                                                               \
  { "T", TRAIN_FLOATS, NULL, "the type of the variables", 0, 0 }
#define TRAIN_ATTR_TINDICES                                                                        \
  { "Tindices", "dtype{int32,int64}", NULL, "the type of `indices`", 0, 0 }
#define TRAIN_ATTR_LOCKING                                                                         \
  { "use_locking", "bool", "false", "accepted for TensorFlow's sake; has no effect", 0, 0 }
#define TRAIN_SPARSE_DOC                                                                           \
  " Only the rows that `indices` names are touched, in the order of `indices`; a row that is "     \
  "named twice is changed twice."

/* ------------------------------------------------------------------------------------- formulas */

/* Changes n elements from `at` on of the variable and slots s[0..3] by the gradients g. */
typedef void train_step_fn(int64_t n, void *const s[TRAIN_MAX_STATE], int64_t at, const void *g,
                           const double *numbers);

/* For each element type: its name, the C type, the type to compute in, how to load and to store. */
#define TRAIN_SAME(x) (x)
#define TRAIN_TYPES(X, name, n_state, ...)                                                         \
  X(name, f32, float, float, TRAIN_SAME, TRAIN_SAME, n_state, __VA_ARGS__)                         \
  X(name, f64, double, double, TRAIN_SAME, TRAIN_SAME, n_state, __VA_ARGS__)                       \
  X(name, f16, uint16_t, float, tfsdk_from_half, tfsdk_to_half, n_state, __VA_ARGS__)              \
  X(name, bf16, uint16_t, float, tfsdk_from_bfloat16, tfsdk_to_bfloat16, n_state, __VA_ARGS__)

#define TRAIN_LOOP(name, suffix, S, F, LOAD, STORE, n_state, ...)                                  \
  static void name##_##suffix(int64_t n_elem, void *const state[TRAIN_MAX_STATE], int64_t at,      \
                              const void *grad, const double *numbers) {                           \
    S *restrict p0 = (S *)state[0] + at, *restrict p1 = n_state > 1 ? (S *)state[1] + at : NULL;   \
    S *restrict p2 = n_state > 2 ? (S *)state[2] + at : NULL;                                      \
    S *restrict p3 = n_state > 3 ? (S *)state[3] + at : NULL;                                      \
    const S *restrict gradient = (const S *)grad;                                                  \
    typedef F number;                                                                              \
    number k[TRAIN_MAX_NUMBERS];                                                                   \
    for (int i = 0; i < TRAIN_MAX_NUMBERS; i++) k[i] = (F)numbers[i];                              \
    for (int64_t i = 0; i < n_elem; i++) {                                                         \
      F var = LOAD(p0[i]), g = LOAD(gradient[i]);                                                  \
      F s1 = n_state > 1 ? LOAD(p1[i]) : 0, s2 = n_state > 2 ? LOAD(p2[i]) : 0;                    \
      F s3 = n_state > 3 ? LOAD(p3[i]) : 0;                                                        \
      (void)k, (void)s1, (void)s2, (void)s3;                                                       \
      __VA_ARGS__                                                                                  \
      p0[i] = STORE(var);                                                                          \
      if (n_state > 1) p1[i] = STORE(s1);                                                          \
      if (n_state > 2) p2[i] = STORE(s2);                                                          \
      if (n_state > 3) p3[i] = STORE(s3);                                                          \
    }                                                                                              \
  }

/* Defines the step `name` for all element types, out of the formula for one element. */
#define TRAIN_STEP(name, n_state, ...)                                                             \
  TRAIN_TYPES(TRAIN_LOOP, name, n_state, __VA_ARGS__)                                              \
  static const train_step name = {n_state, {name##_f32, name##_f64, name##_f16, name##_bf16}};

typedef struct train_step {
  uint32_t n_state; /* the variable and its slots */
  train_step_fn *fn[4];
} train_step;

static inline train_step_fn *train_fn(const train_step *step, int32_t dtype) {
  return dtype == TFSDK_FLOAT32   ? step->fn[0]
         : dtype == TFSDK_FLOAT64 ? step->fn[1]
         : dtype == TFSDK_FLOAT16 ? step->fn[2]
                                  : step->fn[3];
}

/* In a formula: -1, 0 or 1, as a number of the type at hand. */
#define TRAIN_SIGN(x) ((number)(((x) > 0) - ((x) < 0)))

/* ---------------------------------------------------------------------------------- shape rules */

static inline tfsdk_status *train_differ(const tfsdk_host *host, const char *a,
                                         const tfsdk_shape *sa, const char *b,
                                         const tfsdk_shape *sb) {
  return host->fail(host, TFSDK_INVALID_ARGUMENT, __FILE__, __LINE__,
                    "'%s' and '%s' must have the same shape, but they have %s and %s", a, b,
                    tfsdk_shape_text(sa).s, tfsdk_shape_text(sb).s);
}

/* The variable and its slots are the resource inputs; the gradient is the one input called `grad`
 * or `delta`; all other inputs but `indices` are scalars. */
static inline int train_is_grad(const char *name) {
  return strcmp(name, "grad") == 0 || strcmp(name, "delta") == 0;
}
static inline int train_compatible(const tfsdk_shape *a, const tfsdk_shape *b) {
  if (a->rank < 0 || b->rank < 0) return 1;
  if (a->rank != b->rank) return 0;
  for (int32_t i = 0; i < a->rank; i++)
    if (a->dim[i] >= 0 && b->dim[i] >= 0 && a->dim[i] != b->dim[i]) return 0;
  return 1;
}
/* Gradients of rows: (rows, extents of one row). */
static inline tfsdk_status *train_infer_rows(const tfsdk_infer *c, uint32_t grad,
                                             uint32_t indices) {
  const tfsdk_shape *var = &c->in[0].shape, *g = &c->in[grad].shape;
  tfsdk_shape vector, row;
  TFSDK_TRY(tfsdk_with_rank(c, indices, 1, &vector));
  if (var->rank < 0 || g->rank < 0) return NULL;
  TFSDK_REQUIRE(c, var->rank > 0, "'var' is a scalar and has no rows for 'indices' to name");
  row = *var;
  row.dim[0] = vector.dim[0];
  TFSDK_REQUIRE(c, train_compatible(g, &row),
                "'grad' has shape %s, but rows of 'var', of shape %s, for %s of 'indices' have %s",
                tfsdk_shape_text(g).s, tfsdk_shape_text(var).s, tfsdk_shape_text(&vector).s,
                tfsdk_shape_text(&row).s);
  return NULL;
}
static inline tfsdk_status *train_infer(tfsdk_infer *c) {
  uint32_t grad = 0, indices = 0;
  for (uint32_t i = 0; i < c->n_in; i++) {
    const char *name = c->op->in[i].name;
    tfsdk_shape scalar;
    if (c->in[i].dtype == TFSDK_RESOURCE) {
      if (!train_compatible(&c->in[0].shape, &c->in[i].shape))
        return train_differ(c->host, "var", &c->in[0].shape, name, &c->in[i].shape);
    } else if (train_is_grad(name)) {
      grad = i;
    } else if (strcmp(name, "indices") == 0) {
      indices = i;
    } else {
      TFSDK_TRY(tfsdk_with_rank(c, i, 0, &scalar));
    }
  }
  if (indices != 0) return train_infer_rows(c, grad, indices);
  if (!train_compatible(&c->in[0].shape, &c->in[grad].shape))
    return train_differ(c->host, "var", &c->in[0].shape, c->op->in[grad].name, &c->in[grad].shape);
  return NULL;
}

/* -------------------------------------------------------------------------------------- running */

/* Input i, which is a scalar. */
static inline double train_number(const tfsdk_run *r, uint32_t i) {
  return tfsdk_view_number(&r->in[i], 0);
}
static inline int train_flag(const tfsdk_run *r, const char *name) {
  return tfsdk_attr_int(&r->attr, name) != 0;
}

/* Lends the variable and its slots. Shape rules saw static shapes only: values are checked here. */
static inline tfsdk_status *train_open(tfsdk_run *r, uint32_t n_state, int32_t dtype,
                                       tfsdk_view v[TRAIN_MAX_STATE], void *s[TRAIN_MAX_STATE]) {
  for (uint32_t i = 0; i < TRAIN_MAX_STATE; i++) s[i] = NULL;
  for (uint32_t i = 0; i < n_state; i++) {
    tfsdk_shape first, shape;
    TFSDK_TRY(r->api->var_mutable(r, i, &v[i]));
    first = tfsdk_shape_of_view(&v[0]);
    shape = tfsdk_shape_of_view(&v[i]);
    TFSDK_REQUIRE(r, v[i].dtype == dtype, "'%s' holds %s, but the gradient is %s",
                  r->op->in[i].name, tfsdk_dtype_name(v[i].dtype), tfsdk_dtype_name(dtype));
    if (!train_compatible(&first, &shape))
      return train_differ(r->host, "var", &first, r->op->in[i].name, &shape);
    s[i] = v[i].data;
  }
  return NULL;
}

typedef struct train_job {
  train_step_fn *fn;
  void *s[TRAIN_MAX_STATE];
  const char *grad;
  size_t size;
  const double *numbers;
} train_job;

static inline void train_range(void *user, int64_t begin, int64_t end) {
  const train_job *job = (const train_job *)user;
  job->fn(end - begin, job->s, begin, job->grad + (size_t)begin * job->size, job->numbers);
}

/* Steps the whole variable. `grad` is the gradient's input. */
static inline tfsdk_status *train_dense(tfsdk_run *r, const train_step *step, uint32_t grad,
                                        const double *numbers) {
  const tfsdk_view *g = &r->in[grad];
  tfsdk_view v[TRAIN_MAX_STATE];
  tfsdk_shape have, want = tfsdk_shape_of_view(g);
  train_job job;
  TFSDK_TRY(train_open(r, step->n_state, g->dtype, v, job.s));
  have = tfsdk_shape_of_view(&v[0]);
  if (!train_compatible(&have, &want))
    return train_differ(r->host, "var", &have, r->op->in[grad].name, &want);
  if (g->n_elem == 0) return NULL;
  job.fn = train_fn(step, g->dtype);
  job.grad = (const char *)g->data;
  job.size = tfsdk_dtype_size(g->dtype);
  job.numbers = numbers;
  r->api->par_for(r, g->n_elem, 16384, train_range, &job);
  return NULL;
}

/* Steps the rows that input `indices` names, one after another in its order. All of them are
 * checked before any is changed. */
static inline tfsdk_status *train_sparse(tfsdk_run *r, const train_step *step, uint32_t grad,
                                         uint32_t indices, const double *numbers) {
  const tfsdk_view *g = &r->in[grad], *idx = &r->in[indices];
  tfsdk_view v[TRAIN_MAX_STATE];
  tfsdk_shape have, want = tfsdk_shape_of_view(g);
  void *s[TRAIN_MAX_STATE];
  train_step_fn *fn = train_fn(step, g->dtype);
  int64_t row;
  TFSDK_TRY(train_open(r, step->n_state, g->dtype, v, s));
  have = tfsdk_shape_of_view(&v[0]);
  TFSDK_REQUIRE(r, have.rank > 0, "'var' is a scalar and has no rows for 'indices' to name");
  have.dim[0] = idx->n_elem;
  if (!train_compatible(&have, &want))
    return train_differ(r->host, "the rows of var", &have, r->op->in[grad].name, &want);
  for (int64_t i = 0; i < idx->n_elem; i++) {
    int64_t at = tfsdk_view_int(idx, i);
    TFSDK_REQUIRE(r, at >= 0 && at < v[0].dim[0],
                  "indices[%lld] is %lld, but 'var' has rows 0..%lld", (long long)i, (long long)at,
                  (long long)v[0].dim[0] - 1);
  }
  if (g->n_elem == 0) return NULL;
  row = g->n_elem / idx->n_elem;
  for (int64_t i = 0; i < idx->n_elem; i++)
    fn(row, s, tfsdk_view_int(idx, i) * row,
       (const char *)g->data + (size_t)(i * row) * tfsdk_dtype_size(g->dtype), numbers);
  return NULL;
}

/* -------------------------------------------------------------------------------------- records */

/* The fields that all records of this folder have alike. */
#define TRAIN_RECORD(in_, attr_, run_, samples_)                                                   \
  .flags = TFSDK_OP_STATEFUL, .in = in_, .n_in = TFSDK_COUNT(in_), .attr = attr_,                  \
  .n_attr = TFSDK_COUNT(attr_), .infer = train_infer, .reference = run_,                           \
  .no_grad_reason = TRAIN_NO_GRAD, .samples = samples_

#endif
