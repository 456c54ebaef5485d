/* Integer division without traps: what the division and remainder ops share. Everything is done in
 * 64 bits; the smallest integer divided by -1 wraps around to itself. */
#ifndef OPS_MATH_DIVIDE_H
#define OPS_MATH_DIVIDE_H

#include <tfsdk/elementwise.h>

/* Integers cannot be divided by zero: an error that says so before anything is computed. */
static inline tfsdk_status *divide_check(tfsdk_run *r) {
  const tfsdk_view *y = &r->in[1];
  if (tfsdk_dtype_kind(y->dtype) == 'f' || r->out[0].n_elem == 0) return NULL;
  for (int64_t i = 0; i < y->n_elem; i++)
    TFSDK_REQUIRE(r, tfsdk_view_int(y, i) != 0, "integer division by zero: element %lld of y is 0",
                  (long long)i);
  return NULL;
}

/* Towards zero; the remainder has the sign of a. */
static inline int64_t trunc_div(int64_t a, int64_t b) {
  return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
static inline int64_t trunc_mod(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }
/* Towards minus infinity; the remainder has the sign of b. */
static inline int64_t floor_div(int64_t a, int64_t b) {
  return trunc_div(a, b) - (trunc_mod(a, b) != 0 && (a < 0) != (b < 0));
}
static inline int64_t floor_mod(int64_t a, int64_t b) {
  int64_t m = trunc_mod(a, b);
  return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

/* DIVIDE(name, f, s, u): a kernel with the expression f for floats, s for signed integers (operands
 * of type int64_t), u for unsigned ones. */
#define DIVIDE(name, f, s, u)                                                                      \
  TFSDK_BINARY(name##_float, TFSDK_EW_FLOATS, f)                                                   \
  TFSDK_BINARY(name##_signed, TFSDK_EW_SIGNED, s)                                                  \
  TFSDK_BINARY(name##_unsigned, TFSDK_EW_UNSIGNED, u)                                              \
  static tfsdk_status *name(void *state, tfsdk_run *r) {                                           \
    TFSDK_TRY(divide_check(r));                                                                    \
    switch (tfsdk_dtype_kind(r->in[0].dtype)) {                                                    \
    case 'f': return name##_float(state, r);                                                       \
    case 'i': return name##_signed(state, r);                                                      \
    default: return name##_unsigned(state, r);                                                     \
    }                                                                                              \
  }

#define DIVIDE_SAMPLES                                                                             \
  "float32[2,3](0.3,0.9) ; float32[2,3](1,2)", "float64[2,1,3](0.3,0.9) ; float64[4,1](1,2)",      \
      "float16{-7,7,-7} ; float16{2,-2,-2}", "int32{-7,7,-7,-7,7,-6} ; int32{2,-2,-2,3,-3,3}",     \
      "uint8{7,255} ; uint8{2,3}", "int64{-7,7} ; int64(-2)"

#endif
