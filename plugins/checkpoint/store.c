/* Readers of named tensors; see store.h. */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTING, TENSORS, METADATA };

const tfsdk_attrdef store_options[2] = {
    {"tensors", "list(string)", "[]",
     "one record with these tensors, components \"0\", \"1\", ...; without it there is a record "
     "for each tensor of the file: name, dtype, shape, and file and offset of its bytes (\"\" "
     "where "
     "they are not as in memory)",
     0, 0},
    {"metadata", "bool", "false", "one record: what the file says besides, a string of JSON", 0,
     0}};

static const struct {
  const char *name;
  int32_t dtype, rank;
} listed[] = {{"name", TFSDK_STRING, 0},
              {"dtype", TFSDK_STRING, 0},
              {"shape", TFSDK_INT64, 1},
              {"file", TFSDK_STRING, 0},
              {"offset", TFSDK_INT64, 0}};
#define N_LISTED TFSDK_COUNT(listed)

store_entry *store_add(store *s, const char *name, size_t n) {
  store_entry *more = arena_grow(&s->memory, s->entry, s->n, &s->cap, sizeof *more);
  char *copy = more != NULL ? arena_text(&s->memory, name, n) : NULL;
  if (copy == NULL) return NULL;
  s->entry = more;
  memset(&s->entry[s->n], 0, sizeof *s->entry);
  s->entry[s->n].name = copy;
  return &s->entry[s->n++];
}

tfsdk_status *store_extent(store *s, store_entry *e, int64_t extent) {
  if (extent < 0)
    return STORE_FAIL(s, DATA_LOSS, "the tensor '%s' has the negative extent %lld", e->name,
                      (long long)extent);
  if (e->shape.rank == TFSDK_MAX_RANK)
    return STORE_FAIL(s, UNIMPLEMENTED, "the tensor '%s' has more than %d axes", e->name,
                      TFSDK_MAX_RANK);
  e->shape.dim[e->shape.rank++] = extent;
  return NULL;
}

tfsdk_status *store_size(store *s, const store_entry *e, int64_t *out_elements,
                         uint64_t *out_bytes) {
  int64_t n = tfsdk_shape_elements(&e->shape);
  uint64_t bytes = 0, size = tfsdk_dtype_size(e->dtype);
  if (n < 0 || __builtin_mul_overflow((uint64_t)n, size ? size : 1, &bytes) || bytes > INT64_MAX)
    return STORE_FAIL(s, DATA_LOSS, "the tensor '%s' has a shape that cannot be addressed: %s",
                      e->name, tfsdk_shape_text(&e->shape).s);
  *out_elements = n;
  *out_bytes = size ? bytes : 0;
  return NULL;
}

tfsdk_status *store_fetch(file *f, uint64_t at, void *to, uint64_t n, const char *tensor) {
  char what[256];
  snprintf(what, sizeof what, "the tensor '%.200s'", tensor);
  return to != NULL ? file_read(f, at, to, n, what) : file_expect(f, at, n, what);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const store_entry *)a)->name, ((const store_entry *)b)->name);
}

const store_entry *store_find(const store *s, const char *name) {
  store_entry key = {.name = name};
  return s->n == 0 ? NULL : bsearch(&key, s->entry, s->n, sizeof key, by_name);
}

/* The name that shares the most of its beginning and end with `name`: what was meant, perhaps. */
static const char *similar(const store *s, const char *name) {
  const char *best = NULL;
  size_t most = 0, n = strlen(name);
  for (size_t i = 0; i < s->n; i++) {
    const char *other = s->entry[i].name;
    size_t k = strlen(other), front = 0, back = 0;
    while (front < n && front < k && name[front] == other[front]) front++;
    while (back < n - front && back < k - front && name[n - 1 - back] == other[k - 1 - back])
      back++;
    if (2 * (front + back) > (n > k ? n : k) && front + back > most) {
      most = front + back;
      best = other;
    }
  }
  return best;
}

static tfsdk_status *want(store *s, const tfsdk_attrval *names) {
  s->n_wanted = names->n;
  s->wanted = arena_get(&s->memory, names->n * sizeof *s->wanted);
  if (s->wanted == NULL) return NO_MEMORY(s);
  for (uint32_t i = 0; i < names->n; i++) {
    const char *name = names->v.strings[i];
    const store_entry *e = store_find(s, name);
    if (e == NULL) {
      const char *near = similar(s, name);
      return near != NULL
                 ? STORE_FAIL(s, NOT_FOUND, "there is no tensor '%s'; there is '%s'", name, near)
                 : STORE_FAIL(s, NOT_FOUND, "there is no tensor '%s' among its %zu", name, s->n);
    }
    if (e->dtype == 0)
      return STORE_FAIL(s, UNIMPLEMENTED, "the tensor '%s' is of type %s, which cannot be read",
                        name, e->type != NULL ? e->type : "unknown");
    s->wanted[i] = e;
  }
  return NULL;
}

static tfsdk_status *prepare(store *s, const tfsdk_attrs *options) {
  const tfsdk_attrval *names = tfsdk_attr_find(options, "tensors");
  TFSDK_TRY(s->format->open(s));
  if (s->n > 0) qsort(s->entry, s->n, sizeof *s->entry, by_name);
  for (size_t i = 1; i < s->n; i++)
    if (strcmp(s->entry[i - 1].name, s->entry[i].name) == 0)
      return STORE_FAIL(s, DATA_LOSS, "the tensor '%s' is there twice", s->entry[i].name);
  if (tfsdk_attr_int(options, "metadata") != 0) {
    s->mode = METADATA;
  } else if (names != NULL && names->n > 0) {
    s->mode = TENSORS;
    return want(s, names);
  }
  return NULL;
}

tfsdk_status *store_open(const store_format *format, const tfsdk_host *host, const char *path,
                         const tfsdk_attrs *options, void **out_reader) {
  const struct { const tfsdk_host *host; } c = {host};
  store *s = memory_get(host, sizeof *s);
  if (s == NULL) return NO_MEMORY(&c);
  s->host = s->memory.host = host;
  s->format = format;
  s->path = arena_text(&s->memory, path, strlen(path));
  s->own = arena_get(&s->memory, format->own_bytes);
  tfsdk_status *st = s->path != NULL && s->own != NULL ? prepare(s, options) : NO_MEMORY(s);
  if (st != NULL) {
    store_close(s);
    return st;
  }
  *out_reader = s;
  return NULL;
}

void store_close(void *reader) {
  store *s = reader;
  const tfsdk_host *host = s->host;
  if (s->own != NULL && s->format->close != NULL) s->format->close(s);
  arena_release(&s->memory);
  memory_give(host, s, sizeof *s);
}

static void number_name(char *out, uint32_t i) {
  char digits[12];
  int n = 0;
  do digits[n++] = (char)('0' + i % 10);
  while ((i /= 10) > 0);
  while (n > 0) *out++ = digits[--n];
  *out = 0;
}

tfsdk_status *store_components(void *reader, tfsdk_component *out, uint32_t cap, uint32_t *out_n) {
  const store *s = reader;
  *out_n = s->mode == LISTING ? (uint32_t)N_LISTED : s->mode == METADATA ? 1 : s->n_wanted;
  for (uint32_t i = 0; i < *out_n && i < cap; i++) {
    memset(&out[i], 0, sizeof out[i]);
    if (s->mode == TENSORS) {
      number_name(out[i].name, i);
      out[i].type.dtype = s->wanted[i]->dtype;
      out[i].type.shape = s->wanted[i]->shape;
    } else {
      const char *name = s->mode == LISTING ? listed[i].name : "metadata";
      memcpy(out[i].name, name, strlen(name) + 1);
      out[i].type.dtype = s->mode == LISTING ? listed[i].dtype : TFSDK_STRING;
      out[i].type.shape.rank = s->mode == LISTING ? listed[i].rank : 0;
      out[i].type.shape.dim[0] = -1;
    }
  }
  return NULL;
}

int64_t store_count(void *reader) {
  const store *s = reader;
  return s->mode == LISTING ? (int64_t)s->n : 1;
}

static tfsdk_status *give_text(tfsdk_record *r, uint32_t i, const char *text) {
  size_t n = strlen(text);
  tfsdk_view v;
  TFSDK_TRY(r->alloc(r, i, 0, NULL, n, &v));
  uint64_t *offset = v.data;
  offset[0] = 0;
  offset[1] = n;
  memcpy(offset + 2, text, n);
  return NULL;
}

static tfsdk_status *give_listing(const store *s, tfsdk_record *r) {
  const store_entry *e = &s->entry[s->next];
  int64_t rank = e->shape.rank;
  tfsdk_view v;
  TFSDK_TRY(give_text(r, 0, e->name));
  TFSDK_TRY(give_text(r, 1, e->type != NULL ? e->type : tfsdk_dtype_name(e->dtype)));
  TFSDK_TRY(r->alloc(r, 2, 1, &rank, 0, &v));
  if (rank > 0) memcpy(v.data, e->shape.dim, (size_t)rank * sizeof(int64_t));
  TFSDK_TRY(give_text(r, 3, e->file != NULL ? e->file : ""));
  TFSDK_TRY(r->alloc(r, 4, 0, NULL, 0, &v));
  *(int64_t *)v.data = (int64_t)e->at;
  return NULL;
}

static tfsdk_status *give_strings(store *s, tfsdk_record *r, uint32_t i, uint64_t n) {
  const store_entry *e = s->wanted[i];
  store_text text = {{s->host, NULL}, NULL, NULL};
  tfsdk_view v;
  tfsdk_status *st = s->format->strings == NULL
                         ? STORE_FAIL(s, UNIMPLEMENTED, "strings ('%s') are not read", e->name)
                         : s->format->strings(s, e, n, &text);
  if (st == NULL) st = r->alloc(r, i, (uint32_t)e->shape.rank, e->shape.dim, text.offset[n], &v);
  if (st == NULL) {
    uint64_t *offset = v.data;
    memcpy(offset, text.offset, (n + 1) * sizeof *offset);
    if (text.offset[n] > 0) memcpy(offset + n + 1, text.bytes, text.offset[n]);
  }
  arena_release(&text.scratch);
  return st;
}

static tfsdk_status *give_tensors(store *s, tfsdk_record *r) {
  for (uint32_t i = 0; i < s->n_wanted; i++) {
    const store_entry *e = s->wanted[i];
    int64_t n;
    uint64_t bytes;
    tfsdk_view v;
    TFSDK_TRY(store_size(s, e, &n, &bytes));
    if (e->dtype == TFSDK_STRING) {
      TFSDK_TRY(give_strings(s, r, i, (uint64_t)n));
      continue;
    }
    TFSDK_TRY(r->alloc(r, i, (uint32_t)e->shape.rank, e->shape.dim, 0, &v));
    if (n > 0) TFSDK_TRY(s->format->read(s, e, v.data, bytes));
    unsigned char *b = v.data;
    for (int64_t k = 0; e->dtype == TFSDK_BOOL && k < n; k++) b[k] = b[k] != 0;
  }
  return NULL;
}

tfsdk_status *store_next(void *reader, tfsdk_record *r, int32_t *out_end) {
  store *s = reader;
  *out_end = (int64_t)s->next == store_count(s);
  if (*out_end) return NULL;
  if (s->mode == LISTING)
    TFSDK_TRY(give_listing(s, r));
  else if (s->mode == METADATA)
    TFSDK_TRY(give_text(r, 0, s->metadata != NULL ? s->metadata : "{}"));
  else
    TFSDK_TRY(give_tensors(s, r));
  s->next++;
  return NULL;
}
