/* TensorFlow's checkpoints of version 1: one table (or several, PREFIX-?????-of-?????, which are not read as one) whose entry
 * without a key says what tensors there are, and whose other entries hold slices of them, as numbers of a TensorProto.
 * Format: tensorflow/core/util/saved_tensor_slice.proto. */
#include <string.h>

#include "proto.h"
#include "slice.h"
#include "store.h"

typedef struct part {                                    /* a slice with its numbers */
  int64_t start[TFSDK_MAX_RANK], length[TFSDK_MAX_RANK]; /* length -1: all of the axis */
  int32_t rank;
  const char *data; /* a TensorProto */
  size_t n;
  struct part *next;
} part;

typedef struct entry {
  const char *name;
  uint64_t dtype;
  tfsdk_shape shape;
  part *parts;
} entry;

typedef struct own {
  file f;
  entry *list;
  size_t n, cap;
} own;

static tfsdk_status *bad(store *s, const char *what) {
  return STORE_FAIL(s, DATA_LOSS, "%s is no message", what);
}

/* TensorShapeProto{dim 2*{size 1}} */
static tfsdk_status *read_shape(store *s, proto *from, tfsdk_shape *out) {
  proto m = proto_of(from->bytes, from->n);
  out->rank = 0;
  while (proto_next(&m)) {
    if (!proto_is(&m, 2, 2)) continue;
    int64_t size = 0;
    proto d = proto_of(m.bytes, m.n);
    while (proto_next(&d))
      if (proto_is(&d, 1, 0)) size = (int64_t)d.number;
    if (d.wrong || size < 0 || out->rank == TFSDK_MAX_RANK)
      return STORE_FAIL(s, DATA_LOSS, "a shape is damaged, or has more than 12 axes");
    out->dim[out->rank++] = size;
  }
  return m.wrong ? bad(s, "a shape") : NULL;
}

/* TensorSliceProto{extent 1*{start 1, length 2}} */
static tfsdk_status *read_slice(store *s, proto *from, part *out) {
  proto m = proto_of(from->bytes, from->n);
  while (proto_next(&m)) {
    if (!proto_is(&m, 1, 2)) continue;
    int64_t start = 0, length = -1;
    proto d = proto_of(m.bytes, m.n);
    while (proto_next(&d)) {
      if (proto_is(&d, 1, 0)) start = (int64_t)d.number;
      if (proto_is(&d, 2, 0)) length = (int64_t)d.number;
    }
    if (d.wrong || start < 0 || length < -1 || out->rank == TFSDK_MAX_RANK)
      return STORE_FAIL(s, DATA_LOSS, "a slice is damaged, or has more than 12 axes");
    out->start[out->rank] = start;
    out->length[out->rank++] = length;
  }
  return m.wrong ? bad(s, "a slice") : NULL;
}

/* SavedTensorSliceMeta{tensor 1*{name 1, shape 2, type 3, slice 4*}} */
static tfsdk_status *read_meta(store *s, proto *from) {
  own *x = s->own;
  proto m = proto_of(from->bytes, from->n);
  while (proto_next(&m)) {
    if (!proto_is(&m, 1, 2)) continue;
    entry *list = arena_grow(&s->memory, x->list, x->n, &x->cap, sizeof *list);
    if (list == NULL) return NO_MEMORY(s);
    x->list = list;
    entry *e = &list[x->n];
    memset(e, 0, sizeof *e);
    proto t = proto_of(m.bytes, m.n);
    while (proto_next(&t)) {
      if (proto_is(&t, 1, 2) && (e->name = arena_text(&s->memory, t.bytes, t.n)) == NULL)
        return NO_MEMORY(s);
      if (proto_is(&t, 2, 2)) TFSDK_TRY(read_shape(s, &t, &e->shape));
      if (proto_is(&t, 3, 0)) e->dtype = t.number;
    }
    if (t.wrong || e->name == NULL) return bad(s, "the description of a tensor");
    x->n++;
  }
  return m.wrong ? bad(s, "the list of tensors") : NULL;
}

/* SavedSlice{name 1, slice 2, data 3} */
static tfsdk_status *read_data(store *s, proto *from) {
  own *x = s->own;
  part *p = arena_get(&s->memory, sizeof *p);
  const char *name = NULL;
  if (p == NULL) return NO_MEMORY(s);
  proto m = proto_of(from->bytes, from->n);
  while (proto_next(&m)) {
    if (proto_is(&m, 1, 2) && (name = arena_text(&s->memory, m.bytes, m.n)) == NULL)
      return NO_MEMORY(s);
    if (proto_is(&m, 2, 2)) TFSDK_TRY(read_slice(s, &m, p));
    if (!proto_is(&m, 3, 2)) continue;
    p->data = arena_text(&s->memory, m.bytes, m.n); /* the table's block goes */
    p->n = m.n;
    if (p->data == NULL) return NO_MEMORY(s);
  }
  if (m.wrong || name == NULL) return bad(s, "a slice's entry");
  for (size_t i = 0; i < x->n; i++) {
    if (strcmp(x->list[i].name, name) != 0) continue;
    p->next = x->list[i].parts;
    x->list[i].parts = p;
    return NULL;
  }
  return STORE_FAIL(s, DATA_LOSS, "a slice of '%s' is there, which the list of tensors lacks",
                    name);
}

static tfsdk_status *read_entry(void *user, const table_entry *e) {
  store *s = user;
  proto m = proto_of(e->value, e->value_n);
  while (proto_next(&m)) {
    if (proto_is(&m, 1, 2) && e->key_n == 0) TFSDK_TRY(read_meta(s, &m));
    if (proto_is(&m, 2, 2) && e->key_n > 0) TFSDK_TRY(read_data(s, &m));
  }
  return m.wrong ? bad(s, "an entry") : NULL;
}

/* A slice's extents with those left out filled in; it must lie in the tensor. */
static tfsdk_status *part_shape(store *s, const entry *e, const part *p, tfsdk_shape *out) {
  out->rank = e->shape.rank;
  if (p->rank != e->shape.rank && p->rank != 0)
    return STORE_FAIL(s, DATA_LOSS, "a slice of '%s' has %d axes, the tensor %d", e->name,
                      (int)p->rank, (int)e->shape.rank);
  for (int32_t i = 0; i < out->rank; i++) {
    int64_t size = e->shape.dim[i];
    out->dim[i] = p->rank == 0 || p->length[i] < 0 ? size : p->length[i];
    if (p->start[i] > size || out->dim[i] > size - p->start[i])
      return STORE_FAIL(s, DATA_LOSS, "a slice of '%s' lies outside of it", e->name);
  }
  return NULL;
}

static tfsdk_status *v1_open(store *s) {
  own *x = s->own;
  TFSDK_TRY(file_open(&x->f, s->host, s->path));
  TFSDK_TRY(table_each(&x->f, read_entry, s));
  if (x->n == 0) return STORE_FAIL(s, DATA_LOSS, "the table holds no tensors of a checkpoint");
  for (size_t i = 0; i < x->n; i++) {
    const entry *e = &x->list[i];
    store_entry *out = store_add(s, e->name, strlen(e->name));
    int64_t n, covered = 0;
    if (out == NULL) return NO_MEMORY(s);
    out->shape = e->shape;
    out->own = e;
    bool known = e->dtype < 100 && tfsdk_dtype_kind((int32_t)e->dtype) != 0;
    out->dtype = known ? (int32_t)e->dtype : 0;
    if (!known && (out->type = arena_format(&s->memory, "TensorFlow's type %llu",
                                            (unsigned long long)e->dtype)) == NULL)
      return NO_MEMORY(s);
    if (!known) continue;
    TFSDK_TRY(store_size(s, out, &n, &out->bytes));
    for (const part *p = e->parts; p != NULL; p = p->next) {
      tfsdk_shape shape;
      TFSDK_TRY(part_shape(s, e, p, &shape));
      if (__builtin_add_overflow(covered, tfsdk_shape_elements(&shape), &covered))
        return STORE_FAIL(s, DATA_LOSS, "the slices of '%s' overlap", e->name);
    }
    if (covered != n)
      return STORE_FAIL(s, DATA_LOSS, "the slices of '%s' hold %lld of its %lld elements", e->name,
                        (long long)covered, (long long)n);
  }
  return NULL;
}

/* TensorProto's field for a type, and whether its numbers are of fixed width. */
static uint32_t field_of(int32_t dtype, bool *fixed) {
  *fixed = dtype == TFSDK_FLOAT32 || dtype == TFSDK_FLOAT64 || dtype == TFSDK_COMPLEX64 ||
           dtype == TFSDK_COMPLEX128;
  switch (dtype) {
  case TFSDK_FLOAT32: return 5;
  case TFSDK_FLOAT64: return 6;
  case TFSDK_COMPLEX64: return 9;
  case TFSDK_INT64: return 10;
  case TFSDK_BOOL: return 11;
  case TFSDK_COMPLEX128: return 12;
  case TFSDK_FLOAT16:
  case TFSDK_BFLOAT16: return 13;
  case TFSDK_UINT32: return 16;
  case TFSDK_UINT64: return 17;
  default: return 7; /* int_val: int32 and smaller */
  }
}

/* The numbers of a slice into `to`, row-major: exactly n of `size` bytes. */
static tfsdk_status *read_numbers(store *s, const entry *e, const part *p, size_t size, uint64_t n,
                                  char *to) {
  bool fixed;
  uint32_t field = field_of((int32_t)e->dtype, &fixed);
  uint64_t i = 0;
  proto m = proto_of(p->data != NULL ? p->data : "", p->n);
  while (proto_next(&m)) {
    if (m.field == 4 && m.wire == 2 && m.n == n * size) { /* tensor_content */
      memcpy(to, m.bytes, m.n);
      i = n;
    }
    if (m.field != field) continue;
    if (m.wire != 2) {
      if (i < n) memcpy(to + i * size, &m.number, size); /* little-endian: the low bytes */
      i++;
      continue;
    }
    const char *at = m.bytes, *end = at + m.n;
    while (at < end) {
      uint64_t v = 0;
      if (fixed) {
        if ((size_t)(end - at) < size) return bad(s, "a list of numbers");
        memcpy(&v, at, size);
        at += size;
      } else if (!read_varint(&at, end, &v)) {
        return bad(s, "a list of numbers");
      }
      if (i < n) memcpy(to + i * size, &v, size);
      i++;
    }
  }
  if (m.wrong) return bad(s, "a tensor");
  if (i != n)
    return STORE_FAIL(s, DATA_LOSS, "a slice of '%s' has %llu numbers; it takes %llu", e->name,
                      (unsigned long long)i, (unsigned long long)n);
  return NULL;
}

static tfsdk_status *v1_read(store *s, const store_entry *out, void *to, uint64_t bytes) {
  const entry *e = out->own;
  bool complex = out->dtype == TFSDK_COMPLEX64 || out->dtype == TFSDK_COMPLEX128;
  size_t width = tfsdk_dtype_size(out->dtype);
  (void)bytes;
  for (const part *p = e->parts; p != NULL; p = p->next) {
    tfsdk_shape shape;
    TFSDK_TRY(part_shape(s, e, p, &shape));
    size_t n = (size_t)tfsdk_shape_elements(&shape);
    if (n == 0) continue;
    char *raw = memory_get(s->host, n * width);
    if (raw == NULL) return NO_MEMORY(s);
    tfsdk_status *st = read_numbers(s, e, p, complex ? width / 2 : width, complex ? 2 * n : n, raw);
    if (st == NULL) slice_place(&e->shape, p->start, &shape, width, raw, to);
    memory_give(s->host, raw, n * width);
    if (st != NULL) return st;
  }
  return NULL;
}

static void v1_close(store *s) { file_close(&((own *)s->own)->f); }

static const store_format format = {
    .own_bytes = sizeof(own), .open = v1_open, .read = v1_read, .close = v1_close};
STORE_OPEN(open_reader, format)

static const tfsdk_readerdef readers[] = {STORE_READER(
    "tf_checkpoint_v1", ".ckpt", open_reader,
    "TensorFlow's checkpoints of version 1: one file. Partitioned variables come whole; "
    "strings are not read.")};
TFSDK_UNIT_FORMAT(tf_checkpoint_v1, readers, TFSDK_COUNT(readers), NULL, 0);
