/* PyTorch's files: a pickle that says which tensors there are, and their storages. Since 1.6 a zip archive: TOP/data.pkl,
 * TOP/data/KEY; before, one pickle after another (magic number, version, machine, the data, the keys of storages) and then
 * each storage's number of elements and bytes (torch/serialization.py, _legacy_save).
 *
 * Names of tensors are the keys of the nested dicts, joined by dots; what else is in them becomes metadata. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pickle.h"
#include "safetensors.h"
#include "store.h"
#include "zip.h"

#define DEEP 100        /* dicts in dicts */
#define MANY (1u << 20) /* values: the same one may be named again and again */

typedef struct place { /* a storage */
  const char *key;
  const zip_member *m; /* NULL: legacy */
  uint64_t at, bytes;
} place;

typedef struct own {
  file f;
  zip_member *member;
  size_t n, n_visited;
  place *place;
  size_t n_places, cap_places;
  char *json;
  size_t json_n, json_cap;
  bool no_memory;
} own;

typedef struct tensor {
  const pickle_value *v;
  const place *where;
  bool plain; /* row-major, without gaps */
} tensor;

/* ---------------------------------------------------------------------------------------- metadata */

static void add(store *s, const char *text) {
  own *x = s->own;
  size_t n = strlen(text);
  if (x->json_n + n + 1 > x->json_cap) {
    size_t cap = 2 * (x->json_n + n + 1) + 256;
    char *more = arena_get(&s->memory, cap);
    x->no_memory = x->no_memory || more == NULL;
    if (more == NULL) return;
    if (x->json_n > 0) memcpy(more, x->json, x->json_n);
    x->json = more;
    x->json_cap = cap;
  }
  memcpy(x->json + x->json_n, text, n + 1);
  x->json_n += n;
}

static void add_quoted(store *s, const char *text) {
  const char *q = json_quote(&s->memory, text);
  if (q != NULL)
    add(s, q);
  else
    ((own *)s->own)->no_memory = true;
}

static const char *key_text(store *s, const pickle_value *key) {
  if (key->kind == PICKLE_TEXT) return key->text;
  if (key->kind == PICKLE_INT) return arena_format(&s->memory, "%lld", (long long)key->number);
  return "?";
}

static tfsdk_status *visit(store *s, int depth) {
  own *x = s->own;
  if (depth > DEEP) return STORE_FAIL(s, UNIMPLEMENTED, "its dicts and lists are nested too deep");
  if (++x->n_visited > MANY) return STORE_FAIL(s, UNIMPLEMENTED, "it holds too many values");
  return NULL;
}

static tfsdk_status *add_value(store *s, const pickle_value *v, int depth) {
  char number[64];
  TFSDK_TRY(visit(s, depth));
  switch (v->kind) {
  case PICKLE_BOOL: add(s, v->number ? "true" : "false"); break;
  case PICKLE_INT:
    snprintf(number, sizeof number, "%lld", (long long)v->number);
    add(s, number);
    break;
  case PICKLE_FLOAT:
    snprintf(number, sizeof number, "%.17g", v->real);
    if (strpbrk(number, "in") != NULL) /* JSON has no infinite numbers */
      add_quoted(s, number);
    else
      add(s, number);
    break;
  case PICKLE_TEXT: add_quoted(s, v->text); break;
  case PICKLE_LIST:
    add(s, "[");
    for (size_t i = 0; i < v->n; i++) {
      if (i > 0) add(s, ",");
      TFSDK_TRY(add_value(s, v->item[i], depth + 1));
    }
    add(s, "]");
    break;
  case PICKLE_DICT:
    add(s, "{");
    for (size_t i = 0; i + 1 < v->n; i += 2) {
      if (i > 0) add(s, ",");
      add_quoted(s, key_text(s, v->item[i]));
      add(s, ":");
      TFSDK_TRY(add_value(s, v->item[i + 1], depth + 1));
    }
    add(s, "}");
    break;
  case PICKLE_TENSOR: add(s, "\"(tensor)\""); break;
  default: add(s, "null");
  }
  return NULL;
}

/* ----------------------------------------------------------------------------------------- tensors */

static const place *find_place(const own *x, const char *key) {
  for (size_t i = 0; i < x->n_places; i++)
    if (strcmp(x->place[i].key, key) == 0) return &x->place[i];
  return NULL;
}

static tfsdk_status *add_tensor(store *s, const char *name, const pickle_value *v) {
  own *x = s->own;
  store_entry *e = store_add(s, name, strlen(name));
  tensor *t = arena_get(&s->memory, sizeof *t);
  if (e == NULL || t == NULL) return NO_MEMORY(s);
  const pickle_value *st = v->storage;
  size_t item = tfsdk_dtype_size(st->dtype);
  uint64_t need;
  t->v = v;
  t->where = find_place(x, st->text);
  if (t->where == NULL)
    return STORE_FAIL(s, DATA_LOSS, "the storage '%s' of the tensor '%s' is missing", st->text,
                      name);
  if (__builtin_mul_overflow((uint64_t)st->number, (uint64_t)item, &need) || need > t->where->bytes)
    return STORE_FAIL(
        s, DATA_LOSS, "the storage '%s' has %llu bytes; %lld elements of %s take more", st->text,
        (unsigned long long)t->where->bytes, (long long)st->number, tfsdk_dtype_name(st->dtype));
  e->dtype = st->dtype;
  e->shape = v->shape;
  e->own = t;
  int64_t n, step = 1;
  TFSDK_TRY(store_size(s, e, &n, &e->bytes));
  t->plain = true;
  for (int32_t i = v->shape.rank - 1; i >= 0; i--) {
    if (v->shape.dim[i] != 1 && v->stride[i] != step) t->plain = n == 0;
    step *= v->shape.dim[i] > 0 ? v->shape.dim[i] : 1;
  }
  e->at = t->where->at + (uint64_t)v->number * item;
  bool stored = t->where->m == NULL || !t->where->m->deflated;
  if (t->plain && n > 0 && stored && e->dtype != TFSDK_BOOL) e->file = s->path;
  return NULL;
}

static tfsdk_status *add_all(store *s, const pickle_value *v, const char *prefix, int depth) {
  TFSDK_TRY(visit(s, depth));
  if (v->kind == PICKLE_TENSOR) return add_tensor(s, prefix[0] != 0 ? prefix : "tensor", v);
  if (v->kind != PICKLE_DICT) { /* a list of tensors: by their numbers */
    bool tensors = false;
    for (size_t i = 0; v->kind == PICKLE_LIST && i < v->n; i++)
      tensors = tensors || v->item[i]->kind == PICKLE_TENSOR;
    for (size_t i = 0; tensors && i < v->n; i++) {
      char *name = arena_format(&s->memory, "%s%s%zu", prefix, prefix[0] ? "." : "", i);
      if (name == NULL) return NO_MEMORY(s);
      if (v->item[i]->kind == PICKLE_TENSOR) TFSDK_TRY(add_tensor(s, name, v->item[i]));
    }
    if (tensors) return NULL;
    own *x = s->own;
    add(s, x->json_n > 1 ? "," : "");
    add_quoted(s, prefix);
    add(s, ":");
    return add_value(s, v, depth + 1);
  }
  for (size_t i = 0; i + 1 < v->n; i += 2) {
    const char *key = key_text(s, v->item[i]);
    char *name =
        key != NULL ? arena_format(&s->memory, "%s%s%s", prefix, prefix[0] ? "." : "", key) : NULL;
    if (name == NULL) return NO_MEMORY(s);
    TFSDK_TRY(add_all(s, v->item[i + 1], name, depth + 1));
  }
  return NULL;
}

static tfsdk_status *add_place(store *s, place p) {
  own *x = s->own;
  place *list = arena_grow(&s->memory, x->place, x->n_places, &x->cap_places, sizeof *list);
  if (list == NULL) return NO_MEMORY(s);
  x->place = list;
  x->place[x->n_places++] = p;
  return NULL;
}

static tfsdk_status *take_all(store *s, const pickle_value *v) {
  own *x = s->own;
  add(s, "{");
  TFSDK_TRY(add_all(s, v, "", 0));
  add(s, "}");
  if (x->no_memory) return NO_MEMORY(s);
  s->metadata = x->json;
  return NULL;
}

/* --------------------------------------------------------------------------------------------- zip */

static tfsdk_status *read_member(store *s, const zip_member *m, char **out) {
  own *x = s->own;
  zip_stream z;
  if (m->bytes > (uint64_t)256 << 20)
    return STORE_FAIL(s, RESOURCE_EXHAUSTED, "the member '%s' has more than 256 MB", m->name);
  *out = arena_get(&s->memory, (size_t)m->bytes + 1);
  if (*out == NULL) return NO_MEMORY(s);
  TFSDK_TRY(zip_open(&z, &x->f, m));
  tfsdk_status *st = zip_read(&z, *out, m->bytes);
  zip_close(&z);
  return st;
}

static bool ends(const char *name, const char *ending) {
  size_t n = strlen(name), k = strlen(ending);
  return n >= k && strcmp(name + n - k, ending) == 0;
}

static tfsdk_status *open_zip(store *s) {
  own *x = s->own;
  const zip_member *pickle = NULL;
  char *bytes = NULL;
  TFSDK_TRY(zip_list(&x->f, &s->memory, &x->member, &x->n));
  for (size_t i = 0; i < x->n; i++)
    if (ends(x->member[i].name, "/data.pkl") && pickle == NULL) pickle = &x->member[i];
  if (pickle == NULL)
    return STORE_FAIL(s, DATA_LOSS,
                      "the archive has no data.pkl, which says what tensors there are");
  size_t top = strlen(pickle->name) - 8;
  for (size_t i = 0; i < x->n; i++) {
    const zip_member *m = &x->member[i];
    if (strncmp(m->name, pickle->name, top) != 0) continue;
    if (strcmp(m->name + top, "byteorder") == 0) {
      TFSDK_TRY(read_member(s, m, &bytes));
      if (strcmp(bytes, "little") != 0)
        return STORE_FAIL(s, UNIMPLEMENTED, "files of big-endian machines are not read");
    }
    if (strncmp(m->name + top, "data/", 5) == 0)
      TFSDK_TRY(add_place(s, (place){m->name + top + 5, m, m->at, m->bytes}));
  }
  TFSDK_TRY(read_member(s, pickle, &bytes));
  pickle_source source = {.host = s->host,
                          .memory = &s->memory,
                          .path = s->path,
                          .p = bytes,
                          .end = bytes + pickle->bytes};
  pickle_value *v = NULL;
  TFSDK_TRY(pickle_read(&source, &v));
  return take_all(s, v);
}

/* ------------------------------------------------------------------------------------------ legacy */

static const pickle_value *storage_of(const pickle_value *v, const char *key, int depth,
                                      size_t *budget) {
  if (depth > DEEP || *budget == 0) return NULL;
  --*budget;
  if (v->kind == PICKLE_TENSOR && strcmp(v->storage->text, key) == 0) return v->storage;
  for (size_t i = 0; (v->kind == PICKLE_LIST || v->kind == PICKLE_DICT) && i < v->n; i++) {
    const pickle_value *st = storage_of(v->item[i], key, depth + 1, budget);
    if (st != NULL) return st;
  }
  return NULL;
}

static tfsdk_status *open_legacy(store *s) {
  own *x = s->own;
  pickle_source source = {.host = s->host, .memory = &s->memory, .path = s->path, .f = &x->f};
  pickle_value *part[5] = {NULL, NULL, NULL, NULL, NULL};
  for (int i = 0; i < 5; i++) TFSDK_TRY(pickle_read(&source, &part[i]));
  const pickle_value *little = pickle_get(part[2], "little_endian");
  if (part[1]->kind != PICKLE_INT || part[1]->number != 1001 || part[4]->kind != PICKLE_LIST)
    return STORE_FAIL(s, DATA_LOSS, "this is no file of PyTorch");
  if (little != NULL && !little->number)
    return STORE_FAIL(s, UNIMPLEMENTED, "files of big-endian machines are not read");
  uint64_t at = source.at;
  size_t budget = MANY;
  for (size_t i = 0; i < part[4]->n; i++) {
    const pickle_value *key = part[4]->item[i];
    unsigned char head[8];
    uint64_t n = 0, bytes;
    if (key->kind != PICKLE_TEXT)
      return STORE_FAIL(s, DATA_LOSS, "the key of a storage is no text");
    const pickle_value *st = storage_of(part[3], key->text, 0, &budget);
    TFSDK_TRY(file_read(&x->f, at, head, 8, "the length of a storage"));
    for (int k = 0; k < 8; k++) n |= (uint64_t)head[k] << 8 * k;
    if (st == NULL)
      return STORE_FAIL(s, UNIMPLEMENTED, "nothing says of which type the storage '%s' is",
                        key->text);
    if (__builtin_mul_overflow(n, (uint64_t)tfsdk_dtype_size(st->dtype), &bytes))
      return STORE_FAIL(s, DATA_LOSS, "the storage '%s' claims %llu elements", key->text,
                        (unsigned long long)n);
    TFSDK_TRY(file_expect(&x->f, at + 8, bytes, "a storage"));
    TFSDK_TRY(add_place(s, (place){key->text, NULL, at + 8, bytes}));
    at += 8 + bytes;
  }
  return take_all(s, part[3]);
}

/* --------------------------------------------------------------------------------------------- all */

static tfsdk_status *pth_open(store *s) {
  own *x = s->own;
  char head[4] = {0};
  TFSDK_TRY(file_open(&x->f, s->host, s->path));
  if (x->f.bytes >= 4) TFSDK_TRY(file_read(&x->f, 0, head, 4, "the beginning"));
  if (memcmp(head, "PK", 2) == 0) return open_zip(s);
  if ((unsigned char)head[0] == 0x80) return open_legacy(s);
  return STORE_FAIL(s, DATA_LOSS, "this is no file of PyTorch: neither a zip archive nor a pickle");
}

/* `n` bytes of a storage from `from` on; a member is read to its end, where its checksum is looked at. */
static tfsdk_status *read_storage(store *s, const place *p, uint64_t from, void *to, uint64_t n) {
  own *x = s->own;
  zip_stream z;
  char skipped[4096];
  if (p->m == NULL) return file_read(&x->f, p->at + from, to, n, "a storage");
  TFSDK_TRY(zip_open(&z, &x->f, p->m));
  tfsdk_status *st = NULL;
  for (uint64_t part = 0; st == NULL && part < 3; part++) {
    if (part == 1) {
      st = zip_read(&z, to, n);
      continue;
    }
    for (uint64_t left = part == 0 ? from : p->m->bytes - from - n; st == NULL && left > 0;) {
      uint64_t k = left < sizeof skipped ? left : sizeof skipped;
      st = zip_read(&z, skipped, k);
      left -= k;
    }
  }
  zip_close(&z);
  return st;
}

static tfsdk_status *pth_read(store *s, const store_entry *e, void *to, uint64_t bytes) {
  const tensor *t = e->own;
  const pickle_value *v = t->v;
  size_t item = tfsdk_dtype_size(e->dtype);
  if (bytes == 0) return NULL;
  if (t->plain) return read_storage(s, t->where, (uint64_t)v->number * item, to, bytes);
  size_t whole = (size_t)v->storage->number * item;
  char *raw = memory_get(s->host, whole);
  if (raw == NULL) return NO_MEMORY(s);
  tfsdk_status *st = read_storage(s, t->where, 0, raw, whole);
  int64_t index[TFSDK_MAX_RANK] = {0}, at = v->number, n = tfsdk_shape_elements(&v->shape);
  for (int64_t k = 0; st == NULL && k < n; k++) {
    memcpy((char *)to + (size_t)k * item, raw + (size_t)at * item, item);
    for (int32_t i = v->shape.rank - 1; i >= 0; i--) {
      at += v->stride[i];
      if (++index[i] < v->shape.dim[i]) break;
      at -= v->stride[i] * v->shape.dim[i];
      index[i] = 0;
    }
  }
  memory_give(s->host, raw, whole);
  return st;
}

static void pth_close(store *s) { file_close(&((own *)s->own)->f); }

static const store_format format = {
    .own_bytes = sizeof(own), .open = pth_open, .read = pth_read, .close = pth_close};
STORE_OPEN(open_reader, format)

static const tfsdk_readerdef readers[] = {STORE_READER(
    "pth", ".pth .pt", open_reader,
    "PyTorch's files of tensors, zip archives and the older form. Keys of nested dicts "
    "are joined by dots; numbers and texts are metadata. Nothing in the file is run: what "
    "names other code than that of tensors is refused.")};
TFSDK_UNIT_FORMAT(pth, readers, TFSDK_COUNT(readers), NULL, 0);
