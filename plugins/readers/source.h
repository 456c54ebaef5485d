/* Bytes of a file, plain, gzip (told by its content) or a bare zlib stream (asked for), from front to
 * back. Every error begins with the path. */
#ifndef TFSDK_READERS_SOURCE_H
#define TFSDK_READERS_SOURCE_H

#include <stdbool.h>
#include <tfsdk/unit.h>
#include <zlib.h>

typedef struct source {
  const tfsdk_host *host; /* first: TFSDK_FAIL(source, ...) works */
  char *path;
  gzFile file;
  struct source_zlib *zlib; /* NULL but after source_zlib_open */
  uint64_t at;              /* bytes handed out, counted after decompression */
  int64_t bytes;            /* of the file as it lies there; -1 when that is unknown (a pipe) */
} source;

/* Errors of code `code` about this file. */
#define SOURCE_FAIL(s, code, format, ...)                                                          \
  TFSDK_FAIL(s, code, "%s: " format, (s)->path, ##__VA_ARGS__)

/* Leaves nothing behind on error; else source_close releases. */
tfsdk_status *source_open(source *s, const tfsdk_host *host, const char *path);
void source_close(source *s); /* a zeroed source is allowed */
/* Before anything is read: what lies in the file is one zlib stream. */
tfsdk_status *source_zlib_open(source *s);
/* Up to n bytes; fewer only at the end of the file. */
tfsdk_status *source_read(source *s, void *to, size_t n, size_t *out_n);
/* Exactly n bytes, or DATA_LOSS: `what` says of what. */
tfsdk_status *source_read_exactly(source *s, void *to, size_t n, const char *what);
/* DATA_LOSS when the file cannot hold that many further bytes: before memory for them is asked for.
 * *out_left (may be NULL): how many follow, -1 when only reading tells. */
tfsdk_status *source_expect(source *s, uint64_t bytes, const char *what, int64_t *out_left);

/* Memory through the host, NULL or zero-filled; sizes are given back on release. */
void *reader_alloc(const tfsdk_host *host, size_t bytes);
void reader_free(const tfsdk_host *host, void *block, size_t bytes);
char *reader_strdup(const tfsdk_host *host, const char *text);
void reader_strfree(const tfsdk_host *host, char *text);
#define READER_NOMEM(c) TFSDK_FAIL(c, RESOURCE_EXHAUSTED, "out of memory")

/* Turns n numbers of 1, 2, 4 or 8 bytes round. */
void reader_swap(void *data, uint64_t n, size_t size);
/* Whether numbers of that order need it here. */
static inline bool must_swap(bool big_endian) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return !big_endian;
#else
  return big_endian;
#endif
}

#endif
