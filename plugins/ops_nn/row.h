/* row.h - runs of elements in one of two computing types, whatever the tensor's own type is.
 *
 * Floating types compute in double, integers in int64_t with wrapping arithmetic; the stores
 * round (to nearest, ties to even) or cut off. `at` and `step` count elements. */
#ifndef NN_ROW_H
#define NN_ROW_H

#include <math.h>
#include <tfsdk/tensor.h>

/* dtype, element, into double, from double */
#define NN_FLOATS(X)                                                                               \
  X(FLOAT32, float, (double)v, (float)a)                                                           \
  X(FLOAT64, double, v, a)                                                                         \
  X(FLOAT16, uint16_t, (double)tfsdk_from_half(v), tfsdk_to_half(tfsdk_round_to_odd(a)))           \
  X(BFLOAT16, uint16_t, (double)tfsdk_from_bfloat16(v), tfsdk_to_bfloat16(tfsdk_round_to_odd(a)))

#define NN_INTS(X)                                                                                 \
  X(INT32, int32_t)                                                                                \
  X(INT64, int64_t)                                                                                \
  X(INT16, int16_t)                                                                                \
  X(INT8, int8_t)                                                                                  \
  X(UINT8, uint8_t)                                                                                \
  X(UINT16, uint16_t)                                                                              \
  X(UINT32, uint32_t)                                                                              \
  X(UINT64, uint64_t)

static inline void nn_load_f(int32_t dtype, const void *data, int64_t at, int64_t step, int64_t n,
                             double *out) {
  switch (dtype) {
#define NN_CASE(ID, T, INTO, FROM)                                                                 \
  case TFSDK_##ID: {                                                                               \
    const T *p = (const T *)data + at;                                                             \
    for (int64_t i = 0; i < n; i++) {                                                              \
      T v = p[i * step];                                                                           \
      out[i] = INTO;                                                                               \
    }                                                                                              \
    break;                                                                                         \
  }
    NN_FLOATS(NN_CASE)
#undef NN_CASE
  default: break;
  }
}

static inline void nn_store_f(int32_t dtype, void *data, int64_t at, int64_t step, int64_t n,
                              const double *in) {
  switch (dtype) {
#define NN_CASE(ID, T, INTO, FROM)                                                                 \
  case TFSDK_##ID: {                                                                               \
    T *p = (T *)data + at;                                                                         \
    for (int64_t i = 0; i < n; i++) {                                                              \
      double a = in[i];                                                                            \
      p[i * step] = FROM;                                                                          \
    }                                                                                              \
    break;                                                                                         \
  }
    NN_FLOATS(NN_CASE)
#undef NN_CASE
  default: break;
  }
}

static inline void nn_load_i(int32_t dtype, const void *data, int64_t at, int64_t step, int64_t n,
                             int64_t *out) {
  switch (dtype) {
#define NN_CASE(ID, T)                                                                             \
  case TFSDK_##ID: {                                                                               \
    const T *p = (const T *)data + at;                                                             \
    for (int64_t i = 0; i < n; i++) out[i] = (int64_t)p[i * step];                                 \
    break;                                                                                         \
  }
    NN_INTS(NN_CASE)
#undef NN_CASE
  default: break;
  }
}

static inline void nn_store_i(int32_t dtype, void *data, int64_t at, int64_t step, int64_t n,
                              const int64_t *in) {
  switch (dtype) {
#define NN_CASE(ID, T)                                                                             \
  case TFSDK_##ID: {                                                                               \
    T *p = (T *)data + at;                                                                         \
    for (int64_t i = 0; i < n; i++) p[i * step] = (T)in[i];                                        \
    break;                                                                                         \
  }
    NN_INTS(NN_CASE)
#undef NN_CASE
  default: break;
  }
}

static inline int nn_is_float(int32_t dtype) { return tfsdk_dtype_kind(dtype) == 'f'; }

/* Stores -inf, or the least integer: the maximum of nothing. */
static inline void nn_store_lowest(const tfsdk_view *v, int64_t at) {
  double f = -HUGE_VAL;
  int64_t i = 0, bits = (int64_t)tfsdk_dtype_size(v->dtype) * 8;
  if (tfsdk_dtype_kind(v->dtype) == 'i') i = INT64_MIN >> (64 - bits);
  if (nn_is_float(v->dtype))
    nn_store_f(v->dtype, v->data, at, 1, 1, &f);
  else
    nn_store_i(v->dtype, v->data, at, 1, 1, &i);
}

/* acc + a * b in the two computing types. */
static inline double nn_mul_add_f(double acc, double a, double b) { return acc + a * b; }
static inline int64_t nn_mul_add_i(int64_t acc, int64_t a, int64_t b) {
  return (int64_t)((uint64_t)acc + (uint64_t)a * (uint64_t)b);
}

#endif
