/* Cast: converts the element type, for every pair of types.
 *
 * - to a float: rounded to nearest even, once; too large becomes infinite.
 * - float to int: truncated towards zero. What does not fit becomes the nearest integer that does,
 *   and NaN becomes 0: C leaves it undefined, and CPUs and GPUs disagree.
 * - int to int: modulo 2^n, as in two's complement.
 * - to bool: true unless zero; NaN is true. From bool: 0 and 1.
 *
 * The gradient is cast back between floating types; anything else passes none. */
#include <math.h>
#include <tfsdk/elementwise.h>
#include <tfsdk/rewrite.h>
#include "calc.h"

/* The integers that bound a type are exact as doubles, or one above the largest is. */
#define CLAMP_(name, D, lo, above, hi)                                                             \
  static inline D name(double x) {                                                                 \
    return x >= (above) ? (hi) : x > (lo) ? (D)x : x <= (lo) ? (lo) : 0;                           \
  }
CLAMP_(clamp_int8, int8_t, INT8_MIN, 128.0, INT8_MAX)
CLAMP_(clamp_int16, int16_t, INT16_MIN, 32768.0, INT16_MAX)
CLAMP_(clamp_int32, int32_t, INT32_MIN, 2147483648.0, INT32_MAX)
CLAMP_(clamp_int64, int64_t, INT64_MIN, 9223372036854775808.0, INT64_MAX)
CLAMP_(clamp_uint8, uint8_t, 0, 256.0, UINT8_MAX)
CLAMP_(clamp_uint16, uint16_t, 0, 65536.0, UINT16_MAX)
CLAMP_(clamp_uint32, uint32_t, 0, 4294967296.0, UINT32_MAX)
CLAMP_(clamp_uint64, uint64_t, 0, 18446744073709551616.0, UINT64_MAX)

#define TO_(id, D, expression)                                                                     \
  case TFSDK_##id: {                                                                               \
    D *to = (D *)r->out[0].data;                                                                   \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const T x = (T)LOAD(from[i]);                                                                \
      to[i] = (expression);                                                                        \
    }                                                                                              \
    return NULL;                                                                                   \
  }
#define TO_FLOATS_                                                                                 \
  TO_(FLOAT32, float, (float)x)                                                                    \
  TO_(FLOAT64, double, (double)x)                                                                  \
  TO_(FLOAT16, uint16_t, tfsdk_to_half(TFSDK_EW_NARROW(x)))                                        \
  TO_(BFLOAT16, uint16_t, tfsdk_to_bfloat16(TFSDK_EW_NARROW(x)))                                   \
  TO_(BOOL, uint8_t, x != 0)

/* T: the type read, LOAD: from memory to T */
#define FROM_FLOAT_(name, S)                                                                       \
  static tfsdk_status *name(tfsdk_run *r) {                                                        \
    const S *from = (const S *)r->in[0].data;                                                      \
    const int64_t n = r->out[0].n_elem;                                                            \
    switch (r->out[0].dtype) {                                                                     \
      TO_FLOATS_                                                                                   \
      TO_(INT8, int8_t, clamp_int8((double)x))                                                     \
      TO_(INT16, int16_t, clamp_int16((double)x))                                                  \
      TO_(INT32, int32_t, clamp_int32((double)x))                                                  \
      TO_(INT64, int64_t, clamp_int64((double)x))                                                  \
      TO_(UINT8, uint8_t, clamp_uint8((double)x))                                                  \
      TO_(UINT16, uint16_t, clamp_uint16((double)x))                                               \
      TO_(UINT32, uint32_t, clamp_uint32((double)x))                                               \
      TO_(UINT64, uint64_t, clamp_uint64((double)x))                                               \
    default: return tfsdk_ew_no_type(r);                                                           \
    }                                                                                              \
  }
#define FROM_INT_(name, S)                                                                         \
  static tfsdk_status *name(tfsdk_run *r) {                                                        \
    typedef S T;                                                                                   \
    const S *from = (const S *)r->in[0].data;                                                      \
    const int64_t n = r->out[0].n_elem;                                                            \
    switch (r->out[0].dtype) {                                                                     \
      TO_FLOATS_                                                                                   \
      TO_(INT8, int8_t, (int8_t)x)                                                                 \
      TO_(INT16, int16_t, (int16_t)x)                                                              \
      TO_(INT32, int32_t, (int32_t)x)                                                              \
      TO_(INT64, int64_t, (int64_t)x)                                                              \
      TO_(UINT8, uint8_t, (uint8_t)x)                                                              \
      TO_(UINT16, uint16_t, (uint16_t)x)                                                           \
      TO_(UINT32, uint32_t, (uint32_t)x)                                                           \
      TO_(UINT64, uint64_t, (uint64_t)x)                                                           \
    default: return tfsdk_ew_no_type(r);                                                           \
    }                                                                                              \
  }

#define LOAD(v) (v)
FROM_INT_(from_int8, int8_t)
FROM_INT_(from_int16, int16_t)
FROM_INT_(from_int32, int32_t)
FROM_INT_(from_int64, int64_t)
FROM_INT_(from_uint8, uint8_t)
FROM_INT_(from_uint16, uint16_t)
FROM_INT_(from_uint32, uint32_t)
FROM_INT_(from_uint64, uint64_t)
#define T double
FROM_FLOAT_(from_float64, double)
#undef T
#define T float
FROM_FLOAT_(from_float32, float)
#undef LOAD
#define LOAD(v) tfsdk_from_half(v)
FROM_FLOAT_(from_float16, uint16_t)
#undef LOAD
#define LOAD(v) tfsdk_from_bfloat16(v)
FROM_FLOAT_(from_bfloat16, uint16_t)
#undef LOAD
#undef T

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  if (r->in[0].dtype == r->out[0].dtype) return r->api->forward(r, 0, 0);
  switch (r->in[0].dtype) {
  case TFSDK_FLOAT32: return from_float32(r);
  case TFSDK_FLOAT64: return from_float64(r);
  case TFSDK_FLOAT16: return from_float16(r);
  case TFSDK_BFLOAT16: return from_bfloat16(r);
  case TFSDK_INT8: return from_int8(r);
  case TFSDK_INT16: return from_int16(r);
  case TFSDK_INT32: return from_int32(r);
  case TFSDK_INT64: return from_int64(r);
  case TFSDK_BOOL:
  case TFSDK_UINT8: return from_uint8(r);
  case TFSDK_UINT16: return from_uint16(r);
  case TFSDK_UINT32: return from_uint32(r);
  case TFSDK_UINT64: return from_uint64(r);
  default: return tfsdk_ew_no_type(r);
  }
}

static tfsdk_status *infer(tfsdk_infer *c) {
  if (tfsdk_attr_int(&c->attr, "Truncate"))
    return TFSDK_FAIL(c, UNIMPLEMENTED,
                      "Cast rounds to nearest; Truncate = true is not implemented");
  return tfsdk_infer_same(c);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), dy = tfsdk_dy(g, 0);
  if (tfsdk_dtype_kind(tfsdk_type(c, x).dtype) != 'f') return tfsdk_ctx_error(c);
  if (tfsdk_dtype_kind(tfsdk_type(c, dy).dtype) != 'f') return tfsdk_ctx_error(c);
  return tfsdk_set_dx(g, 0, v_cast_like(c, dy, x));
}

static const tfsdk_arg in[] = {{"x", "SrcT", "any shape", 0, 0}};
static const tfsdk_arg out[] = {{"y", "DstT", "of x's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"SrcT", TFSDK_T_ANY, NULL, "type of x", 0, 0},
    {"DstT", TFSDK_T_ANY, NULL, "type of y", 0, 0},
    {"Truncate", "bool", "false", "must be false: floats round to nearest", 0, 0},
};
static const char *const samples[] = {
    "T[2,3] | DstT=float32", "T[2,3] | DstT=int32",    "T[2,3] | DstT=bfloat16",
    "T[2,3] | DstT=float16", "T[2,3] | DstT=bool",     "T[2,3] | DstT=uint8",
    "T[2,3] | DstT=float64", "bool[2,3] | DstT=int64", NULL};
/* A cast to the type that x has gives x. */
static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  if (tfsdk_type(c, w->in[0]).dtype == tfsdk_attr_int(&w->attr, "DstT"))
    return tfsdk_set_rewritten(w, 0, w->in[0]);
  return NULL;
}

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Cast", "converts the element type"), .in = in, .n_in = TFSDK_COUNT(in),
     .out = out, .n_out = TFSDK_COUNT(out), .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .flags = TFSDK_OP_ELEMENTWISE, .infer = infer,
     .doc =
         "Converts x to the type DstT. Numbers round to nearest even when they become floats and "
         "are truncated towards zero when they become integers; integers that do not fit wrap, "
         "floats that do not fit an integer become the nearest one, NaN becomes 0. Anything but "
         "zero is true.",
     .reference = compute, .grad = grad, .grad_shape = 1, .rewrite = rewrite, .samples = samples},
};
TFSDK_UNIT_OPS(cast, ops);
