/* What the tests of datasets share: sources of numbers, transformations in a row, draining, a
 * generator. */
#ifndef TESTS_UNIT_DATASET_SUPPORT_H
#define TESTS_UNIT_DATASET_SUPPORT_H

#include "support.h"
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static inline tfsdk_tensor *int64s(tfsdk_runtime *rt, uint32_t rank, const int64_t *dim,
                                   const int64_t *data) {
  int64_t n = 1;
  tfsdk_tensor *t = NULL;
  for (uint32_t i = 0; i < rank; i++) n *= dim[i];
  OK(tfsdk_tensor_create(rt, TFSDK_INT64, rank, dim, data, (size_t)n * 8, &t));
  return t;
}

/* The numbers 0 .. n - 1, one an element. */
static inline tfsdk_dataset *count_to(tfsdk_runtime *rt, int64_t n) {
  int64_t data[256];
  const char *name = "x";
  tfsdk_dataset *d;
  for (int64_t i = 0; i < n; i++) data[i] = i;
  tfsdk_tensor *t = int64s(rt, 1, DIMS(n), data);
  OK(tfsdk_dataset_from_tensors(rt, &name, &t, 1, &d));
  tfsdk_tensor_release(t);
  return d;
}

/* Applies a transformation and lets go of what it stands on. */
#define THEN(d, call)                                                                              \
  do {                                                                                             \
    tfsdk_dataset *over_ = NULL, *in_ = (d);                                                       \
    OK(call);                                                                                      \
    tfsdk_dataset_release(in_);                                                                    \
    (d) = over_;                                                                                   \
  } while (0)
#define BATCH(d, size, drop) THEN(d, tfsdk_dataset_batch(in_, size, drop, &over_))
#define SHUFFLE(d, buffer, seed, each)                                                             \
  THEN(d, tfsdk_dataset_shuffle(in_, buffer, seed, each, &over_))
#define REPEAT(d, n)   THEN(d, tfsdk_dataset_repeat(in_, n, &over_))
#define TAKE(d, n)     THEN(d, tfsdk_dataset_take(in_, n, &over_))
#define SKIP(d, n)     THEN(d, tfsdk_dataset_skip(in_, n, &over_))
#define PREFETCH(d, n) THEN(d, tfsdk_dataset_prefetch(in_, n, &over_))

static inline tfsdk_iterator *iterate(tfsdk_dataset *d) {
  tfsdk_iterator *it = NULL;
  OK(tfsdk_iterator_create(d, &it));
  return it;
}

/* The next element of one component, or NULL at the end. */
static inline tfsdk_tensor *next(tfsdk_iterator *it) {
  tfsdk_tensor *t = NULL;
  int32_t end = 0;
  OK(tfsdk_iterator_next(it, &t, &end));
  cr_assert_eq(t == NULL, end != 0);
  return t;
}

/* All numbers that an iterator gives, however they are batched; sizes (may be NULL) gets the
 * extents of axis 0. */
static inline int drain_iterator(tfsdk_iterator *it, int64_t *out, int cap, int64_t *sizes,
                                 int *n_elements) {
  int n = 0, elements = 0;
  for (tfsdk_tensor *t; (t = next(it)) != NULL; elements++) {
    const int64_t *x = (const int64_t *)data_of(t);
    for (int64_t i = 0; i < tfsdk_tensor_elements(t); i++) {
      cr_assert_lt(n, cap);
      out[n++] = x[i];
    }
    if (sizes != NULL) sizes[elements] = tfsdk_tensor_dims(t)[0];
    tfsdk_tensor_release(t);
  }
  if (n_elements != NULL) *n_elements = elements;
  return n;
}

static inline int drain(tfsdk_dataset *d, int64_t *out, int cap) {
  tfsdk_iterator *it = iterate(d);
  int n = drain_iterator(it, out, cap, NULL, NULL);
  tfsdk_iterator_release(it);
  return n;
}

static inline void expect_numbers(tfsdk_dataset *d, int n, const int64_t *want) {
  int64_t got[256];
  int k = drain(d, got, 256);
  cr_assert_eq(k, n, "%d numbers, not %d", k, n);
  for (int i = 0; i < n; i++)
    cr_expect_eq(got[i], want[i], "number %d is %lld", i, (long long)got[i]);
}
#define EXPECT_NUMBERS(d, ...)                                                                     \
  expect_numbers(d, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (const int64_t[]){__VA_ARGS__})

static inline void expect_sizes(tfsdk_dataset *d, int n, const int64_t *want) {
  int64_t numbers[256], sizes[256];
  int k;
  tfsdk_iterator *it = iterate(d);
  drain_iterator(it, numbers, 256, sizes, &k);
  tfsdk_iterator_release(it);
  cr_assert_eq(k, n, "%d batches, not %d", k, n);
  for (int i = 0; i < n; i++)
    cr_expect_eq(sizes[i], want[i], "batch %d has %lld", i, (long long)sizes[i]);
}
#define EXPECT_SIZES(d, ...)                                                                       \
  expect_sizes(d, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (const int64_t[]){__VA_ARGS__})

static inline double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What the runtime holds: equal before and after means that nothing was left. */
static inline uint64_t blocks(tfsdk_runtime *rt) {
  tfsdk_memory_info info;
  tfsdk_runtime_memory(rt, NULL, &info);
  return info.live_blocks;
}

/* Gives 0, 1, ... n - 1; fails at item `fail_at`; from item `grow_at` on the tensors are longer. */
typedef struct maker {
  tfsdk_runtime *rt;
  int n, fail_at, grow_at;
  int starts, finishes, released;
  double delay;
  _Atomic int made;
} maker;

static inline tfsdk_status *maker_start(void *user, void **out_state) {
  maker *m = user;
  m->starts++;
  *out_state = calloc(1, sizeof(int));
  return NULL;
}

static inline tfsdk_status *maker_next(void *user, void *state, tfsdk_tensor **out,
                                       int32_t *out_end) {
  maker *m = user;
  int i = (*(int *)state)++;
  struct timespec t = {0, (long)(m->delay * 1e9)};
  if (m->delay > 0) nanosleep(&t, NULL);
  if (m->fail_at >= 0 && i == m->fail_at) {
    tfsdk_ctx *c = tfsdk_eager_ctx(m->rt);
    return TFSDK_FAIL(c, ABORTED, "the producer broke at item %d", i);
  }
  *out_end = i == m->n;
  if (i == m->n) return NULL;
  int64_t data[2] = {i, i}, dim[1] = {m->grow_at >= 0 && i >= m->grow_at ? 2 : 1};
  m->made++;
  return tfsdk_tensor_create(m->rt, TFSDK_INT64, 1, dim, data, (size_t)dim[0] * 8, out);
}

static inline void maker_finish(void *user, void *state) {
  maker *m = user;
  m->finishes++;
  free(state);
}

static inline void maker_release(void *user) { ((maker *)user)->released++; }

static inline tfsdk_dataset *make_from(maker *m) {
  tfsdk_generator g = {.struct_size = sizeof g, .n = 1};
  tfsdk_dataset *d;
  const char *names[1] = {"item"};
  g.names = names;
  g.start = maker_start;
  g.next = maker_next;
  g.finish = maker_finish;
  g.release = maker_release;
  g.user = m;
  OK(tfsdk_dataset_from_generator(m->rt, &g, &d));
  return d;
}

#endif
