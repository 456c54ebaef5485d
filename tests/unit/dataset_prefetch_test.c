/* Prefetching: a thread, a queue, and how they end. Names TRN_xx are cases of users' reports. */
#include <sched.h>

#include "dataset_support.h"

/* TRN-05: exactly 20 items, then the end, in 5 batches of 4. */
Test(prefetch, TRN_05_two_epochs_then_the_end) {
  maker m = {.rt = new_runtime(), .n = 10, .fail_at = -1, .grow_at = -1};
  tfsdk_dataset *d = make_from(&m);
  REPEAT(d, 2);
  BATCH(d, 4, 0);
  PREFETCH(d, 2);
  EXPECT_SIZES(d, 4, 4, 4, 4, 4);
  EXPECT_NUMBERS(d, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(m.rt);
}

/* TRN-05: the producer's message reaches the consumer, after the items made before, within a
 * second. */
Test(prefetch, TRN_05_error_in_the_producer) {
  maker m = {.rt = new_runtime(), .n = 10, .fail_at = 5, .grow_at = -1};
  for (int64_t queue = 1; queue <= 16; queue *= 4) {
    tfsdk_dataset *d = make_from(&m);
    PREFETCH(d, queue);
    tfsdk_iterator *it = iterate(d);
    tfsdk_tensor *t;
    int32_t end;
    for (int i = 0; i < 5; i++) {
      t = next(it);
      cr_assert_not_null(t);
      cr_expect_eq(*(const int64_t *)data_of(t), i);
      tfsdk_tensor_release(t);
    }
    double begin = seconds();
    for (int i = 0; i < 3; i++)
      FAILS(tfsdk_iterator_next(it, &t, &end), TFSDK_ABORTED, "the producer broke at item 5");
    tfsdk_iterator_release(it);
    cr_expect_lt(seconds() - begin, 1.0);
    tfsdk_dataset_release(d);
  }
  cr_expect_eq(m.starts, m.finishes);
  tfsdk_runtime_release(m.rt);
}

static int threads_now(void) {
  char line[128];
  int n = -1;
  FILE *f = fopen("/proc/self/status", "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "Threads: %d", &n) == 1) break;
  if (f != NULL) fclose(f);
  return n;
}

/* TRN-05: a stop is asked for while the queue is full, 200 times; join within a second, no thread
 * stays, no memory either. */
Test(prefetch, TRN_05_stop_with_a_full_queue) {
  maker m = {.rt = new_runtime(), .n = 1000000, .fail_at = -1, .grow_at = -1};
  int threads = threads_now();
  uint64_t held = blocks(m.rt);
  for (int round = 0; round < 200; round++) {
    tfsdk_dataset *d = make_from(&m);
    PREFETCH(d, 3);
    m.made = 0;
    tfsdk_iterator *it = iterate(d);
    tfsdk_tensor_release(next(it));
    if (round % 4 == 0) /* one taken, three in the queue, one in the producer's hands */
      for (double begin = seconds(); m.made < 5 && seconds() - begin < 1;) sched_yield();
    double begin = seconds();
    tfsdk_iterator_release(it);
    cr_expect_lt(seconds() - begin, 1.0);
    tfsdk_dataset_release(d);
  }
  cr_expect_eq(threads_now(), threads);
  cr_expect_eq(blocks(m.rt), held);
  cr_expect_eq(m.starts, m.finishes);
  tfsdk_runtime_release(m.rt);
}

/* Releasing waits for the element being made, not for more. */
Test(prefetch, release_waits_for_one_element_only) {
  maker m = {.rt = new_runtime(), .n = 1000, .fail_at = -1, .grow_at = -1, .delay = 0.05};
  tfsdk_dataset *d = make_from(&m);
  PREFETCH(d, 100);
  tfsdk_iterator *it = iterate(d);
  tfsdk_tensor_release(next(it));
  double begin = seconds();
  tfsdk_iterator_release(it);
  cr_expect_lt(seconds() - begin, 1.0);
  cr_expect_leq(m.made, 3);
  it = iterate(d); /* and one that was never used has nothing to wait for */
  tfsdk_iterator_release(it);
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(m.rt);
}

/* The queue is bounded: with 2 places the producer is at most 3 elements ahead. */
Test(prefetch, prefetch_is_bounded) {
  maker m = {.rt = new_runtime(), .n = 1000, .fail_at = -1, .grow_at = -1};
  tfsdk_dataset *d = make_from(&m);
  PREFETCH(d, 2);
  tfsdk_iterator *it = iterate(d);
  for (int i = 0; i < 50; i++) {
    tfsdk_tensor_release(next(it));
    cr_expect_leq(m.made, i + 1 + 3);
  }
  tfsdk_iterator_release(it);
  tfsdk_dataset_release(d);
  tfsdk_runtime_release(m.rt);
}

/* Prefetching changes no element and no order, wherever it stands; epochs behind it start it again.
 */
Test(prefetch, prefetch_anywhere) {
  tfsdk_runtime *rt = new_runtime();
  int64_t plain[200], got[200];
  for (int where = -1; where < 5; where++) {
    tfsdk_dataset *d = count_to(rt, 23);
    if (where == 0) PREFETCH(d, 1);
    SHUFFLE(d, 7, 11, 1);
    if (where == 1) PREFETCH(d, 2);
    BATCH(d, 5, 0);
    if (where == 2) PREFETCH(d, -1);
    REPEAT(d, 3);
    if (where >= 3) PREFETCH(d, 4);
    if (where == 4) PREFETCH(d, 1); /* twice */
    int n = drain(d, where < 0 ? plain : got, 200);
    cr_assert_eq(n, 69);
    if (where >= 0) cr_expect_arr_eq(got, plain, 69 * 8, "prefetch at place %d", where);
    tfsdk_dataset_release(d);
  }
  tfsdk_runtime_release(rt);
}
