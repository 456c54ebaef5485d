/* npy files of NumPy: a record is one slice along axis 0, or the whole array.
 *
 * Arrays in C order are read as they are asked for. In Fortran order a slice's elements lie all
 * over the file, so the array is read whole and each record gathers its own. */
#include <string.h>

#include "npy_header.h"

typedef struct npy {
  source src;
  npy_header h;
  bool whole;
  int64_t n_records, done;
  uint32_t rank; /* of a record; its extents are the last `rank` of the file's */
  const int64_t *dim;
  int64_t elements;   /* of a record */
  unsigned char *all; /* Fortran order: the file's elements; and text before it becomes strings */
  size_t all_bytes;
} npy;

static void npy_close(void *reader) {
  npy *x = reader;
  const tfsdk_host *host = x->src.host;
  reader_free(host, x->all, x->all_bytes);
  source_close(&x->src);
  reader_free(host, x, sizeof *x);
}

static tfsdk_status *prepare(npy *x) {
  const npy_header *h = &x->h;
  TFSDK_TRY(npy_read_header(&x->src, &x->h));
  TFSDK_TRY(source_expect(&x->src, (uint64_t)h->elements * h->item, "the npy array", NULL));
  if (h->rank == 0) x->whole = true;
  x->n_records = x->whole ? 1 : h->dim[0];
  x->rank = x->whole ? h->rank : h->rank - 1;
  x->dim = x->whole ? h->dim : h->dim + 1;
  x->elements = x->whole || h->elements == 0 ? h->elements : h->elements / h->dim[0];
  return NULL;
}

static tfsdk_status *npy_open(void *self, const tfsdk_host *host, const char *path,
                              const tfsdk_attrs *options, void **out_reader) {
  source src;
  (void)self;
  TFSDK_TRY(source_open(&src, host, path));
  npy *x = reader_alloc(host, sizeof *x);
  if (x == NULL) {
    tfsdk_status *s = READER_NOMEM(&src);
    source_close(&src);
    return s;
  }
  x->src = src;
  x->whole = tfsdk_attr_int(options, "whole") != 0;
  tfsdk_status *s = prepare(x);
  if (s != NULL) {
    npy_close(x);
    return s;
  }
  *out_reader = x;
  return NULL;
}

static tfsdk_status *npy_components(void *reader, tfsdk_component *out, uint32_t cap,
                                    uint32_t *out_n) {
  const npy *x = reader;
  *out_n = 1;
  if (cap < 1) return NULL;
  memset(out, 0, sizeof *out);
  memcpy(out->name, "data", 5);
  out->type.dtype = x->h.dtype;
  out->type.shape.rank = (int32_t)x->rank;
  if (x->rank > 0) memcpy(out->type.shape.dim, x->dim, x->rank * sizeof *x->dim);
  return NULL;
}

static void copy_strided(unsigned char *to, const unsigned char *from, int64_t n, uint64_t step,
                         size_t item) {
#define COPY(size)                                                                                 \
  for (int64_t i = 0; i < n; i++)                                                                  \
  memcpy(to + (uint64_t)i * (size), from + (uint64_t)i * step, (size))
  switch (item) {
  case 1: COPY(1); break;
  case 2: COPY(2); break;
  case 4: COPY(4); break;
  case 8: COPY(8); break;
  default: COPY(item);
  }
#undef COPY
}

/* Record `done` of the Fortran-ordered array into row-major order. */
static void gather(const npy *x, unsigned char *to) {
  const npy_header *h = &x->h;
  int64_t stride[TFSDK_MAX_RANK], index[TFSDK_MAX_RANK] = {0};
  uint32_t last = h->rank - 1, first = x->whole ? 0 : 1;
  stride[0] = 1;
  for (uint32_t i = 1; i < h->rank; i++) stride[i] = stride[i - 1] * h->dim[i - 1];
  if (!x->whole) index[0] = x->done;
  for (int64_t made = 0; made < x->elements; made += h->dim[last]) { /* one run of the last axis */
    int64_t at = 0;
    for (uint32_t i = 0; i < last; i++) at += index[i] * stride[i];
    copy_strided(to + (uint64_t)made * h->item, x->all + (uint64_t)at * h->item, h->dim[last],
                 (uint64_t)stride[last] * h->item, h->item);
    for (uint32_t i = last; i-- > first;) {
      if (++index[i] < h->dim[i]) break;
      index[i] = 0;
    }
  }
}

/* Reads all that a record, or the Fortran-ordered array, is made of into x->all. */
static tfsdk_status *read_raw(npy *x, int64_t elements) {
  size_t bytes = (size_t)elements * x->h.item;
  if (x->all == NULL) {
    x->all = reader_alloc(x->src.host, bytes);
    if (x->all == NULL) return READER_NOMEM(&x->src);
    x->all_bytes = bytes;
  }
  return source_read_exactly(&x->src, x->all, bytes, "the npy array");
}

/* Text of fixed width without the zeros that fill it up, as NumPy gives it. */
static size_t text_bytes(const unsigned char *p, size_t item) {
  while (item > 0 && p[item - 1] == 0) item--;
  return item;
}

static tfsdk_status *give_strings(npy *x, tfsdk_record *r, const unsigned char *raw) {
  uint64_t bytes = 0, at = 0;
  tfsdk_view v;
  for (int64_t i = 0; i < x->elements; i++)
    bytes += text_bytes(raw + (uint64_t)i * x->h.item, x->h.item);
  TFSDK_TRY(r->alloc(r, 0, x->rank, x->dim, bytes, &v));
  uint64_t *offset = v.data;
  char *to = (char *)(offset + x->elements + 1);
  for (int64_t i = 0; i < x->elements; i++) {
    size_t n = text_bytes(raw + (uint64_t)i * x->h.item, x->h.item);
    offset[i] = at;
    memcpy(to + at, raw + (uint64_t)i * x->h.item, n);
    at += n;
  }
  offset[x->elements] = at;
  return NULL;
}

static tfsdk_status *next_strings(npy *x, tfsdk_record *r) {
  size_t bytes = (size_t)x->elements * x->h.item;
  if (!x->h.fortran) {
    TFSDK_TRY(read_raw(x, x->elements));
    return give_strings(x, r, x->all);
  }
  if (x->done == 0) TFSDK_TRY(read_raw(x, x->h.elements));
  unsigned char *raw = reader_alloc(x->src.host, bytes);
  if (raw == NULL) return READER_NOMEM(&x->src);
  gather(x, raw);
  tfsdk_status *s = give_strings(x, r, raw);
  reader_free(x->src.host, raw, bytes);
  return s;
}

static tfsdk_status *next_numbers(npy *x, tfsdk_record *r) {
  const npy_header *h = &x->h;
  tfsdk_view v;
  if (h->fortran && x->done == 0) TFSDK_TRY(read_raw(x, h->elements));
  TFSDK_TRY(r->alloc(r, 0, x->rank, x->dim, 0, &v));
  if (x->elements == 0) return NULL;
  if (h->fortran)
    gather(x, v.data);
  else
    TFSDK_TRY(source_read_exactly(&x->src, v.data, (size_t)x->elements * h->item, "the npy array"));
  if (h->swap) reader_swap(v.data, (uint64_t)x->elements * (h->item / h->part), h->part);
  unsigned char *b = v.data;
  for (int64_t i = 0; h->dtype == TFSDK_BOOL && i < x->elements; i++) b[i] = b[i] != 0;
  return NULL;
}

static tfsdk_status *npy_next(void *reader, tfsdk_record *r, int32_t *out_end) {
  npy *x = reader;
  *out_end = x->done == x->n_records;
  if (*out_end) return NULL;
  TFSDK_TRY(x->h.dtype == TFSDK_STRING ? next_strings(x, r) : next_numbers(x, r));
  x->done++;
  return NULL;
}

static int64_t npy_count(void *reader) { return ((const npy *)reader)->n_records; }

static const tfsdk_attrdef options[] = {
    {"whole", "bool", "false",
     "one record with the full array, instead of one for each index of axis 0", 0, 0}};

static const tfsdk_readerdef readers[] = {{
    .struct_size = sizeof(tfsdk_readerdef),
    .n_option = TFSDK_COUNT(options),
    .attr_size = sizeof(tfsdk_attrdef),
    .name = "npy",
    .extensions = ".npy .npy.gz",
    .doc =
        "NumPy's npy files, versions 1 to 3, plain or gzip, of booleans, integers, floating and "
        "complex "
        "numbers of either byte order, in C or Fortran order, and of bytes (S), which become "
        "strings "
        "without the zeros at their end. A record is the component `data`: one slice along axis 0, "
        "or "
        "the whole array; a scalar is one record. Objects, Unicode, dates and structured types are "
        "refused. Bytes after the array are ignored, as NumPy does.",
    .option = options,
    .open = npy_open,
    .components = npy_components,
    .next = npy_next,
    .count = npy_count,
    .close = npy_close,
}};
TFSDK_UNIT_READERS(npy, readers);
