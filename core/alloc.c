/* Memory: one allocator for everything that a runtime owns, records and tensors alike.
 *
 * Blocks up to 128 MiB come from free lists by size class (four classes to a power of two, so at
 * most a quarter is lost), larger ones straight from the system. A block is 64-byte aligned, with a
 * header of 64 bytes before it that remembers both sizes. Sanitizers and valgrind would not see
 * misuse inside a free list, so builds with them do not pool.
 *
 * Tests let the n-th allocation fail; an allocation that fails is tried once more after the reclaim
 * hook. */
#include "internal.h"

#include <sched.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TFSDK_NO_POOL)
#define POOLED 0
#else
#define POOLED 1
#endif

#define HEADER      64
#define POOL_LIMIT  ((size_t)128 << 20)   /* larger blocks are not kept */
#define CACHE_LIMIT ((uint64_t)256 << 20) /* and no more than this is kept in all */

#define GUARD       0xA5
#define GUARD_BYTES 32

typedef struct header {
  size_t bytes, capacity;
  void *raw;
  uint32_t cls;
  uint32_t guarded;
  unsigned char front[GUARD_BYTES]; /* ends where the block begins */
} header;
_Static_assert(sizeof(header) == HEADER, "the guard zone touches the block");

/* Held for some instructions at a time, twice for each small tensor: a mutex costs as much again as
 * what it guards. */
static void lock(tfsdk__allocator *a) {
  for (int turn = 1; atomic_flag_test_and_set_explicit(&a->lock, memory_order_acquire); turn++)
    if (turn % 64 == 0) sched_yield();
}
static void unlock(tfsdk__allocator *a) {
  atomic_flag_clear_explicit(&a->lock, memory_order_release);
}

static header *header_of(const void *block) { return (header *)((uintptr_t)block - HEADER); }

/* Class c holds blocks of (4 + c % 4) << (c / 4 + 4): 64, 80, 96, 112, 128, 160, ... */
static uint32_t class_of(size_t bytes, size_t *capacity) {
  size_t n = bytes < 64 ? 64 : bytes;
  uint32_t shift = 0;
  while (((size_t)8 << (shift + 4)) <= n - 1) shift++;
  size_t quarter = (n - 1) >> (shift + 4); /* 3..7 */
  uint32_t step = quarter < 4 ? 0 : (uint32_t)quarter - 3;
  *capacity = (size_t)(4 + step) << (shift + 4);
  return shift * 4 + step;
}

static void *system_realloc(void *user, void *block, size_t old_bytes, size_t new_bytes) {
  (void)user;
  (void)old_bytes;
  if (new_bytes == 0) {
    free(block);
    return NULL;
  }
  return realloc(block, new_bytes);
}

void tfsdk__allocator_init(tfsdk_runtime *rt) {
  tfsdk__allocator *a = &rt->alloc;
  atomic_flag_clear(&a->lock);
  a->realloc = rt->options.realloc ? rt->options.realloc : system_realloc;
  a->user = rt->options.realloc_user;
}

static void free_raw(tfsdk__allocator *a, header *h) {
  a->realloc(a->user, h->raw, h->capacity + 2 * HEADER, 0);
}

void tfsdk__allocator_trim(tfsdk_runtime *rt) {
  tfsdk__allocator *a = &rt->alloc;
  lock(a);
  for (size_t c = 0; c < sizeof a->free_list / sizeof *a->free_list; c++) {
    while (a->free_list[c] != NULL) {
      void *block = a->free_list[c];
      a->free_list[c] = *(void **)block;
      free_raw(a, header_of(block));
    }
  }
  a->cached_bytes = 0;
  unlock(a);
}

void tfsdk__allocator_deinit(tfsdk_runtime *rt) { tfsdk__allocator_trim(rt); }

void tfsdk__allocator_report(tfsdk_runtime *rt, tfsdk_memory_info *out) {
  lock(&rt->alloc);
  out->cached = rt->alloc.cached_bytes;
  out->live_blocks = rt->alloc.live_blocks;
  out->allocations = rt->alloc.allocations;
  out->damaged = rt->alloc.damaged;
  unlock(&rt->alloc);
}

static void *allocate(tfsdk_runtime *rt, size_t bytes) {
  tfsdk__allocator *a = &rt->alloc;
  size_t capacity, room = bytes + (a->guard ? GUARD_BYTES : 0);
  if (bytes > SIZE_MAX / 2) return NULL;
  uint32_t cls = class_of(room, &capacity);
  bool pooled = POOLED && room <= POOL_LIMIT && cls < sizeof a->free_list / sizeof *a->free_list;
  if (!pooled) capacity = room ? room : 1;
  lock(a);
  a->allocations++;
  if (a->fail_after != 0 && --a->fail_after == 0) {
    if (a->fail_persist) a->fail_after = 1;
    unlock(a);
    return NULL;
  }
  void *block = NULL;
  if (pooled && a->free_list[cls] != NULL) {
    block = a->free_list[cls];
    void *next = *(void **)block;
    a->free_list[cls] = next;
    a->cached_bytes -= capacity;
    if (next != NULL) { /* the next call finds it in the cache */
      __builtin_prefetch(next, 1);
      __builtin_prefetch(header_of(next), 1);
    }
  }
  a->live_blocks++;
  a->live_bytes += bytes;
  unlock(a);
  if (block == NULL) {
    void *raw = a->realloc(a->user, NULL, 0, capacity + 2 * HEADER);
    if (raw == NULL) {
      lock(a);
      a->live_blocks--;
      a->live_bytes -= bytes;
      unlock(a);
      return NULL;
    }
    block = (void *)(((uintptr_t)raw + 2 * HEADER - 1) & ~(uintptr_t)(HEADER - 1));
    header *h = header_of(block);
    h->raw = raw;
    h->capacity = capacity;
    h->cls = pooled ? cls : UINT32_MAX;
  }
  header *h = header_of(block);
  h->bytes = bytes;
  h->guarded = a->guard;
  if (a->guard) {
    memset(h->front, GUARD, GUARD_BYTES);
    memset((char *)block + bytes, GUARD, GUARD_BYTES);
  }
  return block;
}

static bool undamaged(const header *h, const void *block) {
  const unsigned char *behind = (const unsigned char *)block + h->bytes;
  for (int i = 0; i < GUARD_BYTES; i++)
    if (h->front[i] != GUARD || behind[i] != GUARD) return false;
  return true;
}

void tfsdk_runtime_guard(tfsdk_runtime *rt, int32_t on) { rt->alloc.guard = on != 0; }

TFSDK__OF_THREAD bool tfsdk__thread_is_own;

void *tfsdk__alloc(tfsdk_runtime *rt, size_t bytes) {
  void *block = allocate(rt, bytes);
  if (block == NULL && rt->options.reclaim != NULL && rt->alloc.fail_after == 0 &&
      !tfsdk__thread_is_own) {
    rt->options.reclaim(rt->options.reclaim_user);
    tfsdk__allocator_trim(rt);
    block = allocate(rt, bytes);
  }
  return block;
}

void *tfsdk__zalloc(tfsdk_runtime *rt, size_t bytes) {
  void *block = tfsdk__alloc(rt, bytes);
  if (block != NULL) memset(block, 0, bytes);
  return block;
}

void tfsdk__free(tfsdk_runtime *rt, void *block) {
  tfsdk__allocator *a = &rt->alloc;
  if (block == NULL) return;
  header *h = header_of(block);
  bool bad = h->guarded && !undamaged(h, block);
  lock(a);
  a->damaged += bad;
  a->live_blocks--;
  a->live_bytes -= h->bytes;
  bool keep = h->cls != UINT32_MAX && a->cached_bytes + h->capacity <= CACHE_LIMIT;
  if (keep) {
    *(void **)block = a->free_list[h->cls];
    a->free_list[h->cls] = block;
    a->cached_bytes += h->capacity;
  }
  unlock(a);
  if (!keep) free_raw(a, h);
}

size_t tfsdk__alloc_bytes(const void *block) { return header_of(block)->bytes; }

void *tfsdk__realloc(tfsdk_runtime *rt, void *block, size_t bytes) {
  if (block == NULL) return tfsdk__alloc(rt, bytes);
  header *h = header_of(block);
  void *fresh = tfsdk__alloc(rt, bytes);
  if (fresh == NULL) return NULL;
  memcpy(fresh, block, h->bytes < bytes ? h->bytes : bytes);
  tfsdk__free(rt, block);
  return fresh;
}

char *tfsdk__strdup(tfsdk_runtime *rt, const char *text) {
  size_t n = strlen(text) + 1;
  char *s = tfsdk__alloc(rt, n);
  if (s != NULL) memcpy(s, text, n);
  return s;
}

void tfsdk_runtime_fail_allocation(tfsdk_runtime *rt, uint64_t n, int32_t persist) {
  lock(&rt->alloc);
  rt->alloc.fail_after = n;
  rt->alloc.fail_persist = persist != 0;
  unlock(&rt->alloc);
}
