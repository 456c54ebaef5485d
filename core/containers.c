/* Growing arrays, maps keyed by text, hashing, and the distance of words. */
#include "internal.h"

bool tfsdk__vec_grow(tfsdk_runtime *rt, void *data_field, size_t n, size_t *cap, size_t size,
                     size_t more) {
  void *data;
  if (n + more <= *cap) return true;
  size_t want = *cap < 4 ? 4 : *cap * 2;
  if (want < n + more) want = n + more;
  memcpy(&data, data_field, sizeof data);
  void *grown = tfsdk__realloc(rt, data, want * size);
  if (grown == NULL) return false;
  memcpy(data_field, &grown, sizeof grown);
  *cap = want;
  return true;
}

/* FNV-1a with a final mix, so that low bits are good for tables. */
uint64_t tfsdk__hash(const void *data, size_t n, uint64_t seed) {
  const unsigned char *p = data;
  uint64_t h = seed ^ 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3u;
  h ^= h >> 32;
  h *= 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

/* Open addressing; a slot is free when its key is NULL. */
static struct tfsdk__map_slot *slot_of(const tfsdk__map *m, const char *key, uint64_t hash) {
  size_t i = (size_t)hash & (m->cap - 1);
  while (m->slot[i].key != NULL && (m->slot[i].hash != hash || strcmp(m->slot[i].key, key) != 0))
    i = (i + 1) & (m->cap - 1);
  return &m->slot[i];
}

void *tfsdk__map_get(const tfsdk__map *m, const char *key) {
  return m->cap == 0 ? NULL : slot_of(m, key, tfsdk__hash(key, strlen(key), 0))->value;
}

bool tfsdk__map_reserve(tfsdk_runtime *rt, tfsdk__map *m, size_t more) {
  size_t cap = m->cap ? m->cap : 16;
  while (2 * (m->n + more) > cap) cap *= 2;
  if (cap == m->cap) return true;
  tfsdk__map bigger = {NULL, m->n, cap};
  bigger.slot = tfsdk__zalloc(rt, cap * sizeof *bigger.slot);
  if (bigger.slot == NULL) return false;
  for (size_t i = 0; i < m->cap; i++)
    if (m->slot[i].key != NULL) *slot_of(&bigger, m->slot[i].key, m->slot[i].hash) = m->slot[i];
  tfsdk__free(rt, m->slot);
  *m = bigger;
  return true;
}

bool tfsdk__map_put(tfsdk_runtime *rt, tfsdk__map *m, const char *key, void *value) {
  uint64_t hash = tfsdk__hash(key, strlen(key), 0);
  if (!tfsdk__map_reserve(rt, m, 1)) return false;
  struct tfsdk__map_slot *s = slot_of(m, key, hash);
  if (s->key == NULL) {
    m->n++;
    s->key = key;
    s->hash = hash;
  }
  s->value = value;
  return true;
}

/* What stood behind the freed slot moves up, so that probing finds it. */
void tfsdk__map_remove(tfsdk__map *m, const char *key) {
  if (m->cap == 0) return;
  struct tfsdk__map_slot *s = slot_of(m, key, tfsdk__hash(key, strlen(key), 0));
  if (s->key == NULL) return;
  size_t hole = (size_t)(s - m->slot), mask = m->cap - 1;
  for (size_t i = (hole + 1) & mask; m->slot[i].key != NULL; i = (i + 1) & mask) {
    size_t home = (size_t)m->slot[i].hash & mask;
    if (((i - home) & mask) < ((i - hole) & mask)) continue; /* its home lies behind the hole */
    m->slot[hole] = m->slot[i];
    hole = i;
  }
  memset(&m->slot[hole], 0, sizeof m->slot[hole]);
  m->n--;
}

void tfsdk__map_deinit(tfsdk_runtime *rt, tfsdk__map *m) {
  tfsdk__free(rt, m->slot);
  memset(m, 0, sizeof *m);
}

/* Levenshtein's distance: letters that differ in case only cost nothing. */
int tfsdk__distance(const char *a, const char *b) {
  int row[65];
  size_t na = strlen(a), nb = strlen(b);
  if (na > 64 || nb > 64) return strcmp(a, b) == 0 ? 0 : 1000;
  for (size_t j = 0; j <= nb; j++) row[j] = (int)j;
  for (size_t i = 1; i <= na; i++) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= nb; j++) {
      int same = (a[i - 1] | 32) == (b[j - 1] | 32), above = row[j];
      int best = diagonal + !same;
      if (above + 1 < best) best = above + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      diagonal = above;
      row[j] = best;
    }
  }
  return row[nb];
}
