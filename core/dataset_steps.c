/* Datasets that pass elements on, more often, less often or in another order: repeat, take, skip,
 * shuffle. They look at no tensor. */
#include <tfsdk/philox.h>

#include "dataset.h"

typedef struct counted { /* repeat, take and skip */
  tfsdk_dataset base;
  int64_t count;
} counted;

typedef struct counted_link {
  tfsdk__link base;
  int64_t done;
  bool any; /* repeat: this epoch had an element */
} counted_link;

typedef struct repeat_link {
  counted_link counted;
  int64_t seen;            /* elements of this epoch */
  _Atomic(int64_t) length; /* of every epoch so far; 0 unknown, -1 they differ */
} repeat_link;

static tfsdk_status *make_counted(tfsdk_dataset *d, const tfsdk__dataset_kind *kind, int64_t count,
                                  tfsdk_dataset **out) {
  *out = NULL;
  TFSDK_REQUIRE(d->rt, count >= -1, "%s: a count is 0 or more, or -1 for no limit; it is %lld",
                kind->name, (long long)count);
  TFSDK_TRY(tfsdk__dataset_over(d, kind, out));
  ((counted *)*out)->count = count;
  return NULL;
}

static int64_t count_of(const tfsdk__link *l) { return ((const counted *)l->d)->count; }

static tfsdk_status *counted_rewind(tfsdk__link *l) {
  counted_link *it = (counted_link *)l;
  it->done = 0;
  it->any = false;
  return tfsdk__link_rewind(l->input);
}

/* ------------------------------------------------------------------------------------------ repeat
 */

/* An epoch is over: is there another one? Epochs of one length can be passed over unread. */
static tfsdk_status *next_epoch(repeat_link *it, bool *out_end) {
  counted_link *c = &it->counted;
  int64_t length = atomic_load(&it->length);
  atomic_store(&it->length, length == 0 || length == it->seen ? it->seen : -1);
  it->seen = 0;
  c->done++;
  *out_end = !c->any || c->done == count_of(&c->base);
  c->any = false;
  return *out_end ? NULL : tfsdk__link_rewind(c->base.input);
}

/* Epochs follow one another whole. One without elements ends it: there would be nothing to wait
 * for. */
static tfsdk_status *repeat_next(tfsdk__link *l, tfsdk__item *out, bool *out_end) {
  repeat_link *it = (repeat_link *)l;
  *out_end = count_of(l) == 0;
  while (!*out_end) {
    bool end = false;
    TFSDK_TRY(tfsdk__link_next(l->input, out, &end));
    if (!end) {
      it->counted.any = true;
      it->seen++;
      return NULL;
    }
    TFSDK_TRY(next_epoch(it, out_end));
  }
  return NULL;
}

static tfsdk_status *repeat_skip(tfsdk__link *l, int64_t n, int64_t *out_skipped) {
  repeat_link *it = (repeat_link *)l;
  counted_link *c = &it->counted;
  int64_t length = atomic_load(&it->length), count = count_of(l), left = n;
  bool end = count == 0;
  /* whole epochs, from the beginning of one; the last is left to end in the usual way */
  while (length > 0 && left > length && it->seen == 0 && (count < 0 || c->done + 1 < count)) {
    TFSDK_TRY(tfsdk__link_rewind(l->input));
    c->done++;
    left -= length;
  }
  while (!end && left > 0) {
    int64_t got = 0;
    TFSDK_TRY(tfsdk__link_skip(l->input, left, &got));
    it->seen += got;
    c->any = c->any || got > 0;
    left -= got;
    if (left > 0) TFSDK_TRY(next_epoch(it, &end));
  }
  *out_skipped = n - left;
  return NULL;
}

static tfsdk_status *repeat_rewind(tfsdk__link *l) {
  ((repeat_link *)l)->seen = 0;
  return counted_rewind(l);
}

static void repeat_save(tfsdk__link *l, uint64_t out[2]) {
  int64_t length = atomic_load(&((repeat_link *)l)->length);
  out[0] = length > 0 ? (uint64_t)length : 0;
}

static void repeat_restore(tfsdk__link *l, const uint64_t in[2]) {
  if (in[0] <= INT64_MAX) atomic_store(&((repeat_link *)l)->length, (int64_t)in[0]);
}

static const tfsdk__dataset_kind repeat_kind = {.name = "repeat",
                                                .dataset_bytes = sizeof(counted),
                                                .link_bytes = sizeof(repeat_link),
                                                .next = repeat_next,
                                                .rewind = repeat_rewind,
                                                .skip = repeat_skip,
                                                .save = repeat_save,
                                                .restore = repeat_restore};

tfsdk_status *tfsdk_dataset_repeat(tfsdk_dataset *d, int64_t count, tfsdk_dataset **out) {
  return make_counted(d, &repeat_kind, count, out);
}

/* -------------------------------------------------------------------------------------- take, skip
 */

static tfsdk_status *take_next(tfsdk__link *l, tfsdk__item *out, bool *out_end) {
  counted_link *it = (counted_link *)l;
  *out_end = it->done == count_of(l);
  if (*out_end) return NULL; /* without asking for an element more than needed */
  TFSDK_TRY(tfsdk__link_next(l->input, out, out_end));
  it->done++;
  return NULL;
}

static tfsdk_status *take_skip(tfsdk__link *l, int64_t n, int64_t *out_skipped) {
  counted_link *it = (counted_link *)l;
  int64_t left = count_of(l) < 0 ? n : count_of(l) - it->done;
  *out_skipped = 0;
  if (left > 0) TFSDK_TRY(tfsdk__link_skip(l->input, n < left ? n : left, out_skipped));
  it->done += *out_skipped;
  return NULL;
}

static const tfsdk__dataset_kind take_kind = {.name = "take",
                                              .dataset_bytes = sizeof(counted),
                                              .link_bytes = sizeof(counted_link),
                                              .next = take_next,
                                              .rewind = counted_rewind,
                                              .skip = take_skip};

tfsdk_status *tfsdk_dataset_take(tfsdk_dataset *d, int64_t count, tfsdk_dataset **out) {
  return make_counted(d, &take_kind, count, out);
}

static tfsdk_status *skip_next(tfsdk__link *l, tfsdk__item *out, bool *out_end) {
  counted_link *it = (counted_link *)l;
  *out_end = count_of(l) < 0;
  while (!*out_end) {
    TFSDK_TRY(tfsdk__link_next(l->input, out, out_end));
    if (*out_end || it->done == count_of(l)) return NULL;
    tfsdk__link_drop(l->input, out, 1);
    it->done++;
  }
  return NULL;
}

static tfsdk_status *skip_skip(tfsdk__link *l, int64_t n, int64_t *out_skipped) {
  counted_link *it = (counted_link *)l;
  int64_t first = count_of(l) - it->done, got = 0;
  *out_skipped = 0;
  if (count_of(l) < 0) return NULL;
  if (first > 0) TFSDK_TRY(tfsdk__link_skip(l->input, first, &got));
  it->done += got;
  return got < first ? NULL : tfsdk__link_skip(l->input, n, out_skipped);
}

static const tfsdk__dataset_kind skip_kind = {.name = "skip",
                                              .dataset_bytes = sizeof(counted),
                                              .link_bytes = sizeof(counted_link),
                                              .next = skip_next,
                                              .rewind = counted_rewind,
                                              .skip = skip_skip};

tfsdk_status *tfsdk_dataset_skip(tfsdk_dataset *d, int64_t count, tfsdk_dataset **out) {
  return make_counted(d, &skip_kind, count, out);
}

/* ----------------------------------------------------------------------------------------- shuffle
 */

/* As TensorFlow's: a buffer is filled, an element is drawn from it uniformly, and its place is
 * filled again. So an element can come at most buffer - 1 places early, and buffers of 1 change
 * nothing.
 *
 * Numbers come from Philox with the seed as key and (draw, epoch, pass) as counter: a pass is one
 * iterator over the dataset, an epoch one run of it. Nothing else goes in, so the order depends
 * neither on threads nor on how far earlier iterators ran. */
typedef struct shuffle {
  tfsdk_dataset base;
  int64_t buffer;
  uint64_t seed;
  bool each_iteration;
  atomic_uint passes;
} shuffle;

typedef struct shuffle_link {
  tfsdk__link base;
  TFSDK__VEC(tfsdk__item) slot; /* n is items, not elements */
  bool drained;
  uint32_t pass, epoch;
  uint64_t draws, seed;
} shuffle_link;

static uint64_t draw_below(shuffle_link *it, uint64_t n) {
  const uint32_t key[2] = {(uint32_t)it->seed, (uint32_t)(it->seed >> 32)};
  uint64_t limit = UINT64_MAX - UINT64_MAX % n, x;
  do { /* numbers past the last whole multiple of n would favour small results */
    const uint32_t counter[4] = {(uint32_t)it->draws, (uint32_t)(it->draws >> 32), it->epoch,
                                 it->pass};
    uint32_t block[4];
    tfsdk_philox128(key, counter, block);
    x = (uint64_t)block[0] << 32 | block[1];
    it->draws++;
  } while (x >= limit);
  return x % n;
}

static void shuffle_empty(shuffle_link *it) {
  tfsdk__link_drop(it->base.input, it->slot.data, it->slot.n / it->base.d->width);
  it->slot.n = 0;
}

static tfsdk_status *shuffle_open(tfsdk__link *l) {
  shuffle *d = (shuffle *)l->d;
  if (d->each_iteration) ((shuffle_link *)l)->pass = atomic_fetch_add(&d->passes, 1);
  ((shuffle_link *)l)->seed = d->seed;
  return NULL;
}

static tfsdk_status *shuffle_next(tfsdk__link *l, tfsdk__item *out, bool *out_end) {
  shuffle_link *it = (shuffle_link *)l;
  size_t width = l->d->width;
  uint64_t full = (uint64_t)((shuffle *)l->d)->buffer;
  while (!it->drained && it->slot.n / width < full) {
    if (!TFSDK__GROW(l->rt, &it->slot, width)) return TFSDK__NOMEM(l->rt);
    TFSDK_TRY(tfsdk__link_next(l->input, it->slot.data + it->slot.n, &it->drained));
    if (!it->drained) it->slot.n += width;
  }
  size_t n = it->slot.n / width;
  *out_end = n == 0;
  if (n == 0) return NULL;
  tfsdk__item *drawn = it->slot.data + draw_below(it, n) * width;
  it->slot.n -= width;
  memcpy(out, drawn, width * sizeof *out);
  memmove(drawn, it->slot.data + it->slot.n, width * sizeof *out);
  return NULL;
}

static tfsdk_status *shuffle_rewind(tfsdk__link *l) {
  shuffle_link *it = (shuffle_link *)l;
  shuffle_empty(it);
  it->drained = false;
  it->draws = 0;
  if (((shuffle *)l->d)->each_iteration) it->epoch++;
  return tfsdk__link_rewind(l->input);
}

static void shuffle_close(tfsdk__link *l) {
  shuffle_link *it = (shuffle_link *)l;
  shuffle_empty(it);
  tfsdk__free(l->rt, it->slot.data);
}

static void shuffle_save(tfsdk__link *l, uint64_t out[2]) {
  out[0] = ((shuffle_link *)l)->seed;
  out[1] = ((shuffle_link *)l)->pass;
}

/* Later passes go on counting from the one that is taken up again, with its seed. */
static void shuffle_restore(tfsdk__link *l, const uint64_t in[2]) {
  shuffle_link *it = (shuffle_link *)l;
  shuffle *d = (shuffle *)l->d;
  it->seed = d->seed = in[0];
  it->pass = (uint32_t)in[1];
  if (d->each_iteration) atomic_store(&d->passes, it->pass + 1);
}

static const tfsdk__dataset_kind shuffle_kind = {.name = "shuffle",
                                                 .dataset_bytes = sizeof(shuffle),
                                                 .link_bytes = sizeof(shuffle_link),
                                                 .open = shuffle_open,
                                                 .next = shuffle_next,
                                                 .rewind = shuffle_rewind,
                                                 .close = shuffle_close,
                                                 .save = shuffle_save,
                                                 .restore = shuffle_restore};

tfsdk_status *tfsdk_dataset_shuffle(tfsdk_dataset *d, int64_t buffer, int64_t seed,
                                    int32_t each_iteration, tfsdk_dataset **out) {
  *out = NULL;
  TFSDK_REQUIRE(d->rt, buffer >= 1, "shuffle: the buffer holds 1 element or more; it is %lld",
                (long long)buffer);
  TFSDK_TRY(tfsdk__dataset_over(d, &shuffle_kind, out));
  shuffle *own = (shuffle *)*out;
  own->buffer = buffer;
  own->each_iteration = each_iteration != 0;
  own->seed = seed >= 0         ? (uint64_t)seed
              : d->rt->has_seed ? tfsdk__hash(&d->rt->seed, sizeof d->rt->seed, 0)
                                : tfsdk__random_salt();
  atomic_init(&own->passes, 0);
  return NULL;
}
