/* combine.c - see combine.h. */
#include <complex.h>
#include <float.h>
#include <tfsdk/elementwise.h>
#include "combine.h"

/* One loop over elements of memory type S, computed in C; a and b are old and new. */
#define LOOP(S, C, LOAD, STORE, expression)                                                        \
  for (int64_t i = 0; i < n; i++) {                                                                \
    const C a = (C)LOAD(C, ((S *)dst)[i]), b = (C)LOAD(C, ((const S *)src)[i * src_stride]);       \
    ((S *)dst)[i] = (S)STORE(S, (expression));                                                     \
  }
#define CASE(id, S, C, LOAD, STORE, expression)                                                    \
  case TFSDK_##id: LOOP(S, C, LOAD, STORE, expression) return NULL;

/* Truncating division that neither traps nor overflows: the smallest number / -1 wraps to itself.
 */
#define DIV_SIGNED(id, S, U)                                                                       \
  case TFSDK_##id:                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const S a = ((S *)dst)[i], b = ((const S *)src)[i * src_stride];                             \
      if (b == 0) return TFSDK_FAIL(c, INVALID_ARGUMENT, "integer division by zero");              \
      ((S *)dst)[i] = b == -1 ? (S)(0 - (U)a) : (S)(a / b);                                        \
    }                                                                                              \
    return NULL;
#define DIV_UNSIGNED(id, S)                                                                        \
  case TFSDK_##id:                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const S a = ((S *)dst)[i], b = ((const S *)src)[i * src_stride];                             \
      if (b == 0) return TFSDK_FAIL(c, INVALID_ARGUMENT, "integer division by zero");              \
      ((S *)dst)[i] = (S)(a / b);                                                                  \
    }                                                                                              \
    return NULL;

#define COMPLEX_CASES(expression)                                                                  \
  CASE(COMPLEX64, float complex, float complex, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, expression)        \
  CASE(COMPLEX128, double complex, double complex, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, expression)

static tfsdk_status *no_type(const array_host *c, int32_t dtype) {
  return TFSDK_FAIL(c, UNIMPLEMENTED, "no kernel for %s", tfsdk_dtype_name(dtype));
}

static tfsdk_status *add(const array_host *c, int32_t dtype, void *dst, const void *src,
                         int64_t src_stride, int64_t n) {
  switch (dtype) {
    TFSDK_EW_NUMBERS_WRAP(CASE, a + b)
    COMPLEX_CASES(a + b)
  case TFSDK_BOOL: LOOP(uint8_t, uint8_t, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, a | b) return NULL;
  default: return no_type(c, dtype);
  }
}

static tfsdk_status *sub(const array_host *c, int32_t dtype, void *dst, const void *src,
                         int64_t src_stride, int64_t n) {
  switch (dtype) {
    TFSDK_EW_NUMBERS_WRAP(CASE, a - b)
    COMPLEX_CASES(a - b)
  default: return no_type(c, dtype);
  }
}

static tfsdk_status *mul(const array_host *c, int32_t dtype, void *dst, const void *src,
                         int64_t src_stride, int64_t n) {
  switch (dtype) {
    TFSDK_EW_NUMBERS_WRAP(CASE, a * b)
    COMPLEX_CASES(a * b)
  default: return no_type(c, dtype);
  }
}

static tfsdk_status *divide(const array_host *c, int32_t dtype, void *dst, const void *src,
                            int64_t src_stride, int64_t n) {
  switch (dtype) {
    TFSDK_EW_FLOATS(CASE, a / b)
    COMPLEX_CASES(a / b)
    DIV_SIGNED(INT8, int8_t, uint8_t)
    DIV_SIGNED(INT16, int16_t, uint16_t)
    DIV_SIGNED(INT32, int32_t, uint32_t)
    DIV_SIGNED(INT64, int64_t, uint64_t)
    DIV_UNSIGNED(UINT8, uint8_t)
    DIV_UNSIGNED(UINT16, uint16_t)
    DIV_UNSIGNED(UINT32, uint32_t)
    DIV_UNSIGNED(UINT64, uint64_t)
  default: return no_type(c, dtype);
  }
}

/* b != b is true for NaN only; an old NaN stays because no comparison with it holds. */
static tfsdk_status *minimum(const array_host *c, int32_t dtype, void *dst, const void *src,
                             int64_t src_stride, int64_t n) {
  switch (dtype) {
    TFSDK_EW_FLOATS(CASE, b < a || b != b ? b : a)
    TFSDK_EW_INTS(CASE, b < a ? b : a)
  default: return no_type(c, dtype);
  }
}

static tfsdk_status *maximum(const array_host *c, int32_t dtype, void *dst, const void *src,
                             int64_t src_stride, int64_t n) {
  switch (dtype) {
    TFSDK_EW_FLOATS(CASE, b > a || b != b ? b : a)
    TFSDK_EW_INTS(CASE, b > a ? b : a)
  default: return no_type(c, dtype);
  }
}

tfsdk_status *array_combine(const array_host *c, int op, int32_t dtype, void *dst, const void *src,
                            int64_t src_stride, int64_t n) {
  switch (op) {
  case ARRAY_ADD: return add(c, dtype, dst, src, src_stride, n);
  case ARRAY_SUB: return sub(c, dtype, dst, src, src_stride, n);
  case ARRAY_MUL: return mul(c, dtype, dst, src, src_stride, n);
  case ARRAY_DIV: return divide(c, dtype, dst, src, src_stride, n);
  case ARRAY_MIN: return minimum(c, dtype, dst, src, src_stride, n);
  case ARRAY_MAX: return maximum(c, dtype, dst, src, src_stride, n);
  default:
    if (tfsdk_dtype_size(dtype) == 0) return no_type(c, dtype);
    array_move((char *)dst, 1, (const char *)src, src_stride, tfsdk_dtype_size(dtype), n);
    return NULL;
  }
}

#define LIMIT(id, S, low, up)                                                                      \
  case TFSDK_##id:                                                                                 \
    for (int64_t i = 0; i < n; i++) ((S *)data)[i] = high ? (up) : (low);                          \
    break;

void array_fill_limit(void *data, int32_t dtype, int high, int64_t n) {
  switch (dtype) {
    LIMIT(FLOAT32, float, -FLT_MAX, FLT_MAX)
    LIMIT(FLOAT64, double, -DBL_MAX, DBL_MAX)
    LIMIT(FLOAT16, uint16_t, 0xfbffu, 0x7bffu)
    LIMIT(BFLOAT16, uint16_t, 0xff7fu, 0x7f7fu)
    LIMIT(INT8, int8_t, INT8_MIN, INT8_MAX)
    LIMIT(INT16, int16_t, INT16_MIN, INT16_MAX)
    LIMIT(INT32, int32_t, INT32_MIN, INT32_MAX)
    LIMIT(INT64, int64_t, INT64_MIN, INT64_MAX)
    LIMIT(UINT8, uint8_t, 0, UINT8_MAX)
    LIMIT(UINT16, uint16_t, 0, UINT16_MAX)
    LIMIT(UINT32, uint32_t, 0, UINT32_MAX)
    LIMIT(UINT64, uint64_t, 0, UINT64_MAX)
  default: break;
  }
}
