/* What the unit tests share: checking statuses, making tensors, comparing them. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tfsdk/tfsdk.h>

/* The call succeeds; else the error's whole text is the failure. */
#define OK(expr)                                                                                   \
  do {                                                                                             \
    tfsdk_status *s_ = (expr);                                                                     \
    cr_assert(s_ == NULL, "%s: %s", #expr, tfsdk_status_text(s_));                                 \
  } while (0)

/* The call fails with that code, and its text contains the words. */
#define FAILS(expr, code, words)                                                                   \
  do {                                                                                             \
    tfsdk_status *s_ = (expr);                                                                     \
    cr_assert(s_ != NULL, "%s succeeds; an error with '%s' was expected", #expr, words);           \
    cr_expect(tfsdk_status_code(s_) == (code), "%s: code %s: %s", #expr,                           \
              tfsdk_status_code_name(tfsdk_status_code(s_)), tfsdk_status_text(s_));               \
    cr_expect(strstr(tfsdk_status_text(s_), words) != NULL, "'%s' is not in: %s", words,           \
              tfsdk_status_text(s_));                                                              \
    tfsdk_status_release(s_);                                                                      \
  } while (0)

static inline tfsdk_runtime *new_runtime(void) {
  tfsdk_runtime *rt = NULL;
  OK(tfsdk_runtime_create(NULL, &rt));
  return rt;
}

#define DIMS(...)                                                                                  \
  (const int64_t[]) { __VA_ARGS__ }

static inline tfsdk_tensor *floats(tfsdk_runtime *rt, uint32_t rank, const int64_t *dim,
                                   const float *data) {
  int64_t n = 1;
  tfsdk_tensor *t = NULL;
  for (uint32_t i = 0; i < rank; i++) n *= dim[i];
  OK(tfsdk_tensor_create(rt, TFSDK_FLOAT32, rank, dim, data, (size_t)n * 4, &t));
  return t;
}
#define FLOATS(rt, rank, dims, ...) floats(rt, rank, dims, (const float[]){__VA_ARGS__})

static inline const float *data_of(tfsdk_tensor *t) {
  tfsdk_view v;
  OK(tfsdk_tensor_view(t, &v));
  return v.data;
}

static inline void expect_floats(tfsdk_tensor *t, int64_t n, const float *want, double tolerance) {
  cr_assert(t != NULL);
  cr_assert_eq(tfsdk_tensor_elements(t), n);
  const float *got = data_of(t);
  for (int64_t i = 0; i < n; i++)
    cr_expect(fabs((double)got[i] - (double)want[i]) <= tolerance * (1 + fabs((double)want[i])),
              "element %lld is %.9g, not %.9g", (long long)i, (double)got[i], (double)want[i]);
}
#define EXPECT_FLOATS(t, tolerance, ...)                                                           \
  expect_floats(t, (int64_t)(sizeof((const float[]){__VA_ARGS__}) / 4),                            \
                (const float[]){__VA_ARGS__}, tolerance)

static inline tfsdk_tensor *run1(tfsdk_runtime *rt, const char *op, tfsdk_tensor **in, size_t n) {
  tfsdk_tensor *out = NULL;
  OK(tfsdk_eager_run(rt, op, in, n, NULL, 0, &out, 1));
  return out;
}

static inline tfsdk_val placeholder(tfsdk_ctx *c, int32_t dtype, uint32_t rank,
                                    const int64_t *dim) {
  tfsdk_attrval attr[2] = {tfsdk_a_dtype("dtype", dtype), tfsdk_a_shape("shape", dim, rank)};
  tfsdk_val v = tfsdk_emit(c, "Placeholder", NULL, 0, attr, 2);
  OK(tfsdk_ctx_error(c));
  return v;
}

#endif
