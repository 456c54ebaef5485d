/* tfsdk/shape.h - helpers for shape rules, for kernels and for reading small values. Header only.
 *
 * All work with partly known shapes: what is unknown stays unknown, what contradicts is an error
 * that names the op's argument and both shapes.
 *
 *     static tfsdk_status *infer(tfsdk_infer *c) {                     // y = a + b
 *       return tfsdk_infer_broadcast(c, 0, 1, &c->out[0].shape);
 *     }
 */
#ifndef TFSDK_SHAPE_H
#define TFSDK_SHAPE_H

#include <stdio.h>
#include <tfsdk/op.h>
#include <tfsdk/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------- constructors */

static inline tfsdk_shape tfsdk_shape_unknown(void) {
  tfsdk_shape s;
  memset(&s, 0, sizeof s);
  s.rank = -1;
  return s;
}
static inline tfsdk_shape tfsdk_shape_scalar(void) {
  tfsdk_shape s;
  memset(&s, 0, sizeof s);
  return s;
}
/* n = -1: unknown length. */
static inline tfsdk_shape tfsdk_shape_vector(int64_t n) {
  tfsdk_shape s = tfsdk_shape_scalar();
  s.rank = 1;
  s.dim[0] = n;
  return s;
}
/* Rank known, extents unknown. */
static inline tfsdk_shape tfsdk_shape_of_rank(int32_t rank) {
  tfsdk_shape s = tfsdk_shape_scalar();
  s.rank = rank;
  for (int32_t i = 0; i < rank && i < TFSDK_MAX_RANK; i++) s.dim[i] = -1;
  return s;
}
static inline tfsdk_shape tfsdk_shape_of_view(const tfsdk_view *v) {
  tfsdk_shape s = tfsdk_shape_scalar();
  s.rank = v->rank;
  for (int32_t i = 0; i < s.rank; i++) s.dim[i] = v->dim[i];
  return s;
}
/* A SHAPE attribute; unknown if the record has none of that name. */
static inline tfsdk_shape tfsdk_attr_shape(const tfsdk_attrs *a, const char *name) {
  tfsdk_shape s = tfsdk_shape_unknown();
  uint32_t n;
  const int64_t *dim = tfsdk_attr_ints(a, name, &n);
  if (dim == NULL && n != 0) return s;
  if (tfsdk_attr_find(a, name) == NULL || n > TFSDK_MAX_RANK) return s;
  s.rank = (int32_t)n;
  for (uint32_t i = 0; i < n; i++) s.dim[i] = dim[i] < 0 ? -1 : dim[i];
  return s;
}
static inline int tfsdk_shape_whole(const tfsdk_shape *s) {
  if (s->rank < 0) return 0;
  for (int32_t i = 0; i < s->rank; i++)
    if (s->dim[i] < 0) return 0;
  return 1;
}

/* ------------------------------------------------------------------------------------- messages */

/* Room for any shape's text. */
typedef struct tfsdk_text {
  char s[TFSDK_MAX_RANK * 21 + 16];
} tfsdk_text;

/* "(8, 4)", "(8, ?)", "()" and "<unknown>": use as tfsdk_shape_text(&shape).s */
static inline tfsdk_text tfsdk_shape_text(const tfsdk_shape *shape) {
  tfsdk_text t;
  size_t at = 0;
  if (shape->rank < 0) {
    snprintf(t.s, sizeof t.s, "<unknown>");
    return t;
  }
  at += (size_t)snprintf(t.s + at, sizeof t.s - at, "(");
  for (int32_t i = 0; i < shape->rank; i++) {
    const char *sep = i > 0 ? ", " : "";
    at += shape->dim[i] < 0 ? (size_t)snprintf(t.s + at, sizeof t.s - at, "%s?", sep)
                            : (size_t)snprintf(t.s + at, sizeof t.s - at, "%s%lld", sep,
                                               (long long)shape->dim[i]);
  }
  snprintf(t.s + at, sizeof t.s - at, ")");
  return t;
}

/* -------------------------------------------------------------------------------- shape algebra */

/* NumPy's rule: aligned at the last axis, extents are equal or 1. */
static inline tfsdk_status *tfsdk_broadcast(const tfsdk_infer *c, const tfsdk_shape *a,
                                            const tfsdk_shape *b, tfsdk_shape *out) {
  tfsdk_shape r;
  if (a->rank < 0 || b->rank < 0) {
    *out = tfsdk_shape_unknown();
    return NULL;
  }
  r = tfsdk_shape_scalar();
  r.rank = a->rank > b->rank ? a->rank : b->rank;
  for (int32_t i = 0; i < r.rank; i++) {
    int32_t ia = a->rank - 1 - i, ib = b->rank - 1 - i;
    int64_t x = ia >= 0 ? a->dim[ia] : 1, y = ib >= 0 ? b->dim[ib] : 1, d;
    if (x == 1)
      d = y;
    else if (y == 1)
      d = x;
    else if (x < 0)
      d = y;
    else if (y < 0 || x == y)
      d = x;
    else
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "shapes %s and %s cannot be broadcast together",
                        tfsdk_shape_text(a).s, tfsdk_shape_text(b).s);
    r.dim[r.rank - 1 - i] = d;
  }
  *out = r;
  return NULL;
}
static inline tfsdk_status *tfsdk_infer_broadcast(const tfsdk_infer *c, uint32_t i, uint32_t j,
                                                  tfsdk_shape *out) {
  return tfsdk_broadcast(c, &c->in[i].shape, &c->in[j].shape, out);
}
/* Both describe the same tensor: what either knows. `what` begins the message. */
static inline tfsdk_status *tfsdk_merge(const tfsdk_infer *c, const tfsdk_shape *a,
                                        const tfsdk_shape *b, const char *what, tfsdk_shape *out) {
  tfsdk_shape r;
  if (a->rank < 0) {
    *out = *b;
    return NULL;
  }
  if (b->rank < 0) {
    *out = *a;
    return NULL;
  }
  r = *a;
  for (int32_t i = 0; a->rank == b->rank && i < a->rank; i++) {
    if (r.dim[i] < 0)
      r.dim[i] = b->dim[i];
    else if (b->dim[i] >= 0 && b->dim[i] != r.dim[i])
      r.rank = -2;
    if (r.rank == -2) break;
  }
  if (a->rank != b->rank || r.rank == -2)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "%s: shapes %s and %s differ", what,
                      tfsdk_shape_text(a).s, tfsdk_shape_text(b).s);
  *out = r;
  return NULL;
}
/* Two extents that must be equal: what either knows. */
static inline tfsdk_status *tfsdk_merge_dim(const tfsdk_infer *c, int64_t a, int64_t b,
                                            const char *what, int64_t *out) {
  if (a >= 0 && b >= 0 && a != b)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "%s: %lld and %lld differ", what, (long long)a,
                      (long long)b);
  *out = a >= 0 ? a : b;
  return NULL;
}
/* Input i must have that rank; *out is its shape with the rank known. */
static inline tfsdk_status *tfsdk_with_rank(const tfsdk_infer *c, uint32_t i, int32_t rank,
                                            tfsdk_shape *out) {
  const tfsdk_shape *s = &c->in[i].shape;
  *out = s->rank < 0 ? tfsdk_shape_of_rank(rank) : *s;
  if (s->rank < 0) return NULL;
  if (s->rank != rank)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'%s' must have rank %d, but its shape is %s",
                      c->op->in[i < c->op->n_in ? i : (uint32_t)c->op->n_in - 1].name, (int)rank,
                      tfsdk_shape_text(s).s);
  return NULL;
}
/* Turns an axis counted from the end into one from the start, and checks it. */
static inline tfsdk_status *tfsdk_axis(const tfsdk_infer *c, int64_t axis, int32_t rank,
                                       int32_t *out) {
  if (axis < -(int64_t)rank || axis >= rank)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "axis %lld is out of range for rank %d (%d..%d)",
                      (long long)axis, (int)rank, -(int)rank, (int)rank - 1);
  *out = (int32_t)(axis < 0 ? axis + rank : axis);
  return NULL;
}
/* The common rule "output 0 is like input 0". */
static inline tfsdk_status *tfsdk_infer_same(tfsdk_infer *c) {
  c->out[0].shape = c->in[0].shape;
  return NULL;
}
static inline tfsdk_status *tfsdk_infer_scalar(tfsdk_infer *c) {
  c->out[0].shape = tfsdk_shape_scalar();
  return NULL;
}

/* ----------------------------------------------------------------------------- small int values */

/* Element i of an integer view of any integer type. */
static inline int64_t tfsdk_view_int(const tfsdk_view *v, int64_t i) {
  switch (v->dtype) {
  case TFSDK_INT32: return ((const int32_t *)v->data)[i];
  case TFSDK_INT64: return ((const int64_t *)v->data)[i];
  case TFSDK_INT16: return ((const int16_t *)v->data)[i];
  case TFSDK_INT8: return ((const int8_t *)v->data)[i];
  case TFSDK_UINT8:
  case TFSDK_BOOL: return ((const uint8_t *)v->data)[i];
  case TFSDK_UINT16: return ((const uint16_t *)v->data)[i];
  case TFSDK_UINT32: return ((const uint32_t *)v->data)[i];
  case TFSDK_UINT64: return (int64_t)((const uint64_t *)v->data)[i];
  default: return 0;
  }
}
/* Element i of a view of any real type, as a double. */
static inline double tfsdk_view_number(const tfsdk_view *v, int64_t i) {
  switch (v->dtype) {
  case TFSDK_FLOAT32: return (double)((const float *)v->data)[i];
  case TFSDK_FLOAT64: return ((const double *)v->data)[i];
  case TFSDK_FLOAT16: return (double)tfsdk_from_half(((const uint16_t *)v->data)[i]);
  case TFSDK_BFLOAT16: return (double)tfsdk_from_bfloat16(((const uint16_t *)v->data)[i]);
  case TFSDK_UINT64: return (double)((const uint64_t *)v->data)[i];
  default: return (double)tfsdk_view_int(v, i);
  }
}
/* The shape that an integer vector says. -1 stays -1 ("unknown"); less is an error. */
static inline tfsdk_status *tfsdk_value_shape(const tfsdk_infer *c, const tfsdk_view *v,
                                              const char *what, tfsdk_shape *out) {
  tfsdk_shape s = tfsdk_shape_scalar();
  if (v->n_elem > TFSDK_MAX_RANK)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "%s has %lld members, but tensors have at most rank %d",
                      what, (long long)v->n_elem, TFSDK_MAX_RANK);
  s.rank = (int32_t)v->n_elem;
  for (int32_t i = 0; i < s.rank; i++) {
    s.dim[i] = tfsdk_view_int(v, i);
    if (s.dim[i] < -1)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "%s: extent %lld at position %d is negative", what,
                        (long long)s.dim[i], (int)i);
  }
  *out = s;
  return NULL;
}

/* -------------------------------------------------------------------------------------- windows */

enum tfsdk_padding { TFSDK_PAD_VALID = 0, TFSDK_PAD_SAME = 1, TFSDK_PAD_EXPLICIT = 2 };

static inline int tfsdk_padding_of(const char *text) {
  return strcmp(text, "SAME") == 0       ? TFSDK_PAD_SAME
         : strcmp(text, "EXPLICIT") == 0 ? TFSDK_PAD_EXPLICIT
                                         : TFSDK_PAD_VALID;
}
/* One axis of a convolution or pooling. Output extent and padding in front, as TensorFlow defines
 * them: SAME gives ceil(n / stride), the odd pixel of padding goes to the end; VALID ceil((n -
 * k_eff + 1) / stride); EXPLICIT pads by before and after. k_eff = (k - 1) * dilation + 1. n = -1
 * gives -1. */
static inline tfsdk_status *tfsdk_window(const tfsdk_infer *c, int64_t n, int64_t k, int64_t stride,
                                         int64_t dilation, int padding, int64_t before,
                                         int64_t after, int64_t *out_n, int64_t *out_before) {
  int64_t eff = (k - 1) * dilation + 1, total;
  if (stride < 1 || dilation < 1)
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "strides and dilations must be at least 1, not %lld, %lld", (long long)stride,
                      (long long)dilation);
  *out_n = -1;
  *out_before = 0;
  if (n < 0 || k < 0) return NULL;
  if (padding == TFSDK_PAD_SAME) {
    *out_n = (n + stride - 1) / stride;
    total = (*out_n - 1) * stride + eff - n;
    *out_before = total > 0 ? total / 2 : 0;
    return NULL;
  }
  if (padding == TFSDK_PAD_VALID) before = after = 0;
  total = n + before + after - eff;
  if (total < 0) {
    if (n == 0 || total == -1) { /* an output of extent 0 is legal, as in TensorFlow */
      *out_n = 0;
      *out_before = before;
      return NULL;
    }
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "a window of %lld (dilated %lld) does not fit into an extent of %lld",
                      (long long)k, (long long)eff, (long long)(n + before + after));
  }
  *out_n = total / stride + 1;
  *out_before = before;
  return NULL;
}

#ifdef __cplusplus
}
#endif
#endif
