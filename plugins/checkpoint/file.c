/* Files and memory; see file.h. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

tfsdk_status *file_error(const tfsdk_host *host, const char *path, const char *what, int error) {
  const struct { const tfsdk_host *host; } c = {host};
  char room[128];
  const char *text = strerror_r(error, room, sizeof room); /* the GNU form, which may use no room */
  switch (error) {
  case ENOENT:
  case ENOTDIR: return TFSDK_FAIL(&c, NOT_FOUND, "%s: %s: %s", path, what, text);
  case EACCES:
  case EPERM:
  case EROFS: return TFSDK_FAIL(&c, PERMISSION_DENIED, "%s: %s: %s", path, what, text);
  case EISDIR: return TFSDK_FAIL(&c, INVALID_ARGUMENT, "%s: %s: %s", path, what, text);
  case EMFILE:
  case ENFILE:
  case ENOMEM:
  case ENOSPC:
  case EDQUOT:
  case EFBIG: return TFSDK_FAIL(&c, RESOURCE_EXHAUSTED, "%s: %s: %s", path, what, text);
  default: return TFSDK_FAIL(&c, UNAVAILABLE, "%s: %s: %s", path, what, text);
  }
}

tfsdk_status *file_open(file *f, const tfsdk_host *host, const char *path) {
  struct stat st;
  int error = 0;
  f->host = host;
  f->path = path;
  f->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (f->fd < 0 || fstat(f->fd, &st) != 0)
    error = errno;
  else if (S_ISDIR(st.st_mode))
    error = EISDIR;
  if (error != 0) {
    file_close(f);
    return file_error(host, path, "cannot be opened", error);
  }
  if (!S_ISREG(st.st_mode)) {
    file_close(f);
    return FILE_FAIL(f, INVALID_ARGUMENT, "this is no regular file");
  }
  f->bytes = (uint64_t)st.st_size;
  return NULL;
}

void file_close(file *f) {
  if (f->host != NULL && f->fd >= 0) close(f->fd);
  f->fd = -1;
}

tfsdk_status *file_expect(file *f, uint64_t at, uint64_t n, const char *what) {
  if (at <= f->bytes && n <= f->bytes - at) return NULL;
  return FILE_FAIL(f, DATA_LOSS, "%s needs %llu bytes from byte %llu on, and the file has %llu",
                   what, (unsigned long long)n, (unsigned long long)at,
                   (unsigned long long)f->bytes);
}

tfsdk_status *file_read(file *f, uint64_t at, void *to, uint64_t n, const char *what) {
  uint64_t done = 0;
  TFSDK_TRY(file_expect(f, at, n, what));
  while (done < n) {
    uint64_t ask = n - done > (1u << 30) ? (1u << 30) : n - done;
    ssize_t got = pread(f->fd, (char *)to + done, (size_t)ask, (off_t)(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(f->host, f->path, "cannot be read", errno);
    if (got == 0)
      return FILE_FAIL(f, DATA_LOSS, "the file ends at byte %llu, inside %s",
                       (unsigned long long)(at + done), what);
    done += (uint64_t)got;
  }
  return NULL;
}

/* --------------------------------------------------------------------------------------- memory */

void *memory_get(const tfsdk_host *host, size_t bytes) {
  void *block = host->realloc(host, NULL, 0, bytes ? bytes : 1);
  if (block != NULL) memset(block, 0, bytes);
  return block;
}

void memory_give(const tfsdk_host *host, void *block, size_t bytes) {
  if (block != NULL) (void)host->realloc(host, block, bytes ? bytes : 1, 0);
}

typedef struct arena_block {
  struct arena_block *before;
  size_t bytes, used; /* of the whole block, head included */
} arena_block;

#define BLOCK_BYTES ((size_t)64 << 10)
#define HEAD_BYTES  ((sizeof(arena_block) + 15) / 16 * 16)

void *arena_get(arena *a, size_t bytes) {
  if (bytes > SIZE_MAX / 2) return NULL;
  bytes = (bytes + 15) / 16 * 16;
  arena_block *b = a->last;
  if (b == NULL || b->bytes - b->used < bytes) {
    size_t want = HEAD_BYTES + bytes > BLOCK_BYTES ? HEAD_BYTES + bytes : BLOCK_BYTES;
    b = memory_get(a->host, want);
    if (b == NULL) return NULL;
    b->before = a->last;
    b->bytes = want;
    b->used = HEAD_BYTES;
    a->last = b;
  }
  void *p = (char *)b + b->used;
  b->used += bytes;
  return p;
}

char *arena_text(arena *a, const char *text, size_t n) {
  char *copy = arena_get(a, n + 1);
  if (copy != NULL) memcpy(copy, text, n);
  return copy;
}

char *arena_format(arena *a, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  char *text = n >= 0 ? arena_get(a, (size_t)n + 1) : NULL;
  if (text != NULL) (void)vsnprintf(text, (size_t)n + 1, format, again);
  va_end(again);
  va_end(args);
  return text;
}

void arena_release(arena *a) {
  while (a->last != NULL) {
    arena_block *before = a->last->before;
    memory_give(a->host, a->last, a->last->bytes);
    a->last = before;
  }
}

void *arena_grow(arena *a, void *array, size_t n, size_t *cap, size_t size) {
  if (n < *cap) return array;
  size_t want = *cap == 0 ? 16 : 2 * *cap;
  if (want <= n) want = 2 * n; /* whatever the caller knows of the room */
  void *more = want <= SIZE_MAX / 2 / size ? arena_get(a, want * size) : NULL;
  if (more == NULL) return NULL;
  if (n > 0) memcpy(more, array, n * size);
  *cap = want;
  return more;
}
