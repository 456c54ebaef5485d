/* TFRecord files (record.h). Records before a damaged one are handed out; what follows it is not guessed at. */
#include <string.h>

#include "record.h"
#include "source.h"

typedef struct tfrecord {
  source src; /* first: TFSDK_FAIL(tfrecord->src...) */
  record_checksums sums;
} tfrecord;

static uint64_t number(const unsigned char *p, int n) {
  uint64_t v = 0;
  for (int i = 0; i < n; i++) v |= (uint64_t)p[i] << 8 * i;
  return v;
}

static void tfrecord_close(void *reader) {
  tfrecord *x = reader;
  const tfsdk_host *host = x->src.host;
  source_close(&x->src);
  reader_free(host, x, sizeof *x);
}

static tfsdk_status *tfrecord_open(void *self, const tfsdk_host *host, const char *path,
                                   const tfsdk_attrs *options, void **out_reader) {
  const char *compression = tfsdk_attr_string(options, "compression_type");
  source src;
  (void)self;
  TFSDK_TRY(source_open(&src, host, path));
  tfrecord *x = reader_alloc(host, sizeof *x);
  tfsdk_status *s = NULL;
  if (x == NULL)
    s = READER_NOMEM(&src);
  else if (strcmp(compression, "ZLIB") == 0)
    s = source_zlib_open(&src);
  else if (compression[0] != 0 && strcmp(compression, "GZIP") != 0)
    s = SOURCE_FAIL(&src, INVALID_ARGUMENT, "'compression_type' is \"\", GZIP or ZLIB, not '%s'",
                    compression);
  else if (strcmp(compression, "GZIP") == 0 && src.bytes != 0 && gzdirect(src.file) == 1)
    s = SOURCE_FAIL(&src, DATA_LOSS, "this is no gzip file");
  if (s != NULL) {
    reader_free(host, x, sizeof *x);
    source_close(&src);
    return s;
  }
  x->src = src;
  record_checksums_fill(&x->sums);
  *out_reader = x;
  return NULL;
}

static tfsdk_status *tfrecord_components(void *reader, tfsdk_component *out, uint32_t cap,
                                         uint32_t *out_n) {
  (void)reader;
  *out_n = 1;
  if (cap < 1) return NULL;
  memset(out, 0, sizeof *out);
  memcpy(out->name, "data", 5);
  out->type.dtype = TFSDK_STRING;
  return NULL;
}

static tfsdk_status *tfrecord_next(void *reader, tfsdk_record *r, int32_t *out_end) {
  tfrecord *x = reader;
  source *s = &x->src;
  const uint64_t begin = s->at;
  unsigned char head[12], tail[4];
  tfsdk_view v;
  uint64_t n, *at;
  size_t got = 0;
  TFSDK_TRY(source_read(s, head, sizeof head, &got));
  if (got == 0) {
    *out_end = 1;
    return NULL;
  }
  if (got < sizeof head)
    return SOURCE_FAIL(s, DATA_LOSS, "the file ends inside the length of the record at byte %llu",
                       (unsigned long long)begin);
  if (number(head + 8, 4) != record_checksum(&x->sums, head, 8))
    return SOURCE_FAIL(s, DATA_LOSS,
                       "%s: the length of the record at byte %llu has a wrong checksum",
                       begin == 0 ? "this is no TFRecord file, or a damaged one" : "damaged",
                       (unsigned long long)begin);
  n = number(head, 8);
  if (n > INT64_MAX - 64)
    return SOURCE_FAIL(s, DATA_LOSS, "the record at byte %llu claims to have %llu bytes",
                       (unsigned long long)begin, (unsigned long long)n);
  TFSDK_TRY(source_expect(s, n + 4, "a record", NULL));
  TFSDK_TRY(r->alloc(r, 0, 0, NULL, n, &v));
  at = (uint64_t *)v.data;
  at[0] = 0;
  at[1] = n;
  TFSDK_TRY(source_read_exactly(s, at + 2, (size_t)n, "a record"));
  TFSDK_TRY(source_read_exactly(s, tail, sizeof tail, "the checksum of a record"));
  if (number(tail, 4) != record_checksum(&x->sums, (const unsigned char *)(at + 2), (size_t)n))
    return SOURCE_FAIL(s, DATA_LOSS, "the record at byte %llu has a wrong checksum",
                       (unsigned long long)begin);
  return NULL;
}

static const tfsdk_attrdef option[] = {
    {"compression_type", "string", "",
     "GZIP, ZLIB: anything else in the file is an error; \"\": plain or gzip, told by the content",
     0, 0}};
static const tfsdk_readerdef readers[] = {{
    .struct_size = sizeof(tfsdk_readerdef),
    .n_option = TFSDK_COUNT(option),
    .attr_size = sizeof(tfsdk_attrdef),
    .name = "tfrecord",
    .extensions = ".tfrecord .tfrecords .tfrecord.gz .tfrecords.gz",
    .doc =
        "TFRecord files, plain, gzip or zlib. A record is the component `data`, a string of bytes. "
        "Checksums are checked: a damaged record is an error that names its byte, those before "
        "it are handed out.",
    .option = option,
    .open = tfrecord_open,
    .components = tfrecord_components,
    .next = tfrecord_next,
    .close = tfrecord_close,
}};
TFSDK_UNIT_READERS(tfrecord, readers);
