/* IDX files: what MNIST and its relatives come in.
 *
 * Layout (yann.lecun.com/exdb/mnist): two zero bytes, a type code, the number of axes, each extent
 * as a big-endian 32-bit number, then the elements, big-endian, row-major. A record is one slice
 * along axis 0: an image of 28x28, a label. */
#include <string.h>

#include "source.h"

typedef struct idx {
  source src; /* first: TFSDK_FAIL(idx->src...) */
  int32_t dtype;
  uint32_t rank; /* of a record */
  int64_t n_records, done;
  int64_t dim[TFSDK_MAX_RANK]; /* of a record */
  int64_t record_elements;
  size_t record_bytes;
} idx;

static void idx_close(void *reader) {
  idx *x = reader;
  const tfsdk_host *host = x->src.host;
  source_close(&x->src);
  reader_free(host, x, sizeof *x);
}

static int32_t type_of(unsigned code) {
  switch (code) {
  case 0x08: return TFSDK_UINT8;
  case 0x09: return TFSDK_INT8;
  case 0x0B: return TFSDK_INT16;
  case 0x0C: return TFSDK_INT32;
  case 0x0D: return TFSDK_FLOAT32;
  case 0x0E: return TFSDK_FLOAT64;
  default: return TFSDK_INVALID;
  }
}

static int64_t extent(const unsigned char *p) {
  return (int64_t)((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]);
}

static tfsdk_status *read_header(idx *x) {
  unsigned char magic[4], size[4 * (TFSDK_MAX_RANK + 1)];
  source *s = &x->src;
  uint64_t bytes;
  int64_t left;
  TFSDK_TRY(source_read_exactly(s, magic, 4, "the magic number"));
  x->dtype = type_of(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || x->dtype == TFSDK_INVALID)
    return SOURCE_FAIL(s, DATA_LOSS, "this is no IDX file: it begins with %02x %02x %02x %02x",
                       magic[0], magic[1], magic[2], magic[3]);
  if (magic[3] == 0 || magic[3] > TFSDK_MAX_RANK + 1)
    return SOURCE_FAIL(s, DATA_LOSS, "an IDX file has 1 to %d axes; this one has %u",
                       TFSDK_MAX_RANK + 1, magic[3]);
  x->rank = magic[3] - 1u;
  TFSDK_TRY(source_read_exactly(s, size, 4u * magic[3], "the extents"));
  x->n_records = extent(size);
  uint64_t elements = 1, width = tfsdk_dtype_size(x->dtype);
  bool fits = true;
  for (uint32_t i = 0; i < x->rank; i++) {
    x->dim[i] = extent(size + 4 * (i + 1));
    fits = fits && !__builtin_mul_overflow(elements, (uint64_t)x->dim[i], &elements);
  }
  fits = fits && !__builtin_mul_overflow(elements, width, &bytes) && bytes <= INT64_MAX;
  x->record_elements = fits ? (int64_t)elements : 0;
  x->record_bytes = fits ? (size_t)bytes : 0;
  fits = fits && !__builtin_mul_overflow(bytes, (uint64_t)x->n_records, &bytes);
  if (!fits)
    return SOURCE_FAIL(s, DATA_LOSS,
                       "the extents in the header need more bytes than can be addressed");
  TFSDK_TRY(source_expect(s, bytes, "what the header announces", &left));
  if (left >= 0 && (uint64_t)left != bytes)
    return SOURCE_FAIL(s, DATA_LOSS, "%llu bytes follow the %llu that the header announces",
                       (unsigned long long)((uint64_t)left - bytes), (unsigned long long)bytes);
  return NULL;
}

static tfsdk_status *idx_open(void *self, const tfsdk_host *host, const char *path,
                              const tfsdk_attrs *options, void **out_reader) {
  source src;
  (void)self;
  (void)options;
  TFSDK_TRY(source_open(&src, host, path));
  idx *x = reader_alloc(host, sizeof *x);
  if (x == NULL) {
    tfsdk_status *s = READER_NOMEM(&src);
    source_close(&src);
    return s;
  }
  x->src = src;
  tfsdk_status *s = read_header(x);
  if (s != NULL) {
    idx_close(x);
    return s;
  }
  *out_reader = x;
  return NULL;
}

static tfsdk_status *idx_components(void *reader, tfsdk_component *out, uint32_t cap,
                                    uint32_t *out_n) {
  const idx *x = reader;
  *out_n = 1;
  if (cap < 1) return NULL;
  memset(out, 0, sizeof *out);
  memcpy(out->name, "data", 5);
  out->type.dtype = x->dtype;
  out->type.shape.rank = (int32_t)x->rank;
  memcpy(out->type.shape.dim, x->dim, x->rank * sizeof *x->dim);
  return NULL;
}

static tfsdk_status *idx_next(void *reader, tfsdk_record *r, int32_t *out_end) {
  idx *x = reader;
  tfsdk_view v;
  if (x->done == x->n_records) {
    char more;
    size_t n = 0;
    TFSDK_TRY(source_read(&x->src, &more, 1, &n)); /* known beforehand unless it is compressed */
    if (n > 0)
      return SOURCE_FAIL(&x->src, DATA_LOSS, "bytes follow those that the header announces");
    *out_end = 1;
    return NULL;
  }
  TFSDK_TRY(r->alloc(r, 0, x->rank, x->dim, 0, &v));
  TFSDK_TRY(source_read_exactly(&x->src, v.data, x->record_bytes, "a record"));
  if (must_swap(true))
    reader_swap(v.data, (uint64_t)x->record_elements, tfsdk_dtype_size(x->dtype));
  x->done++;
  return NULL;
}

static int64_t idx_count(void *reader) { return ((const idx *)reader)->n_records; }

static const tfsdk_readerdef readers[] = {{
    .struct_size = sizeof(tfsdk_readerdef),
    .attr_size = sizeof(tfsdk_attrdef),
    .name = "idx",
    .extensions = ".idx .idx.gz -ubyte -ubyte.gz",
    .doc = "IDX files (MNIST), plain or gzip. A record is one slice along axis 0, the component "
           "`data`, of "
           "type uint8, int8, int16, int32, float32 or float64 as the file says. A file that is "
           "shorter "
           "or longer than its header announces is an error.",
    .open = idx_open,
    .components = idx_components,
    .next = idx_next,
    .count = idx_count,
    .close = idx_close,
}};
TFSDK_UNIT_READERS(idx, readers);
