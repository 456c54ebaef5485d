/* Writing TFRecord files (record.h), plain or compressed. A file of records grows: what was flushed stays, whatever
 * comes after, and a file that was there before is written over, as TensorFlow does it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <tfsdk/shape.h>
#include <unistd.h>

#include "record.h"
#include "source.h"

#define BUFFER ((size_t)1 << 17)

typedef struct writer {
  const tfsdk_host *host;
  char *path;
  int fd, error; /* error: of a write before; the file ends inside a record then */
  bool compressed;
  z_stream z;
  record_checksums sums;
  size_t held;
  unsigned char buffer[BUFFER]; /* on its way to the file */
} writer;

static tfsdk_status *failed(const writer *w, const char *what, int error) {
  char room[128];
  const char *text = strerror_r(error, room, sizeof room);
  int32_t code = error == ENOENT || error == ENOTDIR                   ? TFSDK_NOT_FOUND
                 : error == EACCES || error == EPERM || error == EROFS ? TFSDK_PERMISSION_DENIED
                 : error == ENOSPC || error == EDQUOT || error == EFBIG || error == ENOMEM
                     ? TFSDK_RESOURCE_EXHAUSTED
                 : error == EISDIR ? TFSDK_INVALID_ARGUMENT
                                   : TFSDK_UNAVAILABLE;
  return w->host->fail(w->host, code, __FILE__, __LINE__, "%s: %s: %s", w->path, what, text);
}

static tfsdk_status *empty(writer *w) {
  const unsigned char *p = w->buffer;
  if (w->error != 0) return failed(w, "the file cannot be written", w->error);
  while (w->held > 0) {
    ssize_t done = write(w->fd, p, w->held);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      w->error = errno;
      w->held = 0;
      return failed(w, "the file cannot be written", w->error);
    }
    p += done;
    w->held -= (size_t)done;
  }
  return NULL;
}

/* Through the compressor into the buffer; `how` is zlib's word for what must be out afterwards. */
static tfsdk_status *squeeze(writer *w, const void *data, size_t n, int how) {
  w->z.next_in = (unsigned char *)(uintptr_t)data;
  for (;;) {
    const unsigned piece = n > (1u << 30) ? 1u << 30 : (unsigned)n;
    int now = piece == n ? how : Z_NO_FLUSH, code;
    w->z.avail_in = piece;
    do {
      if (w->held == BUFFER) TFSDK_TRY(empty(w));
      w->z.next_out = w->buffer + w->held;
      w->z.avail_out = (unsigned)(BUFFER - w->held);
      code = deflate(&w->z, now);
      w->held = BUFFER - w->z.avail_out;
    } while (w->z.avail_in > 0 || w->z.avail_out == 0 || (now == Z_FINISH && code == Z_OK));
    n -= piece;
    if (n == 0) return NULL;
  }
}

static tfsdk_status *put(writer *w, const void *data, size_t n) {
  const unsigned char *p = data;
  if (w->compressed) return n > 0 ? squeeze(w, data, n, Z_NO_FLUSH) : NULL;
  while (n > 0) {
    size_t k = BUFFER - w->held < n ? BUFFER - w->held : n;
    memcpy(w->buffer + w->held, p, k);
    w->held += k;
    p += k;
    n -= k;
    if (w->held == BUFFER) TFSDK_TRY(empty(w));
  }
  return NULL;
}

static void little(unsigned char *p, uint64_t v, int n) {
  for (int i = 0; i < n; i++) p[i] = (unsigned char)(v >> 8 * i);
}

static tfsdk_status *writer_append(void *user, const char *const *names, const tfsdk_view *values,
                                   uint32_t n) {
  writer *w = user;
  if (n != 1 || strcmp(names[0], "data") != 0 || values[0].dtype != TFSDK_STRING)
    return TFSDK_FAIL(w, INVALID_ARGUMENT,
                      "%s: a record is one value of strings called 'data', each of them a record",
                      w->path);
  if (w->error != 0) return failed(w, "the file cannot be written", w->error);
  const uint64_t *at = values[0].data;
  const unsigned char *text = (const unsigned char *)(at + values[0].n_elem + 1);
  for (int64_t i = 0; i < values[0].n_elem; i++) {
    unsigned char head[12], tail[4];
    const size_t size = (size_t)(at[i + 1] - at[i]);
    little(head, size, 8);
    little(head + 8, record_checksum(&w->sums, head, 8), 4);
    little(tail, record_checksum(&w->sums, text + at[i], size), 4);
    TFSDK_TRY(put(w, head, sizeof head));
    TFSDK_TRY(put(w, text + at[i], size));
    TFSDK_TRY(put(w, tail, sizeof tail));
  }
  return NULL;
}

static tfsdk_status *writer_flush(void *user, int32_t durable) {
  writer *w = user;
  if (w->compressed) TFSDK_TRY(squeeze(w, NULL, 0, Z_SYNC_FLUSH));
  TFSDK_TRY(empty(w));
  if (durable && fsync(w->fd) != 0) return failed(w, "cannot be made durable", errno);
  return NULL;
}

static tfsdk_status *writer_finish(void *user) {
  writer *w = user;
  if (w->compressed) TFSDK_TRY(squeeze(w, NULL, 0, Z_FINISH));
  TFSDK_TRY(empty(w));
  int fd = w->fd;
  w->fd = -1;
  return close(fd) != 0 ? failed(w, "the file cannot be written", errno) : NULL;
}

static void writer_close(void *user) {
  writer *w = user;
  const tfsdk_host *host = w->host;
  if (w->compressed) (void)deflateEnd(&w->z);
  if (w->fd >= 0) close(w->fd);
  reader_strfree(host, w->path);
  reader_free(host, w, sizeof *w);
}

static tfsdk_status *writer_open(void *self, const tfsdk_host *host, const char *path,
                                 const tfsdk_attrs *options, void **out) {
  const char *compression = tfsdk_attr_string(options, "compression_type");
  const int64_t level = tfsdk_attr_int(options, "compression_level");
  const bool gzip = strcmp(compression, "GZIP") == 0;
  writer *w = reader_alloc(host, sizeof *w);
  tfsdk_status *s = NULL;
  (void)self;
  if (w == NULL)
    return host->fail(host, TFSDK_RESOURCE_EXHAUSTED, __FILE__, __LINE__, "out of memory");
  w->host = host;
  w->fd = -1;
  record_checksums_fill(&w->sums);
  w->path = reader_strdup(host, path);
  if (w->path == NULL)
    s = READER_NOMEM(w);
  else if (compression[0] != 0 && !gzip && strcmp(compression, "ZLIB") != 0)
    s = TFSDK_FAIL(w, INVALID_ARGUMENT, "%s: 'compression_type' is \"\", GZIP or ZLIB, not '%s'",
                   path, compression);
  else if (level < -1 || level > 9)
    s = TFSDK_FAIL(w, INVALID_ARGUMENT, "%s: 'compression_level' is -1 to 9, not %lld", path,
                   (long long)level);
  else if (compression[0] != 0) { /* zlib's numbers as TensorFlow sets them; +16 is a gzip head */
    w->compressed = deflateInit2(&w->z, (int)level, Z_DEFLATED, MAX_WBITS + (gzip ? 16 : 0), 9,
                                 Z_DEFAULT_STRATEGY) == Z_OK;
    if (!w->compressed) s = READER_NOMEM(w);
  }
  if (s == NULL) {
    w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (w->fd < 0) s = failed(w, "the file cannot be written", errno);
  }
  if (s != NULL) {
    writer_close(w);
    return s;
  }
  *out = w;
  return NULL;
}

static const tfsdk_attrdef option[] = {
    {"compression_type", "string", "", "GZIP or ZLIB; \"\": plain", 0, 0},
    {"compression_level", "int", "-1", "0 (none) to 9 (most); -1: zlib's own choice", 0, 0}};
static const tfsdk_writerdef writers[] = {{
    .struct_size = sizeof(tfsdk_writerdef),
    .n_option = TFSDK_COUNT(option),
    .attr_size = sizeof(tfsdk_attrdef),
    .name = "tfrecord",
    .extensions = ".tfrecord .tfrecords",
    .doc = "TFRecord files, plain, gzip or zlib: each string of `data` is a record. The file is "
           "there from the beginning; what was flushed can be read.",
    .option = option,
    .open = writer_open,
    .append = writer_append,
    .flush = writer_flush,
    .finish = writer_finish,
    .close = writer_close,
}};
TFSDK_UNIT_WRITERS(tfrecord_put, writers);
