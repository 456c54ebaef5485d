/* What the files dataset*.c share.
 *
 * A dataset is a counted, immutable recipe; a transformation holds the dataset it stands on. An
 * iterator runs through it and is a chain of the same form: each link pulls from the one before it.
 *
 * An element on its way is `width` items. A source that keeps its tensors hands out row numbers,
 * one item an element, and nothing is copied before somebody needs tensors: `shuffle` then moves
 * eight bytes an element, and `batch` copies rows straight to their place in the batch. All other
 * elements are one tensor reference for each component. Which of the two it is, a dataset knows for
 * good (`rows`).
 *
 * Rules for links: `next` is not called again after an end or an error before `rewind`; `rewind`
 * may come at any time; `close` comes once, also after a failed `open`. One thread at a time uses a
 * chain.
 */
#ifndef TFSDK_CORE_DATASET_H
#define TFSDK_CORE_DATASET_H

#include "internal.h"

typedef union tfsdk__item {
  int64_t row;
  tfsdk_tensor *tensor; /* one reference */
} tfsdk__item;

typedef struct tfsdk__link tfsdk__link;

typedef struct tfsdk__dataset_kind {
  const char *name; /* "batch": what messages begin with */
  size_t dataset_bytes, link_bytes;
  void (*release)(tfsdk_dataset *d); /* NULL: nothing of its own */
  /* The link is zeroed, its input is open. NULL: nothing to do. */
  tfsdk_status *(*open)(tfsdk__link *l);
  /* Fills out[0 .. width of the dataset), or sets *out_end and leaves out alone. */
  tfsdk_status *(*next)(tfsdk__link *l, tfsdk__item *out, bool *out_end);
  /* Begins the next epoch; rewinds its input itself. */
  tfsdk_status *(*rewind)(tfsdk__link *l);
  void (*close)(tfsdk__link *l); /* the input is closed afterwards; NULL: nothing to do */
  /* Passes over n elements and says how many there were: fewer at the end only, and then `next` is
   * not called before `rewind`, as after an end. NULL: they are made and dropped. */
  tfsdk_status *(*skip)(tfsdk__link *l, int64_t n, int64_t *out_skipped);
  /* What the order of elements depends on besides the recipe, as two numbers: shuffle's seed and
   * pass, repeat's length of an epoch. NULL: nothing. See dataset_position.c. */
  void (*save)(tfsdk__link *l, uint64_t out[2]);
  void (*restore)(tfsdk__link *l, const uint64_t in[2]);
} tfsdk__dataset_kind;

/* The first member of every kind's dataset. */
struct tfsdk_dataset {
  atomic_size_t refs;
  tfsdk_runtime *rt;
  const tfsdk__dataset_kind *kind;
  tfsdk_dataset *input; /* NULL: a source */
  tfsdk_dataset *rows;  /* the source whose row numbers the elements are; NULL: they are tensors */
  uint32_t n, width;    /* components; items of an element */
  char **name;          /* n texts; a transformation borrows its input's */
};

/* The first member of every kind's link. */
struct tfsdk__link {
  tfsdk_dataset *d; /* held by the iterator, through the last dataset of the chain */
  tfsdk_runtime *rt;
  tfsdk__link *input;
};

/* A source of n components; names may be NULL (none), else they are copied and must differ. */
tfsdk_status *tfsdk__dataset_source(tfsdk_runtime *rt, const tfsdk__dataset_kind *kind, uint32_t n,
                                    const char *const *names, tfsdk_dataset **out);
/* A transformation: its elements are of the input's form. */
tfsdk_status *tfsdk__dataset_over(tfsdk_dataset *input, const tfsdk__dataset_kind *kind,
                                  tfsdk_dataset **out);

static inline tfsdk_status *tfsdk__link_next(tfsdk__link *l, tfsdk__item *out, bool *out_end) {
  *out_end = false;
  return l->d->kind->next(l, out, out_end);
}
tfsdk_status *tfsdk__link_skip(tfsdk__link *l, int64_t n, int64_t *out_skipped);
static inline tfsdk_status *tfsdk__link_rewind(tfsdk__link *l) { return l->d->kind->rewind(l); }
/* Gives back what n elements of l hold. */
void tfsdk__link_drop(tfsdk__link *l, const tfsdk__item *item, size_t n);

struct tfsdk_iterator {
  pthread_mutex_t lock; /* several consumers may share an iterator; each element goes to one */
  tfsdk_dataset *d;
  tfsdk__link *last;
  int64_t given; /* elements handed out */
  bool ended;
  int32_t code; /* of the error that ended it, and its message: every later call says it again */
  char *message;
  tfsdk__item item[];
};

/* Rows of component c of a source of rows as one new tensor of shape [n, ...]; n = -1: of one row,
 * without that axis. */
tfsdk_status *tfsdk__dataset_gather(tfsdk_dataset *rows, uint32_t c, const int64_t *row, int64_t n,
                                    tfsdk_tensor **out);

#endif
