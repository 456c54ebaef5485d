/* Where an iterator has got to, as text, and going on from there.
 *
 *     tfsdk position 1
 *     given 1234                elements handed out
 *     prefetch 0 0              the links, from the last one to the source; two numbers of each:
 *     batch 0 0
 *     repeat 60000 0            the length of an epoch, 0 when it is not known
 *     shuffle 42 0              the seed and the pass
 *     from_tensors 0 0
 *
 * A position is no copy of the links' state: prefetching works ahead on another thread, and a
 * shuffle's buffer may hold much. Instead the order of elements depends on the recipe, the seeds
 * and the count alone, so that a new chain with these seeds passes over as many elements. */
#include "dataset.h"

static const char head_line[] = "tfsdk position 1\n";

tfsdk_status *tfsdk__link_skip(tfsdk__link *l, int64_t n, int64_t *out_skipped) {
  tfsdk__item room[16], *item = room;
  tfsdk_status *s = NULL;
  bool end = false;
  *out_skipped = 0;
  if (n <= 0) return NULL;
  if (l->d->kind->skip != NULL) return l->d->kind->skip(l, n, out_skipped);
  if (l->d->width > 16 && (item = tfsdk__alloc(l->rt, l->d->width * sizeof *item)) == NULL)
    return TFSDK__NOMEM(l->rt);
  while (s == NULL && !end && *out_skipped < n) {
    s = tfsdk__link_next(l, item, &end);
    if (s != NULL || end) break;
    tfsdk__link_drop(l, item, 1);
    ++*out_skipped;
  }
  if (item != room) tfsdk__free(l->rt, item);
  return s;
}

tfsdk_status *tfsdk_iterator_save(tfsdk_iterator *it, char **out_text) {
  tfsdk__buf text = {0};
  *out_text = NULL;
  pthread_mutex_lock(&it->lock);
  tfsdk__buf_add(&text, "%sgiven %lld\n", head_line, (long long)it->given);
  for (tfsdk__link *l = it->last; l != NULL; l = l->input) {
    uint64_t numbers[2] = {0, 0};
    if (l->d->kind->save != NULL) l->d->kind->save(l, numbers);
    tfsdk__buf_add(&text, "%s %llu %llu\n", l->d->kind->name, (unsigned long long)numbers[0],
                   (unsigned long long)numbers[1]);
  }
  pthread_mutex_unlock(&it->lock);
  if (text.failed) {
    tfsdk__buf_deinit(&text);
    return TFSDK__NOMEM(it->d->rt);
  }
  *out_text = text.s;
  return NULL;
}

/* A whole number, and the character that must follow it. */
static bool read_number(const char **p, char follows, uint64_t *out) {
  uint64_t n = 0;
  const char *begin = *p;
  for (; **p >= '0' && **p <= '9'; ++*p)
    if (__builtin_mul_overflow(n, 10u, &n) || __builtin_add_overflow(n, (uint64_t)(**p - '0'), &n))
      return false;
  *out = n;
  if (*p == begin || **p != follows) return false;
  ++*p;
  return true;
}

static tfsdk_status *malformed(const tfsdk_iterator *it, const char *text, const char *at) {
  return TFSDK_FAIL(it->d->rt, DATA_LOSS, "the position of a dataset is damaged at byte %lld",
                    (long long)(at - text));
}

/* One link's line: its name must be the same, its numbers are handed to it. */
static tfsdk_status *read_link(tfsdk_iterator *it, const char *text, const char **p, tfsdk__link *l,
                               bool apply) {
  const char *name = l->d->kind->name;
  size_t n = strcspn(*p, " \n");
  uint64_t numbers[2];
  if (n != strlen(name) || memcmp(*p, name, n) != 0)
    return TFSDK_FAIL(it->d->rt, FAILED_PRECONDITION,
                      "the position is one of another dataset: it has '%.*s' where this one has "
                      "'%s'",
                      (int)(n < 40 ? n : 40), *p, name);
  *p += n;
  if (**p != ' ') return malformed(it, text, *p);
  ++*p;
  if (!read_number(p, ' ', &numbers[0]) || !read_number(p, '\n', &numbers[1]))
    return malformed(it, text, *p);
  if (apply && l->d->kind->restore != NULL) l->d->kind->restore(l, numbers);
  return NULL;
}

static tfsdk_status *restore(tfsdk_iterator *it, const char *text) {
  const char *p = text;
  uint64_t given = 0;
  int64_t skipped = 0;
  if (it->given > 0 || it->ended || it->code != TFSDK_OK)
    return TFSDK_FAIL(it->d->rt, FAILED_PRECONDITION,
                      "a position is restored into a new iterator; this one is in use");
  for (int apply = 0; apply < 2; apply++) { /* nothing changes before all has been looked at */
    p = text;
    if (strncmp(p, head_line, strlen(head_line)) != 0) return malformed(it, text, p);
    p += strlen(head_line);
    if (strncmp(p, "given ", 6) != 0) return malformed(it, text, p);
    p += 6;
    if (!read_number(&p, '\n', &given) || given > INT64_MAX) return malformed(it, text, p);
    for (tfsdk__link *l = it->last; l != NULL; l = l->input)
      TFSDK_TRY(read_link(it, text, &p, l, apply != 0));
    if (*p != 0) return malformed(it, text, p);
  }
  TFSDK_TRY(tfsdk__link_skip(it->last, (int64_t)given, &skipped));
  it->given = (int64_t)given;
  if (skipped < (int64_t)given)
    return TFSDK_FAIL(it->d->rt, OUT_OF_RANGE,
                      "the position is behind element %lld; the dataset has %lld", (long long)given,
                      (long long)skipped);
  return NULL;
}

tfsdk_status *tfsdk_iterator_restore(tfsdk_iterator *it, const char *text) {
  pthread_mutex_lock(&it->lock);
  tfsdk_status *s = restore(it, text);
  if (s != NULL && it->given > 0) it->ended = true;
  pthread_mutex_unlock(&it->lock);
  return s;
}
