/* What ops that run along one axis share: cumulative sums and products.
 *
 * The tensor is outer x n x inner with n along the axis; a line is the n elements of one (outer,
 * inner). Positions count in the direction of the scan, so that `reverse` is dealt with here alone.
 * An exclusive scan is the inclusive one moved on by one position. */
#ifndef OPS_MATH_SCAN_H
#define OPS_MATH_SCAN_H

#include <math.h>
#include <tfsdk/elementwise.h>
#include "calc.h"

typedef struct scan {
  int64_t n, inner, lines;
  int64_t step; /* from one position to the next, in elements; negative when reversed */
  int exclusive;
} scan;

static inline tfsdk_status *scan_infer(tfsdk_infer *c, uint32_t axis_input) {
  const tfsdk_view *axis = c->value[axis_input];
  int32_t d = 0;
  tfsdk_shape *shape = &c->out[0].shape;
  *shape = c->in[0].shape;
  for (uint32_t i = 1; i < axis_input; i++) /* what is upstream or a direction has x's shape */
    TFSDK_TRY(tfsdk_merge(c, shape, &c->in[i].shape, c->op->in[i].name, shape));
  if (axis == NULL || shape->rank < 0) return NULL;
  TFSDK_REQUIRE(c, axis->n_elem == 1, "axis must be a scalar");
  return tfsdk_axis(c, tfsdk_view_int(axis, 0), shape->rank, &d);
}

static inline scan scan_begin(const tfsdk_run *r, const tfsdk_view *axis) {
  const tfsdk_view *x = &r->in[0];
  int64_t d = tfsdk_view_int(axis, 0);
  scan s;
  if (d < 0) d += x->rank;
  s.n = x->dim[d];
  s.inner = 1;
  for (int64_t i = d + 1; x->n_elem > 0 && i < x->rank; i++) s.inner *= x->dim[i];
  s.lines = s.n > 0 ? x->n_elem / s.n : 0;
  s.step = tfsdk_attr_int(&r->attr, "reverse") ? -s.inner : s.inner;
  s.exclusive = tfsdk_attr_int(&r->attr, "exclusive") != 0;
  return s;
}
/* Where position 0 of a line is. */
static inline int64_t scan_start(const scan *s, int64_t line) {
  int64_t first = line / s->inner * s->n * s->inner + line % s->inner;
  return s->step < 0 ? first + (s->n - 1) * s->inner : first;
}

/* SCAN(name, LIST, start, fold): a kernel whose accumulator s begins as `start` and becomes `fold`
 * at each element x. */
#define SCAN(name, LIST, start, fold)                                                              \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    const scan job = scan_begin(r, &r->in[1]);                                                     \
    (void)state;                                                                                   \
    switch (r->in[0].dtype) {                                                                      \
      LIST(SCAN_CASE_, start, fold)                                                                \
    default: return tfsdk_ew_no_type(r);                                                           \
    }                                                                                              \
    return NULL;                                                                                   \
  }
#define SCAN_CASE_(id, S, C, LOAD, STORE, start, fold)                                             \
  case TFSDK_##id: {                                                                               \
    typedef C T;                                                                                   \
    const S *from = (const S *)r->in[0].data;                                                      \
    S *to = (S *)r->out[0].data;                                                                   \
    for (int64_t line = 0; line < job.lines; line++) {                                             \
      int64_t at = scan_start(&job, line);                                                         \
      T s = (start);                                                                               \
      for (int64_t k = 0; k < job.n; k++, at += job.step) {                                        \
        const T x = LOAD(T, from[at]);                                                             \
        if (job.exclusive) to[at] = STORE(S, s);                                                   \
        s = (fold);                                                                                \
        if (!job.exclusive) to[at] = STORE(S, s);                                                  \
      }                                                                                            \
    }                                                                                              \
    break;                                                                                         \
  }

/* -------------------------------------------------------------------------- lines as doubles */

/* Reads a line of floats. `shift`: position k gets element k + shift; past the end it gets 0. */
static inline void scan_load(const scan *s, const tfsdk_view *v, int64_t line, int64_t shift,
                             double *to) {
  int64_t at = scan_start(s, line);
  for (int64_t k = 0; k < s->n; k++)
    to[k] = k + shift < s->n ? tfsdk_view_number(v, at + (k + shift) * s->step) : 0;
}
/* Writes one; position k gets from[k - shift], those before the first get 0. */
static inline void scan_store(const scan *s, const tfsdk_view *v, int64_t line, int64_t shift,
                              const double *from) {
  int64_t at = scan_start(s, line);
  for (int64_t k = 0; k < s->n; k++, at += s->step) {
    double x = k >= shift ? from[k - shift] : 0;
    switch (v->dtype) {
    case TFSDK_FLOAT32: ((float *)v->data)[at] = (float)x; break;
    case TFSDK_FLOAT64: ((double *)v->data)[at] = x; break;
    case TFSDK_FLOAT16: ((uint16_t *)v->data)[at] = tfsdk_to_half(tfsdk_round_to_odd(x)); break;
    case TFSDK_BFLOAT16:
      ((uint16_t *)v->data)[at] = tfsdk_to_bfloat16(tfsdk_round_to_odd(x));
      break;
    default: break;
    }
  }
}

/* Emits a scan op of the inputs in[0..n_in) with the attributes of the op whose gradient this is;
 * `turn` reverses its direction. */
static inline tfsdk_val scan_emit(tfsdk_ctx *c, tfsdk_gradcall *g, const char *op,
                                  const tfsdk_val *in, size_t n_in, int turn) {
  tfsdk_attrval attrs[2];
  int64_t reverse = tfsdk_attr_int(&g->attr, "reverse");
  attrs[0] = tfsdk_a_bool("exclusive", tfsdk_attr_int(&g->attr, "exclusive"));
  attrs[1] = tfsdk_a_bool("reverse", turn ? !reverse : reverse);
  return tfsdk_emit(c, op, in, n_in, attrs, 2);
}

/* ----------------------------------------------------------------------------------- schemas */

#define SCAN_ARG_AXIS                                                                              \
  {                                                                                                \
    "axis", "Tidx", "a scalar; negative counts from the end", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST,  \
        0                                                                                          \
  }
#define SCAN_ATTRS(types)                                                                          \
  static const tfsdk_attrdef attr[] = {                                                            \
      {"T", types, NULL, "element type", 0, 0},                                                    \
      {"Tidx", "dtype{int32,int64}", "int32", "type of the axis", 0, 0},                           \
      {"exclusive", "bool", "false", "leave the element itself out", 0, 0},                        \
      {"reverse", "bool", "false", "run from the end to the beginning", 0, 0},                     \
  };
#define SCAN_OUT static const tfsdk_arg out[] = {{"out", "T", "of x's shape", 0, 0}};
#define SCAN_RECORD(in_, axis_input)                                                               \
  .in = in_, .n_in = TFSDK_COUNT(in_), .out = out, .n_out = 1, .attr = attr,                       \
  .n_attr = TFSDK_COUNT(attr), .const_in = 1u << (axis_input)

#endif
