/* TensorFlow's checkpoints of version 2: PREFIX.index, a table of BundleEntryProto by name, and the
 * data files PREFIX.data-00000-of-00001 with the bytes.
 *
 * Format: tensorflow/core/util/tensor_bundle/tensor_bundle.h and protobuf/tensor_bundle.proto. A
 * partitioned variable has an entry without data that lists its slices; each slice has an entry of
 * its own, whose key is made of name, starts and lengths (tensorflow/core/util/saved_tensor_slice_
 * util.cc, tensorflow/core/lib/strings/ordered_code.cc). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crc32c.h"
#include "proto.h"
#include "slice.h"
#include "store.h"

typedef struct slice {
  int64_t start[TFSDK_MAX_RANK], length[TFSDK_MAX_RANK]; /* length -1: all of the axis */
  int32_t rank;
  const struct bundle *data; /* its own entry */
  struct slice *next;
} slice;

/* One entry of the index: of a tensor, or of a slice. */
typedef struct bundle {
  const char *key;
  size_t key_n;
  int32_t dtype;
  tfsdk_shape shape;
  uint32_t shard;
  uint64_t at, size;
  uint32_t crc;
  slice *slices;
} bundle;

typedef struct own {
  file index;
  file *shard; /* opened when first read; path NULL until then */
  const char **shard_path;
  uint32_t n_shards;
  bundle *list; /* in the order of keys */
  size_t n, cap;
  bool has_header;
} own;

static tfsdk_status *bad_entry(store *s, const table_entry *e, const char *what) {
  own *x = s->own;
  return FILE_FAIL(&x->index, DATA_LOSS, "the entry '%.100s' at byte %llu is damaged: %s",
                   e->key_n > 0 && e->key[0] != 0 ? e->key : "(header or slice)",
                   (unsigned long long)e->at, what);
}

/* --------------------------------------------------------------------------------- the messages */

static tfsdk_status *read_header(store *s, const table_entry *e) {
  own *x = s->own;
  proto m = proto_of(e->value, e->value_n);
  uint64_t shards = 0, minimum = 0;
  bool big_endian = false;
  while (proto_next(&m)) {
    if (proto_is(&m, 1, 0)) shards = m.number;
    if (proto_is(&m, 2, 0)) big_endian = m.number != 0;
    if (!proto_is(&m, 3, 2)) continue;
    proto v = proto_of(m.bytes, m.n);
    while (proto_next(&v))
      if (proto_is(&v, 2, 0)) minimum = v.number;
    m.wrong = m.wrong || v.wrong;
  }
  if (m.wrong) return bad_entry(s, e, "the header is no message");
  if (minimum > 1)
    return FILE_FAIL(&x->index, UNIMPLEMENTED,
                     "the checkpoint asks for readers of version %llu; this one is of version 1",
                     (unsigned long long)minimum);
  if (big_endian)
    return FILE_FAIL(&x->index, UNIMPLEMENTED, "checkpoints of big-endian machines are not read");
  if (shards == 0 || shards > 99999)
    return FILE_FAIL(&x->index, DATA_LOSS, "the header says that there are %llu data files",
                     (unsigned long long)shards);
  x->n_shards = (uint32_t)shards;
  x->has_header = true;
  return NULL;
}

static tfsdk_status *read_shape(store *s, const table_entry *e, const char *bytes, size_t n,
                                tfsdk_shape *out) {
  proto m = proto_of(bytes, n);
  out->rank = 0;
  while (proto_next(&m)) {
    if (proto_is(&m, 3, 0) && m.number != 0) return bad_entry(s, e, "its rank is unknown");
    if (!proto_is(&m, 2, 2)) continue;
    int64_t extent = 0;
    proto d = proto_of(m.bytes, m.n);
    while (proto_next(&d))
      if (proto_is(&d, 1, 0)) extent = (int64_t)d.number;
    if (d.wrong) return bad_entry(s, e, "its shape is no message");
    if (extent < 0) return bad_entry(s, e, "its shape has a negative extent");
    if (out->rank == TFSDK_MAX_RANK) return bad_entry(s, e, "it has more than 12 axes");
    out->dim[out->rank++] = extent;
  }
  return m.wrong ? bad_entry(s, e, "its shape is no message") : NULL;
}

static tfsdk_status *read_slice(store *s, const table_entry *e, const char *bytes, size_t n,
                                slice **io_list) {
  proto m = proto_of(bytes, n);
  slice *v = arena_get(&s->memory, sizeof *v);
  if (v == NULL) return NO_MEMORY(s);
  while (proto_next(&m)) {
    if (!proto_is(&m, 1, 2)) continue;
    if (v->rank == TFSDK_MAX_RANK) return bad_entry(s, e, "a slice has more than 12 axes");
    int64_t start = 0, length = -1;
    proto d = proto_of(m.bytes, m.n);
    while (proto_next(&d)) {
      if (proto_is(&d, 1, 0)) start = (int64_t)d.number;
      if (proto_is(&d, 2, 0)) length = (int64_t)d.number;
    }
    if (d.wrong || start < 0 || length < -1) return bad_entry(s, e, "a slice is no message");
    v->start[v->rank] = start;
    v->length[v->rank++] = length;
  }
  if (m.wrong) return bad_entry(s, e, "a slice is no message");
  v->next = *io_list;
  *io_list = v;
  return NULL;
}

static tfsdk_status *read_entry(void *user, const table_entry *e) {
  store *s = user;
  own *x = s->own;
  if (e->key_n == 0) return read_header(s, e);
  bundle *more = arena_grow(&s->memory, x->list, x->n, &x->cap, sizeof *more);
  char *key = more != NULL ? arena_text(&s->memory, e->key, e->key_n) : NULL;
  if (key == NULL) return NO_MEMORY(s);
  x->list = more;
  bundle *b = &x->list[x->n++];
  memset(b, 0, sizeof *b);
  b->key = key;
  b->key_n = e->key_n;
  proto m = proto_of(e->value, e->value_n);
  uint64_t shard = 0;
  int64_t at = 0, size = 0;
  while (proto_next(&m)) {
    if (proto_is(&m, 1, 0)) b->dtype = m.number <= INT32_MAX ? (int32_t)m.number : INT32_MAX;
    if (proto_is(&m, 2, 2)) TFSDK_TRY(read_shape(s, e, m.bytes, m.n, &b->shape));
    if (proto_is(&m, 3, 0)) shard = m.number;
    if (proto_is(&m, 4, 0)) at = (int64_t)m.number;
    if (proto_is(&m, 5, 0)) size = (int64_t)m.number;
    if (proto_is(&m, 6, 5)) b->crc = (uint32_t)m.number;
    if (proto_is(&m, 7, 2)) TFSDK_TRY(read_slice(s, e, m.bytes, m.n, &b->slices));
  }
  if (m.wrong) return bad_entry(s, e, "it is no message");
  if (at < 0 || size < 0) return bad_entry(s, e, "its place in the data is negative");
  b->shard = shard < UINT32_MAX ? (uint32_t)shard : UINT32_MAX;
  b->at = (uint64_t)at;
  b->size = (uint64_t)size;
  return NULL;
}

/* ------------------------------------------------------------------------------- keys of slices */

/* OrderedCode: a number of 0 or more is its count of bytes, then its bytes, high ones first. */
static size_t put_number(char *to, uint64_t x) {
  size_t n = 0;
  for (uint64_t rest = x; rest > 0; rest >>= 8) n++;
  to[0] = (char)n;
  for (size_t i = 0; i < n; i++) to[1 + i] = (char)(x >> 8 * (n - 1 - i));
  return n + 1;
}

/* A signed one: as many leading ones as it has bytes, a zero (the sign's complement), the rest; of
 * a negative number all bits are turned. */
static size_t put_signed(char *to, int64_t v) {
  uint64_t x = v < 0 ? ~(uint64_t)v : (uint64_t)v;
  size_t n = 1;
  while (n < 10 && (n >= 10 || (7 * n - 1 < 64 && x >> (7 * n - 1) != 0))) n++;
  unsigned char out[10] = {0};
  for (size_t i = 0; i < n && i < 8; i++) out[n - 1 - i] = (unsigned char)(x >> 8 * i);
  for (size_t i = 0; i < n; i++) out[i / 8] |= (unsigned char)(0x80 >> i % 8);
  for (size_t i = 0; i < n; i++) to[i] = (char)(v < 0 ? ~out[i] : out[i]);
  return n;
}

/* The key of a slice's entry; false when there is no room. */
static bool slice_key(const bundle *b, const slice *v, char *out, size_t cap, size_t *out_n) {
  size_t at = 0;
  if (2 * b->key_n + 2 + 20 * (size_t)(v->rank + 2) * 2 > cap) return false;
  at += put_number(out + at, 0);
  for (size_t i = 0; i < b->key_n; i++) { /* a text's end is 0 1; its own 0 and 255 are escaped */
    unsigned char c = (unsigned char)b->key[i];
    out[at++] = b->key[i];
    if (c == 0) out[at++] = (char)255;
    if (c == 255) out[at++] = 0;
  }
  out[at++] = 0;
  out[at++] = 1;
  at += put_number(out + at, (uint64_t)v->rank);
  for (int32_t i = 0; i < v->rank; i++) {
    at += put_signed(out + at, v->start[i]);
    at += put_signed(out + at, v->length[i]);
  }
  *out_n = at;
  return true;
}

static int by_key(const void *a, const void *b) {
  const bundle *x = a, *y = b;
  size_t n = x->key_n < y->key_n ? x->key_n : y->key_n;
  int way = memcmp(x->key, y->key, n);
  return way != 0 ? way : x->key_n < y->key_n ? -1 : x->key_n > y->key_n;
}

/* Slices must be there, of the tensor's type, and cover it once: as many elements as it has, none
 * outside. (Overlaps with holes of the same size would be taken.) */
static tfsdk_status *resolve_slices(store *s, const bundle *b, const store_entry *e) {
  own *x = s->own;
  char key[4096];
  int64_t covered = 0, total;
  uint64_t bytes;
  TFSDK_TRY(store_size(s, e, &total, &bytes));
  for (slice *v = b->slices; v != NULL; v = v->next) {
    bundle want = {.key = key};
    if (v->rank != b->shape.rank)
      return STORE_FAIL(s, DATA_LOSS, "a slice of '%s' has %d axes, the tensor %d", b->key,
                        (int)v->rank, (int)b->shape.rank);
    int64_t n = 1;
    for (int32_t i = 0; i < v->rank; i++) {
      int64_t length = v->length[i] < 0 ? b->shape.dim[i] : v->length[i];
      if (v->start[i] > b->shape.dim[i] || length > b->shape.dim[i] - v->start[i])
        return STORE_FAIL(s, DATA_LOSS, "a slice of '%s' lies outside of it", b->key);
      n *= length; /* at most `total`, which fits */
    }
    if (__builtin_add_overflow(covered, n, &covered) || covered > total)
      return STORE_FAIL(s, DATA_LOSS, "the slices of '%s' overlap", b->key);
    if (!slice_key(b, v, key, sizeof key, &want.key_n))
      return STORE_FAIL(s, UNIMPLEMENTED, "the name '%s' is too long for slices", b->key);
    v->data = x->n > 0 ? bsearch(&want, x->list, x->n, sizeof want, by_key) : NULL;
    if (v->data == NULL || v->data->slices != NULL)
      return STORE_FAIL(s, DATA_LOSS, "a slice of '%s' has no entry", b->key);
    bool same = v->data->dtype == b->dtype && v->data->shape.rank == v->rank;
    for (int32_t i = 0; same && i < v->rank; i++)
      same = v->data->shape.dim[i] == (v->length[i] < 0 ? b->shape.dim[i] : v->length[i]);
    if (!same) return STORE_FAIL(s, DATA_LOSS, "a slice of '%s' has another type or shape", b->key);
  }
  if (covered != total)
    return STORE_FAIL(s, DATA_LOSS, "the slices of '%s' hold %lld of its %lld elements", b->key,
                      (long long)covered, (long long)total);
  return NULL;
}

/* ------------------------------------------------------------------------------------- opening */

/* PREFIX of PREFIX.index. */
static tfsdk_status *find_paths(store *s) {
  own *x = s->own;
  size_t n = strlen(s->path);
  if (n > 6 && strcmp(s->path + n - 6, ".index") == 0) n -= 6;
  const char *index = arena_format(&s->memory, "%.*s.index", (int)n, s->path);
  if (index == NULL) return NO_MEMORY(s);
  TFSDK_TRY(file_open(&x->index, s->host, index));
  TFSDK_TRY(table_each(&x->index, read_entry, s));
  if (!x->has_header)
    return FILE_FAIL(&x->index, DATA_LOSS, "the index has no header (an entry without a key)");
  x->shard = arena_get(&s->memory, x->n_shards * sizeof *x->shard);
  x->shard_path = arena_get(&s->memory, x->n_shards * sizeof *x->shard_path);
  if (x->shard == NULL || x->shard_path == NULL) return NO_MEMORY(s);
  for (uint32_t i = 0; i < x->n_shards; i++) {
    x->shard_path[i] =
        arena_format(&s->memory, "%.*s.data-%05u-of-%05u", (int)n, s->path, i, x->n_shards);
    if (x->shard_path[i] == NULL) return NO_MEMORY(s);
  }
  return NULL;
}

static tfsdk_status *open_shard(store *s, uint32_t i, file **out) {
  own *x = s->own;
  if (x->shard[i].path == NULL) TFSDK_TRY(file_open(&x->shard[i], s->host, x->shard_path[i]));
  *out = &x->shard[i];
  return NULL;
}

static tfsdk_status *check_place(store *s, const bundle *b, const char *name) {
  own *x = s->own;
  file *f;
  uint64_t size = tfsdk_dtype_size(b->dtype), bytes;
  int64_t n = tfsdk_shape_elements(&b->shape);
  if (b->shard >= x->n_shards)
    return STORE_FAIL(s, DATA_LOSS, "the tensor '%s' lies in data file %u of %u", name, b->shard,
                      x->n_shards);
  TFSDK_TRY(open_shard(s, b->shard, &f));
  TFSDK_TRY(store_fetch(f, b->at, NULL, b->size, name));
  if (n < 0 ||
      (size > 0 && (__builtin_mul_overflow((uint64_t)n, size, &bytes) || bytes != b->size)))
    return STORE_FAIL(s, DATA_LOSS, "the tensor '%s', %s %s, does not fit its %llu bytes", name,
                      tfsdk_dtype_name(b->dtype), tfsdk_shape_text(&b->shape).s,
                      (unsigned long long)b->size);
  /* strings: a length of a byte at least for each, and a checksum */
  if (size == 0 && (b->size < 4 || (uint64_t)n > b->size - 4))
    return STORE_FAIL(s, DATA_LOSS, "the tensor '%s' has %lld strings in %llu bytes", name,
                      (long long)n, (unsigned long long)b->size);
  return NULL;
}

static tfsdk_status *tf_open(store *s) {
  own *x = s->own;
  TFSDK_TRY(find_paths(s));
  for (size_t i = 0; i < x->n; i++) {
    const bundle *b = &x->list[i];
    if (b->key[0] == 0) continue; /* of a slice; found by its key */
    if (strlen(b->key) != b->key_n)
      return STORE_FAIL(s, DATA_LOSS, "the name '%s' goes on behind a NUL", b->key);
    store_entry *e = store_add(s, b->key, b->key_n);
    if (e == NULL) return NO_MEMORY(s);
    e->shape = b->shape;
    e->own = b;
    bool known = tfsdk_dtype_kind(b->dtype) != 0 && b->dtype != TFSDK_RESOURCE;
    if (b->dtype <= 0 || b->dtype > 200 || b->dtype == 20 || (!known && b->dtype > 31))
      return STORE_FAIL(s, DATA_LOSS, "the tensor '%s' is of type number %d, which no tensor has",
                        b->key, (int)b->dtype);
    e->dtype = known ? b->dtype : 0;
    if (!known) {
      e->type = arena_format(&s->memory, "TensorFlow's type %d", (int)b->dtype);
      if (e->type == NULL) return NO_MEMORY(s);
      continue;
    }
    if (b->slices != NULL) {
      TFSDK_TRY(resolve_slices(s, b, e));
      for (const slice *v = b->slices; v != NULL; v = v->next)
        TFSDK_TRY(check_place(s, v->data, b->key));
      continue;
    }
    TFSDK_TRY(check_place(s, b, b->key));
    e->at = b->at;
    e->bytes = b->size;
    if (tfsdk_dtype_size(b->dtype) > 0) e->file = x->shard_path[b->shard];
  }
  return NULL;
}

static void tf_close(store *s) {
  own *x = s->own;
  file_close(&x->index);
  for (uint32_t i = 0; x->shard != NULL && i < x->n_shards; i++)
    if (x->shard[i].path != NULL) file_close(&x->shard[i]);
}

/* ------------------------------------------------------------------------------------- reading */

static tfsdk_status *wrong_sum(file *f, const bundle *b, const char *name) {
  return FILE_FAIL(f, DATA_LOSS, "the tensor '%s', bytes %llu to %llu, has a wrong checksum", name,
                   (unsigned long long)b->at, (unsigned long long)(b->at + b->size));
}

static tfsdk_status *read_plain(store *s, const bundle *b, const char *name, void *to) {
  file *f;
  TFSDK_TRY(open_shard(s, b->shard, &f));
  TFSDK_TRY(store_fetch(f, b->at, to, b->size, name));
  return crc32c_mask(crc32c(0, to, b->size)) == b->crc ? NULL : wrong_sum(f, b, name);
}

static tfsdk_status *tf_read(store *s, const store_entry *e, void *to, uint64_t bytes) {
  const bundle *b = e->own;
  if (b->slices == NULL) return read_plain(s, b, e->name, to);
  memset(to, 0, bytes);
  for (const slice *v = b->slices; v != NULL; v = v->next) {
    size_t n = (size_t)v->data->size;
    char *part = memory_get(s->host, n);
    if (part == NULL) return NO_MEMORY(s);
    tfsdk_status *st = read_plain(s, v->data, e->name, part);
    if (st == NULL)
      slice_place(&b->shape, v->start, &v->data->shape, tfsdk_dtype_size(b->dtype), part, to);
    memory_give(s->host, part, n);
    if (st != NULL) return st;
  }
  return NULL;
}

/* Lengths as varints, a checksum of them, then all bytes. The checksums are of the lengths as
 * numbers of 4 bytes, or of 8 where they need it. */
static tfsdk_status *tf_strings(store *s, const store_entry *e, uint64_t n, store_text *out) {
  const bundle *b = e->own;
  file *f;
  if (b->slices != NULL)
    return STORE_FAIL(s, UNIMPLEMENTED, "'%s': slices of strings are not read", e->name);
  TFSDK_TRY(open_shard(s, b->shard, &f));
  char *data = arena_get(&out->scratch, b->size + 1);
  out->offset = arena_get(&out->scratch, (n + 1) * sizeof *out->offset);
  if (data == NULL || out->offset == NULL) return NO_MEMORY(s);
  TFSDK_TRY(store_fetch(f, b->at, data, b->size, e->name));
  const char *p = data, *end = data + b->size;
  uint32_t crc = 0;
  for (uint64_t i = 0; i < n; i++) {
    uint64_t length;
    if (!read_varint(&p, end, &length) || length > b->size - out->offset[i])
      return FILE_FAIL(f, DATA_LOSS, "a string of '%s' is longer than its bytes %llu to %llu",
                       e->name, (unsigned long long)b->at, (unsigned long long)(b->at + b->size));
    out->offset[i + 1] = out->offset[i] + length;
    crc = crc32c(crc, &length, length <= UINT32_MAX ? 4 : 8); /* little-endian: see read_u32 */
  }
  if ((size_t)(end - p) < 4 || (uint64_t)(end - p) - 4 != out->offset[n])
    return FILE_FAIL(f, DATA_LOSS, "the strings of '%s' do not fill its bytes %llu to %llu",
                     e->name, (unsigned long long)b->at, (unsigned long long)(b->at + b->size));
  uint32_t stored = read_u32(p);
  if (stored != crc32c_mask(crc)) return wrong_sum(f, b, e->name);
  crc = crc32c(crc, p, 4);
  out->bytes = p + 4;
  return crc32c_mask(crc32c(crc, out->bytes, out->offset[n])) == b->crc ? NULL
                                                                        : wrong_sum(f, b, e->name);
}

static const store_format format = {.own_bytes = sizeof(own),
                                    .open = tf_open,
                                    .read = tf_read,
                                    .strings = tf_strings,
                                    .close = tf_close};
STORE_OPEN(open_reader, format)

static const tfsdk_readerdef readers[] = {
    STORE_READER("tf_checkpoint", ".index", open_reader,
                 "TensorFlow's checkpoints of version 2: PREFIX, or PREFIX.index. Partitioned "
                 "variables come whole. Checksums are checked.")};
TFSDK_UNIT_FORMAT(tf_checkpoint, readers, TFSDK_COUNT(readers), NULL, 0);
