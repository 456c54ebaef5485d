/* Reading files; see source.h. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void *reader_alloc(const tfsdk_host *host, size_t bytes) {
  void *block = host->realloc(host, NULL, 0, bytes ? bytes : 1);
  if (block != NULL) memset(block, 0, bytes);
  return block;
}

void reader_free(const tfsdk_host *host, void *block, size_t bytes) {
  if (block != NULL) (void)host->realloc(host, block, bytes ? bytes : 1, 0);
}

char *reader_strdup(const tfsdk_host *host, const char *text) {
  char *copy = reader_alloc(host, strlen(text) + 1);
  if (copy != NULL) memcpy(copy, text, strlen(text));
  return copy;
}

void reader_strfree(const tfsdk_host *host, char *text) {
  if (text != NULL) reader_free(host, text, strlen(text) + 1);
}

static tfsdk_status *system_error(source *s, const char *what, int error) {
  char room[128];
  const char *text = strerror_r(error, room, sizeof room); /* the GNU form, which may use no room */
  if (error == ENOENT || error == ENOTDIR) return SOURCE_FAIL(s, NOT_FOUND, "%s: %s", what, text);
  if (error == EACCES || error == EPERM)
    return SOURCE_FAIL(s, PERMISSION_DENIED, "%s: %s", what, text);
  if (error == EISDIR) return SOURCE_FAIL(s, INVALID_ARGUMENT, "%s: %s", what, text);
  if (error == EMFILE || error == ENFILE || error == ENOMEM)
    return SOURCE_FAIL(s, RESOURCE_EXHAUSTED, "%s: %s", what, text);
  return SOURCE_FAIL(s, UNAVAILABLE, "%s: %s", what, text);
}

tfsdk_status *source_open(source *s, const tfsdk_host *host, const char *path) {
  struct stat st;
  int error = 0;
  memset(s, 0, sizeof *s);
  s->host = host;
  s->path = reader_strdup(host, path);
  if (s->path == NULL) return READER_NOMEM(s);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &st) != 0)
    error = errno;
  else if (S_ISDIR(st.st_mode))
    error = EISDIR;
  if (error == 0) {
    s->bytes = S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
    s->file = gzdopen(fd, "rb");
    if (s->file == NULL) error = ENOMEM;
  }
  if (error != 0) {
    if (fd >= 0) close(fd);
    tfsdk_status *status = system_error(s, "cannot be opened", error);
    source_close(s);
    return status;
  }
  (void)gzbuffer(s->file, 1u << 17);
  return NULL;
}

struct source_zlib {
  z_stream z;
  bool ended;
  unsigned char in[1u << 16];
};

static void *zlib_alloc(void *host, unsigned n, unsigned size) {
  return calloc(n, size); /* (zlib's release does not know sizes, as the host's does) */
}
static void zlib_free(void *host, void *block) { free(block); }

tfsdk_status *source_zlib_open(source *s) {
  struct source_zlib *x = reader_alloc(s->host, sizeof *x);
  if (x == NULL) return READER_NOMEM(s);
  x->z.zalloc = zlib_alloc;
  x->z.zfree = zlib_free;
  if (inflateInit(&x->z) != Z_OK) {
    reader_free(s->host, x, sizeof *x);
    return READER_NOMEM(s);
  }
  s->zlib = x;
  return NULL;
}

void source_close(source *s) {
  if (s->zlib != NULL) {
    (void)inflateEnd(&s->zlib->z);
    reader_free(s->host, s->zlib, sizeof *s->zlib);
    s->zlib = NULL;
  }
  if (s->file != NULL) (void)gzclose_r(s->file);
  s->file = NULL;
  if (s->path != NULL) reader_strfree(s->host, s->path);
  s->path = NULL;
}

/* Bytes as gzread gives them. */
static tfsdk_status *read_raw(source *s, void *to, size_t n, size_t *out_n) {
  size_t done = 0;
  while (done < n) {
    size_t ask = n - done > (1u << 30) ? (1u << 30) : n - done;
    errno = 0;
    int got = gzread(s->file, (char *)to + done, (unsigned)ask);
    int code = Z_OK, saved = errno;
    const char *text = gzerror(s->file, &code);
    if (got > 0) done += (size_t)got;
    if (got >= 0 && (size_t)got == ask) continue;
    if (code == Z_ERRNO) return system_error(s, "cannot be read", saved);
    if (code == Z_MEM_ERROR) return READER_NOMEM(s);
    if (got < 0 || code != Z_OK) {
      const char *reason = strstr(text, ">: "); /* behind zlib's own "<fd:3>: " */
      return SOURCE_FAIL(s, DATA_LOSS,
                         "the compressed data is damaged after %llu bytes of content: %s",
                         (unsigned long long)(s->at + done), reason != NULL ? reason + 3 : text);
    }
    break; /* the end */
  }
  *out_n = done;
  return NULL;
}

static tfsdk_status *damaged(source *s, const char *reason) {
  return SOURCE_FAIL(s, DATA_LOSS, "the compressed data is damaged after %llu bytes of content: %s",
                     (unsigned long long)s->at, reason);
}

static tfsdk_status *read_zlib(source *s, void *to, size_t n, size_t *out_n) {
  struct source_zlib *x = s->zlib;
  const size_t most = n > (1u << 30) ? (1u << 30) : n;
  x->z.next_out = to;
  x->z.avail_out = (unsigned)most;
  while (x->z.avail_out > 0) {
    if (x->z.avail_in == 0) {
      size_t got = 0;
      TFSDK_TRY(read_raw(s, x->in, sizeof x->in, &got));
      if (got == 0 && !x->ended && s->bytes != 0) return damaged(s, "the stream is cut off");
      if (got == 0) break;
      x->z.next_in = x->in;
      x->z.avail_in = (unsigned)got;
    }
    if (x->ended) return damaged(s, "something follows the end of the stream");
    int code = inflate(&x->z, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) return READER_NOMEM(s);
    if (code == Z_NEED_DICT) return damaged(s, "the stream needs a dictionary");
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      return damaged(s, x->z.msg != NULL ? x->z.msg : "no zlib stream");
    x->ended = code == Z_STREAM_END;
  }
  *out_n = most - x->z.avail_out;
  return NULL;
}

tfsdk_status *source_read(source *s, void *to, size_t n, size_t *out_n) {
  size_t done = 0, got = 0;
  tfsdk_status *status = NULL;
  do {
    got = 0;
    status = s->zlib != NULL ? read_zlib(s, (char *)to + done, n - done, &got)
                             : read_raw(s, (char *)to + done, n - done, &got);
    done += got;
    s->at += got;
  } while (status == NULL && got > 0 && done < n);
  *out_n = done;
  return status;
}

tfsdk_status *source_read_exactly(source *s, void *to, size_t n, const char *what) {
  size_t got = 0;
  uint64_t begin = s->at;
  TFSDK_TRY(source_read(s, to, n, &got));
  if (got == n) return NULL;
  return SOURCE_FAIL(s, DATA_LOSS,
                     "the file ends at byte %llu, inside %s (%zu bytes from byte %llu on)",
                     (unsigned long long)s->at, what, n, (unsigned long long)begin);
}

#define DEFLATE_LIMIT                                                                              \
  1032u /* the most that one compressed byte can become, by the format's design */

tfsdk_status *source_expect(source *s, uint64_t bytes, const char *what, int64_t *out_left) {
  bool plain = s->zlib == NULL && gzdirect(s->file) == 1;
  uint64_t most = (uint64_t)s->bytes;
  if (out_left != NULL) *out_left = plain && s->bytes >= 0 ? s->bytes - (int64_t)s->at : -1;
  if (s->bytes < 0) return NULL;
  if (plain)
    most -= s->at < most ? s->at : most;
  else if (__builtin_mul_overflow(most, DEFLATE_LIMIT, &most))
    most = UINT64_MAX;
  if (bytes <= most) return NULL;
  return SOURCE_FAIL(
      s, DATA_LOSS, "%s needs %llu bytes from byte %llu on; the file can hold no more than %llu",
      what, (unsigned long long)bytes, (unsigned long long)s->at, (unsigned long long)most);
}

void reader_swap(void *data, uint64_t n, size_t size) {
  unsigned char *p = data;
  if (size < 2) return;
  for (uint64_t i = 0; i < n; i++, p += size) {
    for (size_t a = 0, b = size - 1; a < b; a++, b--) {
      unsigned char c = p[a];
      p[a] = p[b];
      p[b] = c;
    }
  }
}
