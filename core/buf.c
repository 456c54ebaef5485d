/* Text that grows. */
#include "internal.h"

void tfsdk__buf_add(tfsdk__buf *b, const char *format, ...) {
  va_list args, again;
  if (b->failed) return;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  size_t need = b->n + (n < 0 ? 0 : (size_t)n) + 1;
  if (n >= 0 && need > b->cap) {
    size_t cap = b->cap < 64 ? 64 : b->cap;
    while (cap < need) cap *= 2;
    char *s = realloc(b->s, cap);
    if (s == NULL)
      n = -1;
    else {
      b->s = s;
      b->cap = cap;
    }
  }
  if (n < 0)
    b->failed = true;
  else {
    vsnprintf(b->s + b->n, b->cap - b->n, format, again);
    b->n += (size_t)n;
  }
  va_end(again);
}

void tfsdk__buf_deinit(tfsdk__buf *b) {
  free(b->s);
  memset(b, 0, sizeof *b);
}
