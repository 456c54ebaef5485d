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

/* Epochs follow one another whole. One without elements ends it: there would be nothing to wait
 * for. */
static tfsdk_status *repeat_next(tfsdk__link *l, tfsdk__item *out, bool *out_end) {
  counted_link *it = (counted_link *)l;
  int64_t count = count_of(l);
  *out_end = count == 0;
  while (!*out_end) {
    bool end = false;
    TFSDK_TRY(tfsdk__link_next(l->input, out, &end));
    if (!end) {
      it->any = true;
      return NULL;
    }
    it->done++;
    *out_end = !it->any || it->done == count;
    it->any = false;
    if (!*out_end) TFSDK_TRY(tfsdk__link_rewind(l->input));
  }
  return NULL;
}

static const tfsdk__dataset_kind repeat_kind = {.name = "repeat",
                                                .dataset_bytes = sizeof(counted),
                                                .link_bytes = sizeof(counted_link),
                                                .next = repeat_next,
                                                .rewind = counted_rewind};

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

static const tfsdk__dataset_kind take_kind = {.name = "take",
                                              .dataset_bytes = sizeof(counted),
                                              .link_bytes = sizeof(counted_link),
                                              .next = take_next,
                                              .rewind = counted_rewind};

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

static const tfsdk__dataset_kind skip_kind = {.name = "skip",
                                              .dataset_bytes = sizeof(counted),
                                              .link_bytes = sizeof(counted_link),
                                              .next = skip_next,
                                              .rewind = counted_rewind};

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
  uint64_t draws;
} shuffle_link;

static uint64_t draw_below(shuffle_link *it, uint64_t n) {
  uint64_t seed = ((shuffle *)it->base.d)->seed;
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
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

static const tfsdk__dataset_kind shuffle_kind = {.name = "shuffle",
                                                 .dataset_bytes = sizeof(shuffle),
                                                 .link_bytes = sizeof(shuffle_link),
                                                 .open = shuffle_open,
                                                 .next = shuffle_next,
                                                 .rewind = shuffle_rewind,
                                                 .close = shuffle_close};

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
