/* Prefetching: a thread pulls elements ahead into a queue while the consumer works.
 *
 * The thread lives for one epoch: from the first `next` until the input ends, fails, or the
 * consumer rewinds or closes. An error waits behind the elements made before it. Closing asks the
 * thread to stop and joins it, which takes at most as long as the element it is making. */
#include <errno.h>
#include <signal.h>

#include "dataset.h"

typedef struct prefetch {
  tfsdk_dataset base;
  int64_t count;
} prefetch;

typedef struct prefetch_link {
  tfsdk__link base;
  pthread_t thread;
  bool running; /* the thread is to be joined */
  pthread_mutex_t lock;
  pthread_cond_t more, room; /* more: for the consumer; room: for the thread */
  /* Under the lock: */
  tfsdk__item *queue; /* a ring of `count` elements */
  size_t head, n;     /* elements */
  bool stop;          /* the consumer wants no more */
  bool finished;      /* nothing comes after what is in the queue but `error` or the end */
  tfsdk_status *error;
  /* The thread's own: */
  tfsdk__item *making;
} prefetch_link;

static tfsdk__item *slot(prefetch_link *it, size_t i) {
  size_t cap = (size_t)((prefetch *)it->base.d)->count;
  return it->queue + (it->head + i) % cap * it->base.d->width;
}

/* Appends what was made; false when the consumer wants no more. */
static bool push(prefetch_link *it, size_t cap) {
  pthread_mutex_lock(&it->lock);
  while (it->n == cap && !it->stop) pthread_cond_wait(&it->room, &it->lock);
  bool wanted = !it->stop;
  if (wanted) {
    memcpy(slot(it, it->n), it->making, it->base.d->width * sizeof *it->making);
    it->n++;
    pthread_cond_signal(&it->more);
  }
  pthread_mutex_unlock(&it->lock);
  if (!wanted) tfsdk__link_drop(&it->base, it->making, 1);
  return wanted;
}

static void *produce(void *user) {
  prefetch_link *it = user;
  size_t cap = (size_t)((prefetch *)it->base.d)->count;
  tfsdk_status *error = NULL;
  bool end = false;
  tfsdk__thread_is_own = true;
  do {
    error = tfsdk__link_next(it->base.input, it->making, &end);
  } while (error == NULL && !end && push(it, cap));
  pthread_mutex_lock(&it->lock);
  it->error = error;
  it->finished = true;
  pthread_cond_signal(&it->more);
  pthread_mutex_unlock(&it->lock);
  return NULL;
}

/* Signals are the program's affair: its handlers run on its own threads. */
static tfsdk_status *start(prefetch_link *it) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&it->thread, NULL, produce, it);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error != 0)
    return TFSDK_FAIL(it->base.rt, RESOURCE_EXHAUSTED,
                      "prefetch: a thread cannot be started: error %d", error);
  it->running = true;
  return NULL;
}

/* Stops the thread and forgets what it made: the state before the first `next`. */
static void halt(prefetch_link *it) {
  if (it->running) {
    pthread_mutex_lock(&it->lock);
    it->stop = true;
    pthread_cond_signal(&it->room);
    pthread_mutex_unlock(&it->lock);
    pthread_join(it->thread, NULL);
    it->running = false;
  }
  for (size_t i = 0; i < it->n; i++) tfsdk__link_drop(&it->base, slot(it, i), 1);
  tfsdk_status_release(it->error);
  it->error = NULL;
  it->head = it->n = 0;
  it->stop = it->finished = false;
}

static tfsdk_status *prefetch_open(tfsdk__link *l) {
  prefetch_link *it = (prefetch_link *)l;
  size_t bytes;
  pthread_mutex_init(&it->lock, NULL);
  pthread_cond_init(&it->more, NULL);
  pthread_cond_init(&it->room, NULL);
  if (__builtin_mul_overflow((size_t)((prefetch *)l->d)->count, l->d->width * sizeof *it->queue,
                             &bytes))
    return TFSDK_FAIL(l->rt, RESOURCE_EXHAUSTED, "prefetch: a queue of %lld elements is too large",
                      (long long)((prefetch *)l->d)->count);
  it->queue = tfsdk__alloc(l->rt, bytes);
  it->making = tfsdk__alloc(l->rt, l->d->width * sizeof *it->making);
  return it->queue != NULL && it->making != NULL ? NULL : TFSDK__NOMEM(l->rt);
}

static tfsdk_status *prefetch_next(tfsdk__link *l, tfsdk__item *out, bool *out_end) {
  prefetch_link *it = (prefetch_link *)l;
  tfsdk_status *error = NULL;
  if (!it->running && !it->finished) TFSDK_TRY(start(it));
  pthread_mutex_lock(&it->lock);
  while (it->n == 0 && !it->finished) pthread_cond_wait(&it->more, &it->lock);
  if (it->n > 0) {
    memcpy(out, slot(it, 0), l->d->width * sizeof *out);
    it->head = (it->head + 1) % (size_t)((prefetch *)l->d)->count;
    it->n--;
    pthread_cond_signal(&it->room);
  } else {
    error = it->error;
    it->error = NULL;
    *out_end = error == NULL;
  }
  pthread_mutex_unlock(&it->lock);
  return error;
}

static tfsdk_status *prefetch_rewind(tfsdk__link *l) {
  halt((prefetch_link *)l);
  return tfsdk__link_rewind(l->input);
}

/* Before the thread runs, the input can pass over elements at once. */
static tfsdk_status *prefetch_skip(tfsdk__link *l, int64_t n, int64_t *out_skipped) {
  prefetch_link *it = (prefetch_link *)l;
  if (!it->running) {
    TFSDK_TRY(tfsdk__link_skip(l->input, n, out_skipped));
    it->finished = *out_skipped < n; /* and the input is not asked again */
    return NULL;
  }
  bool end = false;
  tfsdk__item *item = tfsdk__alloc(l->rt, l->d->width * sizeof *item);
  tfsdk_status *s = item == NULL ? TFSDK__NOMEM(l->rt) : NULL;
  for (*out_skipped = 0; s == NULL && *out_skipped < n; ++*out_skipped) {
    s = tfsdk__link_next(l, item, &end);
    if (s != NULL || end) break;
    tfsdk__link_drop(l, item, 1);
  }
  tfsdk__free(l->rt, item);
  return s;
}

static void prefetch_close(tfsdk__link *l) {
  prefetch_link *it = (prefetch_link *)l;
  halt(it);
  tfsdk__free(l->rt, it->queue);
  tfsdk__free(l->rt, it->making);
  pthread_cond_destroy(&it->room);
  pthread_cond_destroy(&it->more);
  pthread_mutex_destroy(&it->lock);
}

static const tfsdk__dataset_kind prefetch_kind = {.name = "prefetch",
                                                  .dataset_bytes = sizeof(prefetch),
                                                  .link_bytes = sizeof(prefetch_link),
                                                  .open = prefetch_open,
                                                  .next = prefetch_next,
                                                  .rewind = prefetch_rewind,
                                                  .close = prefetch_close,
                                                  .skip = prefetch_skip};

#define AUTOMATIC                                                                                  \
  2 /* one being used, one ready: more only helps when elements take unequal times */

tfsdk_status *tfsdk_dataset_prefetch(tfsdk_dataset *d, int64_t count, tfsdk_dataset **out) {
  *out = NULL;
  TFSDK_REQUIRE(d->rt, count >= 1 || count == -1,
                "prefetch: the queue holds 1 element or more (-1: chosen for you); it is %lld",
                (long long)count);
  TFSDK_TRY(tfsdk__dataset_over(d, &prefetch_kind, out));
  ((prefetch *)*out)->count = count < 0 ? AUTOMATIC : count;
  return NULL;
}
