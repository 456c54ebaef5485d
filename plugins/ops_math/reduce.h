/* What reductions share: reading the axes, the shape rule, and the loop.
 *
 * A reduction is broadcasting backwards. With the output's shape written with extents of 1 for the
 * axes that go (`kept`), a walk (elementwise.h) over the input in memory order tells for each row
 * where in the output it belongs, and whether the output advances along it or stays: whole rows are
 * folded into one accumulator, or added element by element to a row of accumulators.
 *
 * Accumulators are wider than the elements (double for floats, 64 bits for integers), so that sums
 * of many or of small numbers neither drift nor overflow on the way. */
#ifndef OPS_MATH_REDUCE_H
#define OPS_MATH_REDUCE_H

#include <math.h>
#include <tfsdk/elementwise.h>

/* -------------------------------------------------------------------------------------- axes */

/* The axes as a bit mask. An empty vector reduces nothing; negative axes count from the end. */
static inline tfsdk_status *reduce_mask(const tfsdk_infer *c, const tfsdk_view *axes, int32_t rank,
                                        uint32_t *out) {
  uint32_t mask = 0;
  TFSDK_REQUIRE(c, axes->rank <= 1, "axes must be a scalar or a vector, not of rank %d",
                (int)axes->rank);
  for (int64_t i = 0; i < axes->n_elem; i++) {
    int32_t d = 0;
    TFSDK_TRY(tfsdk_axis(c, tfsdk_view_int(axes, i), rank, &d));
    TFSDK_REQUIRE(c, !(mask >> d & 1u), "axis %d is named twice", (int)d);
    mask |= 1u << d;
  }
  *out = mask;
  return NULL;
}

/* The same where the shape rule has checked them. */
static inline uint32_t reduce_mask_checked(const tfsdk_view *axes, int32_t rank) {
  uint32_t mask = 0;
  for (int64_t i = 0; i < axes->n_elem; i++) {
    int64_t d = tfsdk_view_int(axes, i);
    mask |= 1u << (d < 0 ? d + rank : d);
  }
  return mask;
}

/* The shape of `in` reduced over the axes of input `axis`, as far as it is known. */
static inline tfsdk_status *reduce_shape(const tfsdk_infer *c, const tfsdk_shape *in, uint32_t axis,
                                         int64_t keep_dims, tfsdk_shape *out) {
  const tfsdk_view *axes = c->value[axis];
  tfsdk_shape s = tfsdk_shape_scalar();
  uint32_t mask = 0;
  *out = tfsdk_shape_unknown();
  if (in->rank < 0) return NULL;
  if (axes == NULL) {
    int64_t n = tfsdk_shape_elements(&c->in[axis].shape);
    if (keep_dims)
      *out = tfsdk_shape_of_rank(in->rank);
    else if (n >= 0 && n <= in->rank)
      *out = tfsdk_shape_of_rank(in->rank - (int32_t)n);
    return NULL;
  }
  TFSDK_TRY(reduce_mask(c, axes, in->rank, &mask));
  for (int32_t d = 0; d < in->rank; d++) {
    if (!(mask >> d & 1u))
      s.dim[s.rank++] = in->dim[d];
    else if (keep_dims)
      s.dim[s.rank++] = 1;
  }
  *out = s;
  return NULL;
}
static inline tfsdk_status *reduce_infer(tfsdk_infer *c) {
  return reduce_shape(c, &c->in[0].shape, 1, tfsdk_attr_int(&c->attr, "keep_dims"),
                      &c->out[0].shape);
}

/* ---------------------------------------------------------------------------------- the loop */

typedef struct reduce_job {
  tfsdk_view kept; /* the output with extents of 1 where axes went; no data */
  int64_t dim[TFSDK_MAX_RANK];
  int64_t count; /* elements of the input for each of the output */
} reduce_job;

/* x: the input; axes: its reduced axes. */
static inline void reduce_begin(reduce_job *job, const tfsdk_view *x, const tfsdk_view *axes) {
  uint32_t mask = reduce_mask_checked(axes, x->rank);
  memset(job, 0, sizeof *job);
  job->count = job->kept.n_elem = 1;
  for (int32_t d = 0; d < x->rank; d++) {
    int gone = (mask >> d & 1u) != 0;
    job->dim[d] = gone ? 1 : x->dim[d];
    int64_t *n = gone ? &job->count : &job->kept.n_elem;
    *n = (int64_t)((uint64_t)*n * (uint64_t)x->dim[d]); /* passes 2^63 only beside an extent of 0 */
  }
  job->kept.dim = job->dim;
  job->kept.rank = x->rank;
}

/* The same, told by the output's shape: its axes are x's last ones, and those of extent 1 are
 * reduced. */
static inline void reduce_begin_like(reduce_job *job, const tfsdk_view *x, const tfsdk_view *like) {
  memset(job, 0, sizeof *job);
  job->kept.n_elem = like->n_elem;
  job->kept.rank = like->rank;
  job->kept.dim = like->dim;
}

/* REDUCE(name, LIST, start, fold, result) defines a kernel. The expressions are over T, the
 * accumulator's type (C of the list): `fold` folds the element x into the accumulator s, `result`
 * makes the result of s and the number of elements `count`. They must not contain commas outside
 * parentheses. REDUCE_OVER takes the statement that fills in the job as well. */
#define REDUCE(name, LIST, start, fold, result)                                                    \
  REDUCE_OVER(name, LIST, reduce_begin(&job, in, &r->in[1]), start, fold, result)
#define REDUCE_OVER(name, LIST, begin, start, fold, result)                                        \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    const tfsdk_view *in = &r->in[0];                                                              \
    tfsdk_walk w;                                                                                  \
    reduce_job job;                                                                                \
    void *room;                                                                                    \
    (void)state;                                                                                   \
    begin;                                                                                         \
    if (job.kept.n_elem == 0) return NULL;                                                         \
    TFSDK_TRY(r->api->workspace(r, (size_t)job.kept.n_elem * 8, &room));                           \
    switch (in->dtype) {                                                                           \
      LIST(REDUCE_CASE_, start, fold, result)                                                      \
    default: return tfsdk_ew_no_type(r);                                                           \
    }                                                                                              \
    return NULL;                                                                                   \
  }
#define REDUCE_CASE_(id, S, C, LOAD, STORE, start, fold, result)                                   \
  case TFSDK_##id: {                                                                               \
    typedef C T;                                                                                   \
    const int64_t count = job.count, n_out = job.kept.n_elem;                                      \
    T *acc = (T *)room;                                                                            \
    S *y = (S *)r->out[0].data;                                                                    \
    for (int64_t i = 0; i < n_out; i++) acc[i] = (start);                                          \
    for (tfsdk_walk_begin(&w, &job.kept, 1, in); w.rows > 0; tfsdk_walk_next(&w)) {                \
      const S *row = (const S *)in->data + w.out;                                                  \
      T *to = acc + w.at[0];                                                                       \
      if (w.step[0] == 0) {                                                                        \
        T s = *to;                                                                                 \
        for (int64_t i = 0; i < w.n; i++) {                                                        \
          const T x = (T)LOAD(T, row[i]);                                                          \
          s = (fold);                                                                              \
        }                                                                                          \
        *to = s;                                                                                   \
      } else {                                                                                     \
        for (int64_t i = 0; i < w.n; i++) {                                                        \
          const T s = to[i], x = (T)LOAD(T, row[i]);                                               \
          to[i] = (fold);                                                                          \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
    for (int64_t i = 0; i < n_out; i++) {                                                          \
      const T s = acc[i];                                                                          \
      (void)count;                                                                                 \
      y[i] = STORE(S, (result));                                                                   \
    }                                                                                              \
    break;                                                                                         \
  }

/* Integers in 64-bit accumulators: unsigned, since sums and products wrap around. */
#define REDUCE_SIGNED(X, ...)                                                                      \
  X(INT8, int8_t, uint64_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                           \
  X(INT16, int16_t, uint64_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                         \
  X(INT32, int32_t, uint64_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                         \
  X(INT64, int64_t, uint64_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)
#define REDUCE_UNSIGNED(X, ...)                                                                    \
  X(UINT8, uint8_t, uint64_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                         \
  X(UINT16, uint16_t, uint64_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                       \
  X(UINT32, uint32_t, uint64_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                       \
  X(UINT64, uint64_t, uint64_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)
#define REDUCE_INTS(X, ...)    REDUCE_SIGNED(X, __VA_ARGS__) REDUCE_UNSIGNED(X, __VA_ARGS__)
#define REDUCE_NUMBERS(X, ...) TFSDK_EW_FLOATS_AS_DOUBLE(X, __VA_ARGS__) REDUCE_INTS(X, __VA_ARGS__)

/* The smallest and largest value of a type. */
#define REDUCE_LOWEST(T_)                                                                          \
  _Generic((T_)0, float                                                                            \
           : -INFINITY, double                                                                     \
           : -INFINITY, int8_t                                                                     \
           : INT8_MIN, int16_t                                                                     \
           : INT16_MIN, int32_t                                                                    \
           : INT32_MIN, int64_t                                                                    \
           : INT64_MIN, default : 0)
#define REDUCE_HIGHEST(T_)                                                                         \
  _Generic((T_)0, float                                                                            \
           : INFINITY, double                                                                      \
           : INFINITY, int8_t                                                                      \
           : INT8_MAX, int16_t                                                                     \
           : INT16_MAX, int32_t                                                                    \
           : INT32_MAX, int64_t                                                                    \
           : INT64_MAX, default                                                                    \
           : (T_)-1)

/* ----------------------------------------------------------------------------------- schemas */

#define REDUCE_ARGS(type)                                                                          \
  static const tfsdk_arg in[] = {                                                                  \
      {"input", type, "any shape", 0, 0},                                                          \
      {"reduction_indices", "Tidx",                                                                \
       "the axes to reduce: a scalar or a vector, negative ones count from the end; empty: none",  \
       TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},                                                     \
  };                                                                                               \
  static const tfsdk_arg out[] = {                                                                 \
      {"output", type, "input's shape without the axes, or with 1 in their places", 0, 0}};
#define REDUCE_ATTR_KEEP                                                                           \
  { "keep_dims", "bool", "false", "keep the reduced axes, with extent 1", 0, 0 }
#define REDUCE_ATTR_TIDX                                                                           \
  { "Tidx", "dtype{int32,int64}", "int32", "type of the axes", 0, 0 }
#define REDUCE_ATTRS(types)                                                                        \
  static const tfsdk_attrdef attr[] = {                                                            \
      {"T", types, NULL, "element type", 0, 0}, REDUCE_ATTR_KEEP, REDUCE_ATTR_TIDX};
#define REDUCE_SCHEMA                                                                              \
  .in = in, .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,          \
  .n_attr = TFSDK_COUNT(attr), .infer = reduce_infer, .const_in = 2

#define REDUCE_SAMPLES                                                                             \
  "T[2,3,4] ; int32{1}", "T[2,3,4] ; int32{0,2} | keep_dims=true", "T[2,3] ; int32{-1}",           \
      "T[2,3,4] ; int64{1,2,0}", "T[2,3] ; int32(0)"

#endif
