/* keep.c - see keep.h. A table of few slots: content has WAYS places, by its address and layout, where
 * it replaces an earlier content of that address, or what was not used for longest. */
#include "keep.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 256
#define WAYS  8
#define ALIGN 64

typedef struct slot {
  const void *b;
  int64_t b_row, b_col, k, n;
  uint64_t stamp, used; /* used: the time of the last look-up */
  int32_t dtype, users, filled;
  size_t bytes; /* of the block, 0: none */
  char *block;  /* as allocated */
} slot;

struct cpu_keep {
  const tfsdk_host *host;
  pthread_mutex_t lock;
  uint64_t time;
  size_t bytes, most;
  slot slots[SLOTS];
};

static char *packed_of(const slot *s) {
  return s->block + (ALIGN - (uintptr_t)s->block % ALIGN) % ALIGN;
}

cpu_keep *cpu_keep_create(const tfsdk_host *host) {
  const char *megabytes = getenv("TFSDK_CPU_KEEP_MB");
  cpu_keep *k = (cpu_keep *)host->realloc(host, NULL, 0, sizeof *k);
  if (k == NULL) return NULL;
  memset(k, 0, sizeof *k);
  k->host = host;
  k->most = megabytes != NULL ? (size_t)strtoul(megabytes, NULL, 10) << 20 : CPU_KEEP_BYTES;
  pthread_mutex_init(&k->lock, NULL);
  return k;
}

static void drop(cpu_keep *k, slot *s) {
  if (s->bytes == 0) return;
  k->host->realloc(k->host, s->block, s->bytes, 0);
  k->bytes -= s->bytes;
  s->bytes = 0;
  s->block = NULL;
}

void cpu_keep_destroy(cpu_keep *k) {
  if (k == NULL) return;
  for (int i = 0; i < SLOTS; i++) drop(k, &k->slots[i]);
  pthread_mutex_destroy(&k->lock);
  k->host->realloc(k->host, k, sizeof *k, 0);
}

static int same_layout(const slot *s, const cpu_gemm *g) {
  return s->b == g->b && s->b_row == g->b_row && s->b_col == g->b_col && s->k == g->k &&
         s->n == g->n && s->dtype == g->dtype;
}

static slot *place_of(cpu_keep *k, const cpu_gemm *g) {
  uint64_t h = (uint64_t)(uintptr_t)g->b / ALIGN;
  slot *first, *best = NULL;
  h = (h ^ (uint64_t)g->b_row * 31 ^ (uint64_t)g->n * 17) * UINT64_C(0x9e3779b97f4a7c15);
  first = &k->slots[(h >> 32) % (SLOTS / WAYS) * WAYS];
  for (slot *s = first; s < first + WAYS; s++) {
    if (same_layout(s, g)) return s;
    if (s->users == 0 && (best == NULL || s->used < best->used)) best = s;
  }
  return best;
}

/* Memory for `bytes` in s, at the cost of what was not used for longer. */
static int make_room(cpu_keep *k, slot *s, size_t bytes) {
  if (bytes > k->most) return 0;
  if (s->bytes != bytes) drop(k, s);
  while (s->bytes == 0 && k->bytes + bytes > k->most) {
    slot *oldest = NULL;
    for (int i = 0; i < SLOTS; i++) {
      slot *o = &k->slots[i];
      if (o->bytes > 0 && o->users == 0 && (oldest == NULL || o->used < oldest->used)) oldest = o;
    }
    if (oldest == NULL) return 0;
    drop(k, oldest);
    oldest->filled = 0;
    oldest->stamp = 0;
  }
  if (s->bytes == 0) {
    s->block = (char *)k->host->realloc(k->host, NULL, 0, bytes);
    if (s->block == NULL) return 0;
    s->bytes = bytes;
    k->bytes += bytes;
  }
  return 1;
}

void *cpu_keep_begin(cpu_keep *k, const cpu_gemm *g, size_t bytes, int *must_fill) {
  void *packed = NULL;
  slot *s;
  *must_fill = 0;
  pthread_mutex_lock(&k->lock);
  s = place_of(k, g);
  k->time++;
  if (s == NULL) {
    /* all in use */
  } else if (s->stamp == g->b_stamp && same_layout(s, g)) {
    if (s->users == 0 && !s->filled) *must_fill = make_room(k, s, bytes + ALIGN);
    if (*must_fill || s->filled) {
      s->users++;
      packed = packed_of(s);
    }
    s->used = k->time;
  } else if (s->users == 0) {
    if (!same_layout(s, g)) drop(k, s);
    s->b = g->b, s->b_row = g->b_row, s->b_col = g->b_col;
    s->k = g->k, s->n = g->n, s->dtype = g->dtype;
    s->stamp = g->b_stamp;
    s->filled = 0;
    s->used = k->time;
  }
  pthread_mutex_unlock(&k->lock);
  return packed;
}

void cpu_keep_end(cpu_keep *k, void *packed, int right) {
  pthread_mutex_lock(&k->lock);
  for (int i = 0; i < SLOTS; i++) {
    slot *s = &k->slots[i];
    if (s->bytes == 0 || packed_of(s) != packed) continue;
    s->users--;
    if (right) s->filled = 1;
    break;
  }
  pthread_mutex_unlock(&k->lock);
}
