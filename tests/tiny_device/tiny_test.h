/* tiny_test.h - what the tests of the pretend accelerator share. */
#ifndef TINY_TEST_H
#define TINY_TEST_H

#include "support.h"
#include <pthread.h>
#include <stdio.h>

#define TINY_FILE  TINY_FOLDER "/tiny-device.so"
#define TINY_LIMIT ((uint64_t)256 << 20) /* TINY_BYTES of tiny.h */

/* Lines that were logged since the last runtime was made. */
static char logged[65536];

static inline void keep_line(void *user, int32_t level, const char *line) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  (void)user;
  (void)level;
  pthread_mutex_lock(&lock);
  size_t n = strlen(logged);
  snprintf(logged + n, sizeof logged - n, "%s\n", line);
  pthread_mutex_unlock(&lock);
}
static inline int times_logged(const char *words) {
  int n = 0;
  for (const char *p = logged; (p = strstr(p, words)) != NULL; p += strlen(words)) n++;
  return n;
}

static inline tfsdk_runtime *runtime_with(tfsdk_runtime_options o) {
  tfsdk_runtime *rt = NULL;
  o.struct_size = sizeof o;
  o.plugin_path = TINY_FOLDER;
  o.log = keep_line;
  logged[0] = 0;
  OK(tfsdk_runtime_create(&o, &rt));
  return rt;
}
static inline tfsdk_runtime *tiny_runtime(void) {
  return runtime_with((tfsdk_runtime_options){.log_level = TFSDK_LOG_INFO});
}
/* The device found everything given back when it was closed. */
static inline void end_runtime(tfsdk_runtime *rt) {
  tfsdk_runtime_release(rt);
  cr_expect(times_logged("tiny: ") == 0, "the device complains: %s", logged);
}

static inline tfsdk_tensor *to(tfsdk_tensor *t, const char *device) {
  tfsdk_tensor *out = NULL;
  OK(tfsdk_tensor_to_device(t, device, &out));
  return out;
}
static inline void expect_on(const tfsdk_tensor *t, const char *device) {
  cr_expect_str_eq(tfsdk_tensor_device(t), device);
}
static inline uint64_t in_use(tfsdk_runtime *rt, const char *device) {
  tfsdk_memory_info m;
  tfsdk_runtime_memory(rt, device, &m);
  return m.in_use;
}
/* Runs an op eagerly in the scope of a device. */
static inline void run_on(tfsdk_runtime *rt, const char *device, const char *op,
                          tfsdk_tensor *const *in, size_t n_in, const tfsdk_attrval *attr,
                          size_t n_attr, tfsdk_tensor **out, size_t n_out) {
  OK(tfsdk_ctx_push_device(tfsdk_eager_ctx(rt), device));
  tfsdk_status *s = tfsdk_eager_run(rt, op, in, n_in, attr, n_attr, out, n_out);
  tfsdk_ctx_pop_device(tfsdk_eager_ctx(rt));
  OK(s);
}
static inline tfsdk_tensor *run1_on(tfsdk_runtime *rt, const char *device, const char *op,
                                    tfsdk_tensor *const *in, size_t n) {
  tfsdk_tensor *out = NULL;
  run_on(rt, device, op, in, n, NULL, 0, &out, 1);
  return out;
}
/* Numbers in (-2, 2), the same for the same seed (Knuth's MMIX generator). */
static inline tfsdk_tensor *noise(tfsdk_runtime *rt, uint32_t rank, const int64_t *dim,
                                  uint64_t seed) {
  int64_t n = 1;
  for (uint32_t i = 0; i < rank; i++) n *= dim[i];
  float *x = malloc((size_t)n * sizeof *x + 1);
  for (int64_t i = 0; i < n; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    x[i] = (float)((double)(seed >> 11) / 9007199254740992.0 * 4 - 2);
  }
  tfsdk_tensor *t = floats(rt, rank, dim, x);
  free(x);
  return t;
}
static inline void expect_close(tfsdk_tensor *got, tfsdk_tensor *want, double tolerance) {
  cr_assert(got != NULL && want != NULL);
  cr_assert_eq(tfsdk_tensor_rank(got), tfsdk_tensor_rank(want));
  for (int32_t i = 0; i < tfsdk_tensor_rank(got); i++)
    cr_assert_eq(tfsdk_tensor_dims(got)[i], tfsdk_tensor_dims(want)[i]);
  expect_floats(got, tfsdk_tensor_elements(want), data_of(want), tolerance);
}
static inline void drop(tfsdk_tensor **t, size_t n) {
  for (size_t i = 0; i < n; i++) tfsdk_tensor_release(t[i]);
}

#endif
