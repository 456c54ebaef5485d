/* tfsdk/tensor.h - element types, shapes and views of tensors.
 *
 * A tensor is dense, row-major and contiguous: the last axis varies fastest and there are no
 * strides. Axes count from 0. A scalar has rank 0 and one element; an extent of 0 makes an empty
 * tensor, which every op must accept. Sizes are in elements where a name says `n_elem`, in bytes
 * where it says `bytes`.
 *
 *     static double sum(const tfsdk_view *v) {             // a float32 view, whatever its shape
 *       const float *x = (const float *)v->data;
 *       double s = 0;
 *       for (int64_t i = 0; i < v->n_elem; i++) s += x[i];
 *       return s;
 *     }
 */
#ifndef TFSDK_TENSOR_H
#define TFSDK_TENSOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TFSDK_MAX_RANK 12

/* One list gives number, name, bytes of an element and kind. The numbers are those of TensorFlow's
 * DataType, so that GraphDefs and checkpoints need no table. Kinds: 'f' floating, 'i' signed and
 * 'u' unsigned integer, 'b' bool (one byte, 0 or 1), 's' string, 'r' resource handle, 'c' complex.
 */
#define TFSDK_DTYPES(X)                                                                            \
  X(FLOAT32, 1, "float32", 4, 'f')                                                                 \
  X(FLOAT64, 2, "float64", 8, 'f')                                                                 \
  X(INT32, 3, "int32", 4, 'i')                                                                     \
  X(UINT8, 4, "uint8", 1, 'u')                                                                     \
  X(INT16, 5, "int16", 2, 'i')                                                                     \
  X(INT8, 6, "int8", 1, 'i')                                                                       \
  X(STRING, 7, "string", 0, 's')                                                                   \
  X(COMPLEX64, 8, "complex64", 8, 'c')                                                             \
  X(INT64, 9, "int64", 8, 'i')                                                                     \
  X(BOOL, 10, "bool", 1, 'b')                                                                      \
  X(BFLOAT16, 14, "bfloat16", 2, 'f')                                                              \
  X(UINT16, 17, "uint16", 2, 'u')                                                                  \
  X(COMPLEX128, 18, "complex128", 16, 'c')                                                         \
  X(FLOAT16, 19, "float16", 2, 'f')                                                                \
  X(RESOURCE, 20, "resource", 8, 'r')                                                              \
  X(UINT32, 22, "uint32", 4, 'u')                                                                  \
  X(UINT64, 23, "uint64", 8, 'u')

enum tfsdk_dtype {
  TFSDK_INVALID = 0,
#define TFSDK_DTYPE_ENUM_(id, number, name, bytes, kind) TFSDK_##id = number,
  TFSDK_DTYPES(TFSDK_DTYPE_ENUM_)
#undef TFSDK_DTYPE_ENUM_
      TFSDK_DTYPE_LIMIT = 24
};

/* Bytes of one element; 0 for strings, whose size varies, and for unknown numbers. */
static inline size_t tfsdk_dtype_size(int32_t dtype) {
  switch (dtype) {
#define TFSDK_DTYPE_CASE_(id, number, name, bytes, kind)                                           \
  case number: return bytes;
    TFSDK_DTYPES(TFSDK_DTYPE_CASE_)
#undef TFSDK_DTYPE_CASE_
  }
  return 0;
}

/* "float32"; "invalid" for unknown numbers. The text is static. */
static inline const char *tfsdk_dtype_name(int32_t dtype) {
  switch (dtype) {
#define TFSDK_DTYPE_CASE_(id, number, name, bytes, kind)                                           \
  case number: return name;
    TFSDK_DTYPES(TFSDK_DTYPE_CASE_)
#undef TFSDK_DTYPE_CASE_
  }
  return "invalid";
}

/* 'f' 'i' 'u' 'b' 's' 'r' 'c' as above; 0 for unknown numbers. */
static inline char tfsdk_dtype_kind(int32_t dtype) {
  switch (dtype) {
#define TFSDK_DTYPE_CASE_(id, number, name, bytes, kind)                                           \
  case number: return kind;
    TFSDK_DTYPES(TFSDK_DTYPE_CASE_)
#undef TFSDK_DTYPE_CASE_
  }
  return 0;
}

/* The number of a name ("float32", also TensorFlow's short "float", "double", "half"), else 0. */
static inline int32_t tfsdk_dtype_find(const char *text) {
#define TFSDK_DTYPE_FIND_(id, number, name, bytes, kind)                                           \
  if (strcmp(text, name) == 0) return number;
  TFSDK_DTYPES(TFSDK_DTYPE_FIND_)
#undef TFSDK_DTYPE_FIND_
  if (strcmp(text, "float") == 0) return TFSDK_FLOAT32;
  if (strcmp(text, "double") == 0) return TFSDK_FLOAT64;
  if (strcmp(text, "half") == 0) return TFSDK_FLOAT16;
  return 0;
}

/* A shape that may be partly unknown: rank -1 says that nothing is known, an extent of -1 that this
 * axis is not. Whole shapes (of tensors that exist) have neither. */
typedef struct tfsdk_shape {
  int32_t rank;
  int32_t reserved;
  int64_t dim[TFSDK_MAX_RANK];
} tfsdk_shape;

/* Elements of a wholly known shape; -1 when an extent is unknown or the product passes 2^63 - 1. */
static inline int64_t tfsdk_shape_elements(const tfsdk_shape *s) {
  int64_t n = 1;
  int zero = 0;
  if (s->rank < 0) return -1;
  for (int32_t i = 0; i < s->rank; i++) {
    if (s->dim[i] < 0) return -1;
    if (s->dim[i] == 0) zero = 1;
  }
  if (zero) return 0;
  for (int32_t i = 0; i < s->rank; i++) {
    if (s->dim[i] > INT64_MAX / n) return -1;
    n *= s->dim[i];
  }
  return n;
}

/* What a kernel sees of a tensor. Borrowed: valid until the call it was handed to returns. An
 * input's data must not be written. `data` is never NULL for a tensor with elements, and aligned to
 * 64 bytes unless the tensor was imported; it points to memory of the kernel's device, or of the
 * host where the kernel's record says so. */
typedef struct tfsdk_view {
  void *data;
  const int64_t *dim; /* `rank` extents */
  int64_t n_elem;
  uint64_t byte_size; /* of `data`; strings: offsets and bytes together */
  int32_t dtype;
  uint16_t rank;
  uint16_t flags; /* TFSDK_VIEW_* */
  /* Which content it is: two views of equal stamps, not 0, have equal data, so that what a kernel
   * made of a variable or constant (packed weights) may be kept. 0: nothing is known. */
  uint64_t stamp;
} tfsdk_view;

enum tfsdk_view_flag {
  TFSDK_VIEW_ABSENT = 1,     /* an optional input that was not given */
  TFSDK_VIEW_SHAPE_ONLY = 2, /* no data: only dtype and shape may be read */
  TFSDK_VIEW_SUPPLIED = 4    /* its elements come from run_api.supply, and only from there */
};

/* Strings: `data` holds n_elem + 1 uint64 offsets, then the bytes; element i is the bytes from
 * offset[i] to offset[i + 1], counted from the first byte behind the offsets. They live on the
 * host. */
static inline const char *tfsdk_view_string(const tfsdk_view *v, int64_t i, uint64_t *out_bytes) {
  const uint64_t *off = (const uint64_t *)v->data;
  *out_bytes = off[i + 1] - off[i];
  return (const char *)(off + v->n_elem + 1) + off[i];
}

/* ------------------------------------------------------------------------ 16-bit floating numbers
 */

/* IEEE 754 binary16 to binary32; exact. */
static inline float tfsdk_from_half(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, mantissa = h & 0x3ffu;
  uint32_t bits;
  float f;
  if (exponent == 31) {
    bits = sign | 0x7f800000u | (mantissa << 13);
  } else if (exponent != 0) {
    bits = sign | ((exponent + 112u) << 23) | (mantissa << 13);
  } else { /* zero or subnormal: mantissa * 2^-24 is exact in binary32 */
    f = (float)mantissa * (1.0f / 16777216.0f);
    memcpy(&bits, &f, 4);
    bits |= sign;
  }
  memcpy(&f, &bits, 4);
  return f;
}

/* binary32 to binary16, to nearest, ties to even; NaN stays NaN. */
static inline uint16_t tfsdk_to_half(float f) {
  uint32_t bits, sign, magnitude;
  memcpy(&bits, &f, 4);
  sign = (bits >> 16) & 0x8000u;
  magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u)
    return (uint16_t)(sign | 0x7c00u); /* 65520 and more round up to inf */
  if (magnitude <
      0x38800000u) { /* subnormal: adding 0.5 leaves the rounded 2^-24 units in the mantissa */
    float m;
    uint32_t r;
    memcpy(&m, &magnitude, 4);
    m += 0.5f;
    memcpy(&r, &m, 4);
    return (uint16_t)(sign | (r - 0x3f000000u));
  }
  magnitude += 0xfffu + ((magnitude >> 13) & 1u);
  return (uint16_t)(sign | ((magnitude - 0x38000000u) >> 13));
}

/* double to binary32, inexact numbers to the neighbour with an odd last bit. Rounding that once
 * more, to fewer bits, gives what rounding x once would have given: no tie appears on the way. */
static inline float tfsdk_round_to_odd(double x) {
  float f = (float)x;
  uint32_t bits;
  if ((double)f == x || x != x) return f;
  memcpy(&bits, &f, 4);
  if ((f < 0 ? -(double)f : (double)f) > (x < 0 ? -x : x)) bits--;
  bits |= 1u;
  memcpy(&f, &bits, 4);
  return f;
}

/* bfloat16 is the upper half of binary32; exact. */
static inline float tfsdk_from_bfloat16(uint16_t h) {
  uint32_t bits = (uint32_t)h << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

/* binary32 to bfloat16, to nearest, ties to even; NaN stays NaN whatever its payload. */
static inline uint16_t tfsdk_to_bfloat16(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((bits >> 16) | 0x40u);
  return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

#ifdef __cplusplus
}
#endif
#endif
