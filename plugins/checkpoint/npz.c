/* NumPy's npz: a zip archive of arrays. */
#include <string.h>

#include "npy.h"
#include "store.h"
#include "zip.h"

typedef struct own {
  file f;
  zip_member *member;
  size_t n;
} own;

typedef struct array {
  const zip_member *m;
  npy_array a;
  uint64_t begin; /* of the elements in the member */
} array;

static tfsdk_status *bad(store *s, const zip_member *m, const char *why) {
  return STORE_FAIL(s, DATA_LOSS, "the member '%s' at byte %llu: %s", m->name,
                    (unsigned long long)m->at, why);
}

/* Reads the header and leaves the stream where the elements begin. */
static tfsdk_status *read_header(store *s, zip_stream *z, npy_array *a, uint64_t *out_begin,
                                 const char **out_unknown) {
  unsigned char preamble[NPY_PREAMBLE];
  size_t at = 0, n = 0;
  bool unknown;
  *out_unknown = NULL;
  if (z->m->bytes < 10) return bad(s, z->m, "it is too short for an array");
  TFSDK_TRY(zip_read(z, preamble, 10));
  const char *wrong = npy_length(preamble, &at, &n);
  if (wrong != NULL && at != 12) return bad(s, z->m, wrong);
  if (at == 12) {
    TFSDK_TRY(zip_read(z, preamble + 10, 2));
    if ((wrong = npy_length(preamble, &at, &n)) != NULL) return bad(s, z->m, wrong);
  }
  if (n > z->m->bytes - at) return bad(s, z->m, "its header is longer than it");
  char *text = memory_get(s->host, n + 1);
  if (text == NULL) return NO_MEMORY(s);
  tfsdk_status *st = zip_read(z, text, n);
  if (st == NULL) {
    wrong = npy_parse(text, n, a, &unknown);
    if (wrong != NULL && !unknown) st = bad(s, z->m, wrong);
    if (wrong != NULL && unknown) *out_unknown = wrong;
  }
  memory_give(s->host, text, n + 1);
  *out_begin = at + n;
  return st;
}

static tfsdk_status *add_array(store *s, const zip_member *m) {
  own *x = s->own;
  zip_stream z;
  size_t n = strlen(m->name);
  const char *unknown;
  array *r = arena_get(&s->memory, sizeof *r);
  store_entry *e = store_add(s, m->name, n > 4 && strcmp(m->name + n - 4, ".npy") == 0 ? n - 4 : n);
  if (r == NULL || e == NULL) return NO_MEMORY(s);
  r->m = m;
  e->own = r;
  TFSDK_TRY(zip_open(&z, &x->f, m));
  tfsdk_status *st = read_header(s, &z, &r->a, &r->begin, &unknown);
  zip_close(&z);
  if (st != NULL) return st;
  if (unknown != NULL) {
    e->type = unknown;
    return NULL;
  }
  e->dtype = r->a.dtype;
  e->shape = r->a.shape;
  int64_t elements = tfsdk_shape_elements(&e->shape);
  uint64_t bytes;
  if (elements < 0 || __builtin_mul_overflow((uint64_t)elements, r->a.item, &bytes) ||
      bytes > m->bytes - r->begin)
    return bad(s, m, "its shape needs more bytes than it has");
  e->bytes = bytes;
  e->at = m->at + r->begin;
  if (!m->deflated && !r->a.big_endian && !r->a.fortran && e->dtype != TFSDK_STRING &&
      e->dtype != TFSDK_BOOL)
    e->file = s->path;
  return NULL;
}

static tfsdk_status *npz_open(store *s) {
  own *x = s->own;
  TFSDK_TRY(file_open(&x->f, s->host, s->path));
  TFSDK_TRY(zip_list(&x->f, &s->memory, &x->member, &x->n));
  for (size_t i = 0; i < x->n; i++) TFSDK_TRY(add_array(s, &x->member[i]));
  return NULL;
}

/* The elements as they lie in the file; what follows them counts for the checksum. */
static tfsdk_status *read_raw(store *s, const store_entry *e, void *to) {
  own *x = s->own;
  const array *r = e->own;
  zip_stream z;
  char skipped[4096];
  tfsdk_status *st = zip_open(&z, &x->f, r->m);
  if (st != NULL) return st;
  for (uint64_t left = r->begin; st == NULL && left > 0;) {
    uint64_t n = left < sizeof skipped ? left : sizeof skipped;
    st = zip_read(&z, skipped, n);
    left -= n;
  }
  if (st == NULL) st = zip_read(&z, to, e->bytes);
  for (uint64_t left = r->m->bytes - r->begin - e->bytes; st == NULL && left > 0;) {
    uint64_t n = left < sizeof skipped ? left : sizeof skipped;
    st = zip_read(&z, skipped, n);
    left -= n;
  }
  zip_close(&z);
  return st;
}

static void swap_parts(unsigned char *p, uint64_t n, uint32_t size) {
  for (uint64_t i = 0; i < n; i++, p += size)
    for (uint32_t a = 0, b = size - 1; a < b; a++, b--) {
      unsigned char c = p[a];
      p[a] = p[b];
      p[b] = c;
    }
}

/* The first axis varies fastest in `from`. */
static void to_row_major(const tfsdk_shape *shape, const unsigned char *from, unsigned char *to,
                         size_t item) {
  int64_t index[TFSDK_MAX_RANK] = {0}, stride[TFSDK_MAX_RANK];
  int64_t n = tfsdk_shape_elements(shape), at = 0;
  stride[0] = 1;
  for (int32_t i = 1; i < shape->rank; i++) stride[i] = stride[i - 1] * shape->dim[i - 1];
  for (int64_t k = 0; k < n; k++) {
    memcpy(to + (size_t)k * item, from + (size_t)at * item, item);
    for (int32_t i = shape->rank - 1; i >= 0; i--) {
      at += stride[i];
      if (++index[i] < shape->dim[i]) break;
      at -= stride[i] * shape->dim[i];
      index[i] = 0;
    }
  }
}

static tfsdk_status *read_ordered(store *s, const store_entry *e, void *to) {
  const array *r = e->own;
  unsigned char *raw = to;
  if (r->a.fortran && (raw = memory_get(s->host, e->bytes)) == NULL) return NO_MEMORY(s);
  tfsdk_status *st = read_raw(s, e, raw);
  if (st == NULL && r->a.big_endian) swap_parts(raw, e->bytes / r->a.part, r->a.part);
  if (st == NULL && r->a.fortran) to_row_major(&e->shape, raw, to, r->a.item);
  if (raw != to) memory_give(s->host, raw, e->bytes);
  return st;
}

static tfsdk_status *npz_read(store *s, const store_entry *e, void *to, uint64_t bytes) {
  (void)bytes;
  return read_ordered(s, e, to);
}

/* Text of fixed width without the zeros that fill it up, as NumPy gives it. */
static tfsdk_status *npz_strings(store *s, const store_entry *e, uint64_t n, store_text *out) {
  const array *r = e->own;
  char *raw = arena_get(&out->scratch, e->bytes + 1);
  char *packed = arena_get(&out->scratch, e->bytes + 1);
  out->offset = arena_get(&out->scratch, (n + 1) * sizeof *out->offset);
  if (raw == NULL || packed == NULL || out->offset == NULL) return NO_MEMORY(s);
  TFSDK_TRY(read_ordered(s, e, raw));
  for (uint64_t i = 0; i < n; i++) {
    uint64_t width = r->a.item;
    while (width > 0 && raw[i * r->a.item + width - 1] == 0) width--;
    memcpy(packed + out->offset[i], raw + i * r->a.item, width);
    out->offset[i + 1] = out->offset[i] + width;
  }
  out->bytes = packed;
  return NULL;
}

static void npz_close(store *s) { file_close(&((own *)s->own)->f); }

static const store_format format = {.own_bytes = sizeof(own),
                                    .open = npz_open,
                                    .read = npz_read,
                                    .strings = npz_strings,
                                    .close = npz_close};
STORE_OPEN(open_reader, format)

static const tfsdk_readerdef readers[] = {
    STORE_READER("npz", ".npz", open_reader,
                 "NumPy's archives of arrays, stored or deflated, of either byte order and in C or "
                 "Fortran order. Names are the members' without '.npy'. Checksums are checked.")};
TFSDK_UNIT_FORMAT(npz, readers, TFSDK_COUNT(readers), NULL, 0);
