/* Memory that is given back all at once. */
#include <stdarg.h>
#include <stdio.h>

#include "graph.h"

struct arena_block {
  struct arena_block *before;
  size_t bytes, used;
};

void *arena_get(arena *a, size_t bytes) {
  struct arena_block *b = a->last;
  if (bytes > SIZE_MAX / 4) return NULL;
  bytes = (bytes + 15) & ~(size_t)15;
  if (b == NULL || b->bytes - b->used < bytes) {
    size_t want = bytes > 16384 ? bytes : 16384;
    b = a->host->realloc(a->host, NULL, 0, sizeof *b + want);
    if (b == NULL) return NULL;
    b->before = a->last;
    b->bytes = want;
    b->used = 0;
    a->last = b;
  }
  char *p = (char *)(b + 1) + b->used;
  b->used += bytes;
  memset(p, 0, bytes);
  return p;
}

char *arena_text(arena *a, const char *text, size_t n) {
  char *p = arena_get(a, n + 1);
  if (p != NULL && n > 0) memcpy(p, text, n);
  return p;
}

char *arena_format(arena *a, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *p = n < 0 ? NULL : arena_get(a, (size_t)n + 1);
  if (p == NULL) return NULL;
  va_start(args, format);
  vsnprintf(p, (size_t)n + 1, format, args);
  va_end(args);
  return p;
}

void arena_release(arena *a) {
  while (a->last != NULL) {
    struct arena_block *b = a->last;
    a->last = b->before;
    a->host->realloc(a->host, b, sizeof *b + b->bytes, 0);
  }
}

void *arena_grow(arena *a, void *array, size_t n, size_t *cap, size_t size) {
  if (n < *cap) return array;
  size_t want = *cap ? 2 * *cap : 16;
  if (want <= n) want = 2 * n; /* a message that came twice goes on where the first one ended */
  void *more = arena_get(a, want * size);
  if (more == NULL) return NULL;
  if (n > 0) memcpy(more, array, n * size);
  *cap = want;
  return more;
}
