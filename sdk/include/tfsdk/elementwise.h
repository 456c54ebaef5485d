/* tfsdk/elementwise.h - element-wise ops in a few lines: type dispatch, broadcasting, schema.
 * Header only.
 *
 * A whole op, for four types, with NumPy broadcasting:
 *
 *     #include <tfsdk/elementwise.h>
 *     #include <tgmath.h>
 *     TFSDK_BINARY(compute, TFSDK_EW_FLOATS, sqrt(a * a + b * b))
 *     static const char *const samples[] = {"T[2,3](0.5,2) ; T[3](0.5,2)", NULL};
 *     static const tfsdk_opdef ops[] = {{
 *         TFSDK_OP_HEAD("acme.Hypot", "the length of (x, y)"), TFSDK_EW_BINARY_SCHEMA,
 *         TFSDK_EW_T(TFSDK_T_FLOATS), .doc = "z = sqrt(x^2 + y^2)", .reference = compute,
 *         .no_grad_reason = "left out of this example", .samples = samples}};
 *     TFSDK_UNIT_OPS(hypot, ops);
 *
 * A kernel is an expression over the elements `x` (unary) or `a`, `b`, `c` (binary, ternary) which
 * is compiled once for each type of a type list. Inside it `T` is the type computed in, so that
 * constants are written (T)0.5 and nothing is promoted to double by accident. With <tgmath.h> the
 * functions of the C library follow T as well: exp(x) is expf for floats.
 *
 * What kernels made here promise: any rank up to TFSDK_MAX_RANK, empty tensors, in-place operation
 * on an input of the output's shape, no memory allocated, no floating-point reassociation. One
 * thread: they are reference kernels.
 */
#ifndef TFSDK_ELEMENTWISE_H
#define TFSDK_ELEMENTWISE_H

#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------- type lists
 *
 * A list calls X(ID, S, C, LOAD, STORE, ...) for each of its types: TFSDK_ID is the dtype, S the
 * type in memory, C the type to compute in (the kernel's T), LOAD(C, element) and STORE(S, value)
 * go between them; what follows X in the list's call is handed on.
 *
 * 16-bit floats are computed in float (or double) and rounded to nearest even, once, when stored.
 *
 * In the WRAP lists integers are computed unsigned, at least 32 bits wide: + - * and shifts to the
 * left then wrap around, as the result modulo 2^n is that of two's complement, without the
 * undefined behaviour of signed overflow. Comparison, division and shifts to the right need the
 * plain lists. */

#define TFSDK_EW_PLAIN(T_, v)      ((T_)(v))
#define TFSDK_EW_NARROW(v)         (tfsdk_round_to_odd((double)(v))) /* of a float: itself */
#define TFSDK_EW_LOAD_HALF(T_, v)  (tfsdk_from_half(v))
#define TFSDK_EW_STORE_HALF(S_, v) (tfsdk_to_half(TFSDK_EW_NARROW(v)))
#define TFSDK_EW_LOAD_BF16(T_, v)  (tfsdk_from_bfloat16(v))
#define TFSDK_EW_STORE_BF16(S_, v) (tfsdk_to_bfloat16(TFSDK_EW_NARROW(v)))
#define TFSDK_EW_STORE_BOOL(S_, v) ((S_)((v) ? 1 : 0))

#define TFSDK_EW_FLOATS(X, ...)                                                                    \
  X(FLOAT32, float, float, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                            \
  X(FLOAT64, double, double, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                          \
  X(FLOAT16, uint16_t, float, TFSDK_EW_LOAD_HALF, TFSDK_EW_STORE_HALF, __VA_ARGS__)                \
  X(BFLOAT16, uint16_t, float, TFSDK_EW_LOAD_BF16, TFSDK_EW_STORE_BF16, __VA_ARGS__)
/* The same, computed in double: for functions that are accurate only so. */
#define TFSDK_EW_FLOATS_AS_DOUBLE(X, ...)                                                          \
  X(FLOAT32, float, double, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                           \
  X(FLOAT64, double, double, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                          \
  X(FLOAT16, uint16_t, double, TFSDK_EW_LOAD_HALF, TFSDK_EW_STORE_HALF, __VA_ARGS__)               \
  X(BFLOAT16, uint16_t, double, TFSDK_EW_LOAD_BF16, TFSDK_EW_STORE_BF16, __VA_ARGS__)

#define TFSDK_EW_SIGNED(X, ...)                                                                    \
  X(INT8, int8_t, int8_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                             \
  X(INT16, int16_t, int16_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                          \
  X(INT32, int32_t, int32_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                          \
  X(INT64, int64_t, int64_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)
#define TFSDK_EW_UNSIGNED(X, ...)                                                                  \
  X(UINT8, uint8_t, uint8_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                          \
  X(UINT16, uint16_t, uint16_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                       \
  X(UINT32, uint32_t, uint32_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                       \
  X(UINT64, uint64_t, uint64_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)
#define TFSDK_EW_SIGNED_WRAP(X, ...)                                                               \
  X(INT8, int8_t, uint32_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                           \
  X(INT16, int16_t, uint32_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                         \
  X(INT32, int32_t, uint32_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                         \
  X(INT64, int64_t, uint64_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)
#define TFSDK_EW_UNSIGNED_WRAP(X, ...)                                                             \
  X(UINT8, uint8_t, uint32_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                         \
  X(UINT16, uint16_t, uint32_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                       \
  X(UINT32, uint32_t, uint32_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)                       \
  X(UINT64, uint64_t, uint64_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)
#define TFSDK_EW_BOOL(X, ...)                                                                      \
  X(BOOL, uint8_t, uint8_t, TFSDK_EW_PLAIN, TFSDK_EW_STORE_BOOL, __VA_ARGS__)

#define TFSDK_EW_INTS(X, ...) TFSDK_EW_SIGNED(X, __VA_ARGS__) TFSDK_EW_UNSIGNED(X, __VA_ARGS__)
#define TFSDK_EW_INTS_WRAP(X, ...)                                                                 \
  TFSDK_EW_SIGNED_WRAP(X, __VA_ARGS__) TFSDK_EW_UNSIGNED_WRAP(X, __VA_ARGS__)
#define TFSDK_EW_NUMBERS(X, ...) TFSDK_EW_FLOATS(X, __VA_ARGS__) TFSDK_EW_INTS(X, __VA_ARGS__)
#define TFSDK_EW_NUMBERS_WRAP(X, ...)                                                              \
  TFSDK_EW_FLOATS(X, __VA_ARGS__) TFSDK_EW_INTS_WRAP(X, __VA_ARGS__)
/* Every type whose elements are plain bytes of known size: for ops that move elements around. */
#define TFSDK_EW_ANY(X, ...) TFSDK_EW_NUMBERS(X, __VA_ARGS__) TFSDK_EW_BOOL(X, __VA_ARGS__)

/* The same sets as types of a dtype attribute. */
#define TFSDK_T_FLOATS        "dtype{float32,float64,float16,bfloat16}"
#define TFSDK_T_SIGNED        "dtype{int8,int16,int32,int64}"
#define TFSDK_T_FLOATS_SIGNED "dtype{float32,float64,float16,bfloat16,int8,int16,int32,int64}"
#define TFSDK_T_INTS          "dtype{int8,int16,int32,int64,uint8,uint16,uint32,uint64}"
#define TFSDK_T_NUMBERS                                                                            \
  "dtype{float32,float64,float16,bfloat16,int8,int16,int32,int64,uint8,uint16,uint32,uint64}"
#define TFSDK_T_ANY                                                                                \
  "dtype{float32,float64,float16,bfloat16,int8,int16,int32,int64,uint8,uint16,uint32,uint64,bool}"

/* ------------------------------------------------------------------------------ broadcasting
 *
 * Walks the output in memory order, one row at a time; along a row each input advances by one
 * element or stays where it is. Neighbouring axes over which every input does the same are taken as
 * one, so that equal shapes, and tensor with scalar, are a single row.
 *
 *     tfsdk_walk w;
 *     for (tfsdk_walk_begin(&w, r->in, 2, &r->out[0]); w.rows > 0; tfsdk_walk_next(&w))
 *       for (int64_t i = 0; i < w.n; i++)
 *         z[w.out + i] = x[w.at[0] + i * w.step[0]] + y[w.at[1] + i * w.step[1]];
 */
#define TFSDK_WALK_MAX 4

typedef struct tfsdk_walk {
  int64_t n;                    /* elements of a row */
  int64_t rows;                 /* rows left, this one included; 0 for empty outputs */
  int64_t out;                  /* where this row begins in the output */
  int64_t at[TFSDK_WALK_MAX];   /* where it begins in each input */
  int64_t step[TFSDK_WALK_MAX]; /* 1 or 0: how each input advances along it */
  /* the odometer: axes outside the row, outermost first */
  int32_t n_in, n_axes;
  int64_t dim[TFSDK_MAX_RANK], index[TFSDK_MAX_RANK];
  int64_t stride[TFSDK_WALK_MAX][TFSDK_MAX_RANK];
} tfsdk_walk;

/* A kernel calls these once for each type of its list: one copy of them is enough. */
#if defined(__GNUC__) || defined(__clang__)
#define TFSDK_EW_ONCE __attribute__((noinline, unused)) static
#else
#define TFSDK_EW_ONCE static inline
#endif

/* The shapes must broadcast to the output's: what the shape rule has checked. n_in <=
 * TFSDK_WALK_MAX. */
TFSDK_EW_ONCE void tfsdk_walk_begin(tfsdk_walk *w, const tfsdk_view *in, uint32_t n_in,
                                    const tfsdk_view *out) {
  int64_t volume[TFSDK_WALK_MAX];
  uint32_t still =
      ~0u; /* bit k: input k stays put over the present group of axes; ~0: no group yet */
  int32_t group = TFSDK_MAX_RANK; /* groups are laid down from the back of the arrays */
  memset(w, 0, sizeof *w);
  w->n_in = (int32_t)n_in;
  w->n = 1;
  w->rows = out->n_elem > 0 ? 1 : 0;
  if (w->rows == 0) return;
  for (uint32_t k = 0; k < n_in; k++) volume[k] = 1;
  for (int32_t d = out->rank - 1; d >= 0; d--) {
    uint32_t put = 0;
    if (out->dim[d] == 1) continue;
    for (uint32_t k = 0; k < n_in; k++) {
      int32_t own = d - (out->rank - in[k].rank);
      if (own < 0 || in[k].dim[own] == 1) put |= 1u << k;
    }
    if (put != still) {
      group--;
      w->dim[group] = 1;
      for (uint32_t k = 0; k < n_in; k++) w->stride[k][group] = put >> k & 1u ? 0 : volume[k];
      still = put;
    }
    w->dim[group] *= out->dim[d];
    for (uint32_t k = 0; k < n_in; k++)
      if (!(put >> k & 1u)) volume[k] *= out->dim[d];
  }
  if (group == TFSDK_MAX_RANK) return; /* one element */
  w->n = w->dim[TFSDK_MAX_RANK - 1];
  for (uint32_t k = 0; k < n_in; k++) w->step[k] = w->stride[k][TFSDK_MAX_RANK - 1];
  w->n_axes = TFSDK_MAX_RANK - 1 - group;
  for (int32_t d = 0; d < w->n_axes; d++) {
    w->dim[d] = w->dim[group + d];
    w->rows *= w->dim[d];
    for (uint32_t k = 0; k < n_in; k++) w->stride[k][d] = w->stride[k][group + d];
  }
}

TFSDK_EW_ONCE void tfsdk_walk_next(tfsdk_walk *w) {
  w->rows--;
  w->out += w->n;
  for (int32_t d = w->n_axes - 1; d >= 0; d--) {
    for (int32_t k = 0; k < w->n_in; k++) w->at[k] += w->stride[k][d];
    if (++w->index[d] < w->dim[d]) return;
    for (int32_t k = 0; k < w->n_in; k++) w->at[k] -= w->stride[k][d] * w->dim[d];
    w->index[d] = 0;
  }
}

/* ----------------------------------------------------------------------------------- kernels
 *
 * Each macro defines a static function of that name, ready to be a record's `reference`. LIST is a
 * type list; the dtype of input 0 chooses. The _WITH forms run a declaration first, with the run
 * `r` in scope:
 *
 *     TFSDK_UNARY_WITH(compute, TFSDK_EW_FLOATS,
 *                      const double slope = tfsdk_attr_float(&r->attr, "slope");, x > 0 ? x :
 * (T)slope * x)
 *
 *   TFSDK_UNARY      y = f(x)               output of the type of x
 *   TFSDK_PREDICATE  y = f(x) as a bool
 *   TFSDK_BINARY     z = f(a, b)            broadcasting, output of the type of a and b
 *   TFSDK_COMPARE    z = f(a, b) as a bool  broadcasting
 *   TFSDK_TERNARY    z = f(a, b, c)         broadcasting
 */

TFSDK_EW_ONCE tfsdk_status *tfsdk_ew_no_type(tfsdk_run *r) {
  return TFSDK_FAIL(r, UNIMPLEMENTED, "no reference kernel for %s",
                    tfsdk_dtype_name(r->in[0].dtype));
}

#define TFSDK_UNARY(name, LIST, ...) TFSDK_UNARY_WITH(name, LIST, , __VA_ARGS__)
#define TFSDK_UNARY_WITH(name, LIST, before, ...)                                                  \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    const int64_t n_ = r->out[0].n_elem;                                                           \
    before;                                                                                        \
    (void)state;                                                                                   \
    switch (r->in[0].dtype) {                                                                      \
      LIST(TFSDK_EW_UNARY_CASE_, __VA_ARGS__)                                                      \
    default: return tfsdk_ew_no_type(r);                                                           \
    }                                                                                              \
    return NULL;                                                                                   \
  }
#define TFSDK_EW_UNARY_CASE_(id, S, C, LOAD, STORE, ...)                                           \
  case TFSDK_##id: {                                                                               \
    typedef C T;                                                                                   \
    const S *x_ = (const S *)r->in[0].data;                                                        \
    S *y_ = (S *)r->out[0].data;                                                                   \
    for (int64_t i_ = 0; i_ < n_; i_++) {                                                          \
      const T x = LOAD(T, x_[i_]);                                                                 \
      y_[i_] = STORE(S, (__VA_ARGS__));                                                            \
    }                                                                                              \
    break;                                                                                         \
  }

#define TFSDK_PREDICATE(name, LIST, ...)                                                           \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    const int64_t n_ = r->out[0].n_elem;                                                           \
    uint8_t *y_ = (uint8_t *)r->out[0].data;                                                       \
    (void)state;                                                                                   \
    switch (r->in[0].dtype) {                                                                      \
      LIST(TFSDK_EW_PREDICATE_CASE_, __VA_ARGS__)                                                  \
    default: return tfsdk_ew_no_type(r);                                                           \
    }                                                                                              \
    return NULL;                                                                                   \
  }
#define TFSDK_EW_PREDICATE_CASE_(id, S, C, LOAD, STORE, ...)                                       \
  case TFSDK_##id: {                                                                               \
    typedef C T;                                                                                   \
    const S *x_ = (const S *)r->in[0].data;                                                        \
    for (int64_t i_ = 0; i_ < n_; i_++) {                                                          \
      const T x = LOAD(T, x_[i_]);                                                                 \
      y_[i_] = (uint8_t)((__VA_ARGS__) ? 1 : 0);                                                   \
    }                                                                                              \
    break;                                                                                         \
  }

#define TFSDK_BINARY(name, LIST, ...) TFSDK_BINARY_WITH(name, LIST, , __VA_ARGS__)
#define TFSDK_BINARY_WITH(name, LIST, before, ...)                                                 \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    tfsdk_walk w_;                                                                                 \
    before;                                                                                        \
    (void)state;                                                                                   \
    switch (r->in[0].dtype) {                                                                      \
      LIST(TFSDK_EW_BINARY_CASE_, __VA_ARGS__)                                                     \
    default: return tfsdk_ew_no_type(r);                                                           \
    }                                                                                              \
    return NULL;                                                                                   \
  }
#define TFSDK_EW_BINARY_CASE_(id, S, C, LOAD, STORE, ...)                                          \
  case TFSDK_##id:                                                                                 \
    TFSDK_EW_BINARY_LOOP_(S, C, LOAD, S, STORE, __VA_ARGS__) break;

#define TFSDK_COMPARE(name, LIST, ...) TFSDK_COMPARE_WITH(name, LIST, , __VA_ARGS__)
#define TFSDK_COMPARE_WITH(name, LIST, before, ...)                                                \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    tfsdk_walk w_;                                                                                 \
    before;                                                                                        \
    (void)state;                                                                                   \
    switch (r->in[0].dtype) {                                                                      \
      LIST(TFSDK_EW_COMPARE_CASE_, __VA_ARGS__)                                                    \
    default: return tfsdk_ew_no_type(r);                                                           \
    }                                                                                              \
    return NULL;                                                                                   \
  }
#define TFSDK_EW_COMPARE_CASE_(id, S, C, LOAD, STORE, ...)                                         \
  case TFSDK_##id:                                                                                 \
    TFSDK_EW_BINARY_LOOP_(S, C, LOAD, uint8_t, TFSDK_EW_STORE_BOOL, __VA_ARGS__) break;

/* Rows in which both inputs advance have a loop of their own, which compilers vectorise. */
#define TFSDK_EW_BINARY_LOOP_(S, C, LOAD, O, STORE, ...)                                           \
  {                                                                                                \
    typedef C T;                                                                                   \
    for (tfsdk_walk_begin(&w_, r->in, 2, &r->out[0]); w_.rows > 0; tfsdk_walk_next(&w_)) {         \
      const S *a_ = (const S *)r->in[0].data + w_.at[0];                                           \
      const S *b_ = (const S *)r->in[1].data + w_.at[1];                                           \
      O *z_ = (O *)r->out[0].data + w_.out;                                                        \
      if (w_.step[0] != 0 && w_.step[1] != 0) {                                                    \
        for (int64_t i_ = 0; i_ < w_.n; i_++) {                                                    \
          const T a = LOAD(T, a_[i_]), b = LOAD(T, b_[i_]);                                        \
          z_[i_] = STORE(O, (__VA_ARGS__));                                                        \
        }                                                                                          \
      } else {                                                                                     \
        for (int64_t i_ = 0; i_ < w_.n; i_++) {                                                    \
          const T a = LOAD(T, a_[i_ * w_.step[0]]), b = LOAD(T, b_[i_ * w_.step[1]]);              \
          z_[i_] = STORE(O, (__VA_ARGS__));                                                        \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
  }

#define TFSDK_TERNARY(name, LIST, ...)                                                             \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    tfsdk_walk w_;                                                                                 \
    (void)state;                                                                                   \
    switch (r->in[0].dtype) {                                                                      \
      LIST(TFSDK_EW_TERNARY_CASE_, __VA_ARGS__)                                                    \
    default: return tfsdk_ew_no_type(r);                                                           \
    }                                                                                              \
    return NULL;                                                                                   \
  }
#define TFSDK_EW_TERNARY_CASE_(id, S, C, LOAD, STORE, ...)                                         \
  case TFSDK_##id: {                                                                               \
    typedef C T;                                                                                   \
    for (tfsdk_walk_begin(&w_, r->in, 3, &r->out[0]); w_.rows > 0; tfsdk_walk_next(&w_)) {         \
      const S *a_ = (const S *)r->in[0].data + w_.at[0];                                           \
      const S *b_ = (const S *)r->in[1].data + w_.at[1];                                           \
      const S *c_ = (const S *)r->in[2].data + w_.at[2];                                           \
      S *z_ = (S *)r->out[0].data + w_.out;                                                        \
      for (int64_t i_ = 0; i_ < w_.n; i_++) {                                                      \
        const T a = LOAD(T, a_[i_ * w_.step[0]]), b = LOAD(T, b_[i_ * w_.step[1]]);                \
        const T c = LOAD(T, c_[i_ * w_.step[2]]);                                                  \
        z_[i_] = STORE(S, (__VA_ARGS__));                                                          \
      }                                                                                            \
    }                                                                                              \
    break;                                                                                         \
  }

/* ------------------------------------------------------------------------------- shape rules */

/* z is x and y broadcast together. */
static inline tfsdk_status *tfsdk_ew_infer2(tfsdk_infer *c) {
  return tfsdk_infer_broadcast(c, 0, 1, &c->out[0].shape);
}
/* Three inputs broadcast together. */
static inline tfsdk_status *tfsdk_ew_infer3(tfsdk_infer *c) {
  tfsdk_shape s = tfsdk_shape_unknown();
  TFSDK_TRY(tfsdk_infer_broadcast(c, 0, 1, &s));
  return tfsdk_broadcast(c, &s, &c->in[2].shape, &c->out[0].shape);
}
/* Two inputs of one shape, without broadcasting: the rule of backward ops. */
static inline tfsdk_status *tfsdk_ew_infer_equal2(tfsdk_infer *c) {
  return tfsdk_merge(c, &c->in[0].shape, &c->in[1].shape, "inputs of an op that does not broadcast",
                     &c->out[0].shape);
}

/* ----------------------------------------------------------------------------------- schemas
 *
 * Parts of a record: TensorFlow's usual argument names, the shape rule, the flags.
 * TFSDK_EW_T(types) gives the one attribute T that the arguments share; records with more
 * attributes write their own. */

static const int8_t tfsdk_ew_alias0[] = {0};
static const tfsdk_arg tfsdk_ew_x[] = {{"x", "T", "any shape", 0, 0}};
static const tfsdk_arg tfsdk_ew_y[] = {{"y", "T", "of x's shape", 0, 0}};
static const tfsdk_arg tfsdk_ew_y_bool[] = {{"y", "bool", "of x's shape", 0, 0}};
static const tfsdk_arg tfsdk_ew_xy[] = {
    {"x", "T", "any shape", 0, 0},
    {"y", "T", "a shape that broadcasts with x's", 0, 0},
};
/* Inputs of step functions: the gradient is zero almost everywhere, and stops there silently. */
static const tfsdk_arg tfsdk_ew_x_step[] = {{"x", "T", "any shape", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg tfsdk_ew_xy_step[] = {
    {"x", "T", "any shape", TFSDK_ARG_NONDIFF, 0},
    {"y", "T", "a shape that broadcasts with x's", TFSDK_ARG_NONDIFF, 0},
};
static const tfsdk_arg tfsdk_ew_z[] = {{"z", "T", "x and y broadcast together", 0, 0}};
static const tfsdk_arg tfsdk_ew_z_bool[] = {{"z", "bool", "x and y broadcast together", 0, 0}};
static const tfsdk_arg tfsdk_ew_features[] = {{"features", "T", "any shape", 0, 0}};
static const tfsdk_arg tfsdk_ew_activations[] = {{"activations", "T", "of features' shape", 0, 0}};
static const tfsdk_arg tfsdk_ew_y_dy[] = {
    {"y", "T", "the forward op's output", 0, 0},
    {"dy", "T", "the gradient of y, of y's shape", 0, 0},
};
static const tfsdk_arg tfsdk_ew_dx[] = {{"z", "T", "the gradient of the forward op's input", 0, 0}};
static const tfsdk_arg tfsdk_ew_gradients_features[] = {
    {"gradients", "T", "the gradient of the forward op's output", 0, 0},
    {"features", "T", "the forward op's input, of the same shape", 0, 0},
};
static const tfsdk_arg tfsdk_ew_gradients_outputs[] = {
    {"gradients", "T", "the gradient of the forward op's output", 0, 0},
    {"outputs", "T", "the forward op's output, of the same shape", 0, 0},
};
static const tfsdk_arg tfsdk_ew_backprops[] = {
    {"backprops", "T", "the gradient of the forward op's input", 0, 0}};

#define TFSDK_EW_T(types)                                                                          \
  .attr = (const tfsdk_attrdef[]){{"T", types, NULL, "element type", 0, 0}}, .n_attr = 1

#define TFSDK_EW_RECORD_(in_, n_in_, out_, rule)                                                   \
  .in = in_, .n_in = n_in_, .out = out_, .n_out = 1, .infer = rule
/* y = f(x), in place where it can be */
#define TFSDK_EW_UNARY_SCHEMA                                                                      \
  TFSDK_EW_RECORD_(tfsdk_ew_x, 1, tfsdk_ew_y, tfsdk_infer_same), .flags = TFSDK_OP_ELEMENTWISE,    \
                                                                 .may_alias = tfsdk_ew_alias0
/* The same for step functions, through which no gradient goes */
#define TFSDK_EW_UNARY_STEP_SCHEMA                                                                 \
  TFSDK_EW_RECORD_(tfsdk_ew_x_step, 1, tfsdk_ew_y, tfsdk_infer_same),                              \
      .flags = TFSDK_OP_ELEMENTWISE, .may_alias = tfsdk_ew_alias0
#define TFSDK_EW_BINARY_STEP_SCHEMA                                                                \
  TFSDK_EW_RECORD_(tfsdk_ew_xy_step, 2, tfsdk_ew_z, tfsdk_ew_infer2),                              \
      .flags = TFSDK_OP_ELEMENTWISE, .may_alias = tfsdk_ew_alias0
/* activations = f(features) */
#define TFSDK_EW_ACTIVATION_SCHEMA                                                                 \
  TFSDK_EW_RECORD_(tfsdk_ew_features, 1, tfsdk_ew_activations, tfsdk_infer_same),                  \
      .flags = TFSDK_OP_ELEMENTWISE, .may_alias = tfsdk_ew_alias0
/* y = f(x) as a bool */
#define TFSDK_EW_PREDICATE_SCHEMA                                                                  \
  TFSDK_EW_RECORD_(tfsdk_ew_x, 1, tfsdk_ew_y_bool, tfsdk_infer_same), .flags = TFSDK_OP_ELEMENTWISE
/* z = f(x, y), broadcasting. The commutative form says so in its flags. */
#define TFSDK_EW_BINARY_SCHEMA                                                                     \
  TFSDK_EW_RECORD_(tfsdk_ew_xy, 2, tfsdk_ew_z, tfsdk_ew_infer2), .flags = TFSDK_OP_ELEMENTWISE,    \
                                                                 .may_alias = tfsdk_ew_alias0
#define TFSDK_EW_COMMUTATIVE_SCHEMA                                                                \
  TFSDK_EW_RECORD_(tfsdk_ew_xy, 2, tfsdk_ew_z, tfsdk_ew_infer2),                                   \
      .flags = TFSDK_OP_ELEMENTWISE | TFSDK_OP_COMMUTATIVE, .may_alias = tfsdk_ew_alias0
#define TFSDK_EW_COMPARE_SCHEMA                                                                    \
  TFSDK_EW_RECORD_(tfsdk_ew_xy, 2, tfsdk_ew_z_bool, tfsdk_ew_infer2), .flags = TFSDK_OP_ELEMENTWISE
/* Backward ops: z = f(y, dy), and backprops = f(gradients, features) or (gradients, outputs) */
#define TFSDK_EW_Y_DY_SCHEMA                                                                       \
  TFSDK_EW_RECORD_(tfsdk_ew_y_dy, 2, tfsdk_ew_dx, tfsdk_ew_infer_equal2),                          \
      .flags = TFSDK_OP_ELEMENTWISE, .may_alias = tfsdk_ew_alias0
#define TFSDK_EW_GRADIENTS_FEATURES_SCHEMA                                                         \
  TFSDK_EW_RECORD_(tfsdk_ew_gradients_features, 2, tfsdk_ew_backprops, tfsdk_ew_infer_equal2),     \
      .flags = TFSDK_OP_ELEMENTWISE, .may_alias = tfsdk_ew_alias0
#define TFSDK_EW_GRADIENTS_OUTPUTS_SCHEMA                                                          \
  TFSDK_EW_RECORD_(tfsdk_ew_gradients_outputs, 2, tfsdk_ew_backprops, tfsdk_ew_infer_equal2),      \
      .flags = TFSDK_OP_ELEMENTWISE, .may_alias = tfsdk_ew_alias0

#ifdef __cplusplus
}
#endif
#endif
