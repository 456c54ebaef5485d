/* HDF5 files as stores of named tensors: a dataset's name is its path. Keras keeps its weights so;
 * a .keras file is a zip archive with such a file in it. */
#include <cjson/cJSON.h>
#include <string.h>

#include "h5.h"
#include "json.h"
#include "store.h"
#include "zip.h"

#define MAX_DEPTH   64
#define MAX_OBJECTS 200000
#define MAX_VALUES  65536      /* of an attribute that is shown */
#define MAX_CONFIG  (64 << 20) /* bytes of an archive's description of its model */

typedef struct own {
  h5 h;
  unsigned char *image;
  size_t image_bytes;
  cJSON *attributes;
  size_t objects;
} own;

/* ----------------------------------------------------------------------------------- attributes */

static double number_of(const h5_type *t, const unsigned char *raw) {
  uint64_t x = 0;
  float f;
  double d;
  for (uint32_t i = 0; i < t->size; i++)
    x |= (uint64_t)raw[t->big_endian ? t->size - 1 - i : i] << 8 * i;
  switch (t->dtype) {
  case TFSDK_FLOAT32: memcpy(&f, &(uint32_t){(uint32_t)x}, 4); return f;
  case TFSDK_FLOAT64: memcpy(&d, &x, 8); return d;
  case TFSDK_FLOAT16: return tfsdk_from_half((uint16_t)x);
  case TFSDK_BFLOAT16: return tfsdk_from_bfloat16((uint16_t)x);
  case TFSDK_INT8: return (int8_t)x;
  case TFSDK_INT16: return (int16_t)x;
  case TFSDK_INT32: return (int32_t)x;
  case TFSDK_INT64: return (double)(int64_t)x;
  default: return (double)x;
  }
}

/* Texts, numbers and booleans, alone or in a list; others are left out. */
static tfsdk_status *add_attribute(void *user, h5 *h, const h5_attribute *a) {
  cJSON *all = user, *list;
  bool number = a->type.dtype != 0 && a->type.dtype != TFSDK_STRING && a->type.size <= 8 &&
                tfsdk_dtype_kind(a->type.dtype) != 'c';
  if ((!number && a->type.dtype != TFSDK_STRING) || a->n > MAX_VALUES || a->space.null) return NULL;
  list = cJSON_CreateArray();
  arena scratch = {h->host, NULL};
  tfsdk_status *s = list == NULL ? NO_MEMORY(h) : NULL;
  for (uint64_t i = 0; s == NULL && i < a->n; i++) {
    const unsigned char *raw = a->data.p + i * a->type.size;
    const char *text;
    size_t n;
    cJSON *one = NULL;
    if (number) {
      one = cJSON_CreateNumber(number_of(&a->type, raw));
    } else {
      s = h5_text(h, &a->type, raw, &scratch, &text, &n);
      if (s == NULL) one = cJSON_CreateString(utf8_valid(text, n) ? text : "(no UTF-8)");
    }
    if (s == NULL && (one == NULL || !cJSON_AddItemToArray(list, one))) s = NO_MEMORY(h);
    if (s != NULL) cJSON_Delete(one);
  }
  arena_release(&scratch);
  if (s == NULL && a->space.rank == 0) {
    cJSON *one = cJSON_DetachItemFromArray(list, 0);
    cJSON_Delete(list);
    list = one;
  }
  if (s == NULL && (list == NULL || !utf8_valid(a->name, strlen(a->name))))
    s = NULL;
  else if (s == NULL && cJSON_AddItemToObject(all, a->name, list))
    list = NULL;
  cJSON_Delete(list);
  return s;
}

/* -------------------------------------------------------------------------------------- objects */

typedef struct group {
  store *s;
  const char *path; /* "" for the root, "a/b/" else */
  int depth;
} group;

static tfsdk_status *visit(store *s, const char *path, uint64_t at, int depth);

static tfsdk_status *visit_link(void *user, h5 *h, const char *name, uint64_t object) {
  const group *g = user;
  if (name[0] == 0) return H5_BAD(h, object, "an object has no name");
  const char *path = arena_format(&g->s->memory, "%s%s", g->path, name);
  if (path == NULL) return NO_MEMORY(h);
  return visit(g->s, path, object, g->depth + 1);
}

static tfsdk_status *add_dataset(store *s, const char *path, const h5_object *o,
                                 const h5_message *layout) {
  own *x = s->own;
  h5 *h = &x->h;
  const h5_message *type = h5_find(o, H5_TYPE), *space = h5_find(o, H5_SPACE);
  const h5_message *filters = h5_find(o, H5_FILTERS), *fill = h5_find(o, H5_FILL);
  h5_dataset *d = arena_get(&s->memory, sizeof *d);
  store_entry *e = store_add(s, path, strlen(path));
  if (d == NULL || e == NULL) return NO_MEMORY(s);
  if (type == NULL || space == NULL)
    return H5_BAD(h, o->at, "the dataset '%.100s' has no type or space", path);
  d->name = e->name;
  e->own = d;
  if (fill == NULL) fill = h5_find(o, H5_OLD_FILL);
  d->layout = *layout;
  d->has_filters = filters != NULL;
  if (d->has_filters) d->filters = *filters;
  d->has_fill = fill != NULL;
  if (d->has_fill) d->fill = *fill;
  h5_cursor c = space->body;
  TFSDK_TRY(h5_read_space(h, &c, &d->space));
  if ((type->flags & 2) != 0) {
    e->type = "of a type that is kept elsewhere in the file";
    return NULL;
  }
  c = type->body;
  TFSDK_TRY(h5_read_type(h, &c, &d->type, 0));
  for (uint32_t i = 0; i < d->space.rank; i++) {
    if (d->space.dim[i] > INT64_MAX) return H5_BAD(h, o->at, "'%.100s' is too large", path);
    TFSDK_TRY(store_extent(s, e, (int64_t)d->space.dim[i]));
  }
  e->type = d->space.null        ? "of no data"
            : d->type.dtype == 0 ? "of a type that tensors lack"
                                 : NULL;
  if (e->type != NULL) return NULL;
  e->dtype = d->type.dtype;
  int64_t n = tfsdk_shape_elements(&e->shape);
  if (n < 0 || __builtin_mul_overflow((uint64_t)n, d->type.size, &d->bytes))
    return H5_BAD(h, o->at, "'%.100s' has a shape that cannot be addressed", path);
  TFSDK_TRY(h5_check_dataset(h, d));
  bool as_in_memory = d->plain != H5_NOWHERE && x->image == NULL &&
                      (!d->type.big_endian || d->type.part == 1) && e->dtype != TFSDK_STRING &&
                      e->dtype != TFSDK_BOOL;
  if (as_in_memory) {
    e->file = s->path;
    e->at = d->plain;
    e->bytes = d->bytes;
  }
  return NULL;
}

static tfsdk_status *visit(store *s, const char *path, uint64_t at, int depth) {
  own *x = s->own;
  h5_object o;
  if (depth > MAX_DEPTH || ++x->objects > MAX_OBJECTS)
    return H5_BAD(&x->h, at, "the file's groups go round in circles, or are too many");
  TFSDK_TRY(h5_read_object(&x->h, at, &o));
  cJSON *all = cJSON_CreateObject();
  if (all == NULL) return NO_MEMORY(s);
  tfsdk_status *st = h5_each_attribute(&x->h, &o, add_attribute, all);
  const char *label = path[0] != 0 ? path : ".";
  bool shown = st == NULL && all->child != NULL && utf8_valid(label, strlen(label)) &&
               cJSON_AddItemToObject(x->attributes, label, all);
  if (!shown) cJSON_Delete(all);
  if (st != NULL) return st;
  const h5_message *layout = h5_find(&o, H5_LAYOUT);
  if (layout != NULL) return add_dataset(s, path, &o, layout);
  group g = {s, path[0] != 0 ? arena_format(&s->memory, "%s/", path) : "", depth};
  return g.path != NULL ? h5_each_link(&x->h, &o, visit_link, &g) : NO_MEMORY(s);
}

/* -------------------------------------------------------------------------------------- the store */

/* Members of JSON become attributes of their name: config.json, metadata.json. */
static tfsdk_status *unpack_text(store *s, const zip_member *m) {
  own *x = s->own;
  zip_stream z;
  if (m->bytes > MAX_CONFIG)
    return STORE_FAIL(s, DATA_LOSS, "the member '%.100s' has %llu bytes; at most %d are read",
                      m->name, (unsigned long long)m->bytes, MAX_CONFIG);
  char *text = arena_get(&s->memory, (size_t)m->bytes + 1);
  if (text == NULL) return NO_MEMORY(s);
  TFSDK_TRY(zip_open(&z, &x->h.f, m));
  tfsdk_status *st = zip_read(&z, text, m->bytes);
  zip_close(&z);
  if (st != NULL) return st;
  text[m->bytes] = 0;
  if (!utf8_valid(text, (size_t)m->bytes) || strlen(text) != m->bytes)
    return STORE_FAIL(s, DATA_LOSS, "the member '%.100s' is no UTF-8 text", m->name);
  return cJSON_AddStringToObject(x->attributes, m->name, text) != NULL ? NULL : NO_MEMORY(s);
}

/* The weights' file of a .keras archive, into memory. */
static tfsdk_status *unpack(store *s) {
  own *x = s->own;
  zip_member *list;
  size_t n;
  zip_stream z;
  TFSDK_TRY(zip_list(&x->h.f, &s->memory, &list, &n));
  for (size_t i = 0; i < n; i++) {
    const char *dot = strrchr(list[i].name, '.');
    if (dot != NULL && strcmp(dot, ".json") == 0) TFSDK_TRY(unpack_text(s, &list[i]));
  }
  for (size_t i = 0; i < n; i++) {
    if (strcmp(list[i].name, "model.weights.h5") != 0) continue;
    x->image = memory_get(s->host, (size_t)list[i].bytes);
    if (x->image == NULL) return NO_MEMORY(s);
    x->image_bytes = (size_t)list[i].bytes;
    x->h.image = x->image;
    x->h.bytes = list[i].bytes;
    TFSDK_TRY(zip_open(&z, &x->h.f, &list[i]));
    tfsdk_status *st = zip_read(&z, x->image, list[i].bytes);
    zip_close(&z);
    return st;
  }
  return STORE_FAIL(s, DATA_LOSS, "the archive has no member 'model.weights.h5'");
}

static tfsdk_status *hdf5_open(store *s) {
  own *x = s->own;
  char head[4] = {0};
  x->h.host = s->host;
  x->h.path = s->path;
  x->h.memory = &s->memory;
  TFSDK_TRY(file_open(&x->h.f, s->host, s->path));
  TFSDK_TRY(file_read(&x->h.f, 0, head, 4, "the signature"));
  x->attributes = cJSON_CreateObject();
  if (x->attributes == NULL) return NO_MEMORY(s);
  if (memcmp(head, "PK\3\4", 4) == 0) TFSDK_TRY(unpack(s));
  TFSDK_TRY(h5_open(&x->h));
  TFSDK_TRY(visit(s, "", x->h.root, 0));
  char *text = cJSON_PrintUnformatted(x->attributes);
  if (text != NULL) s->metadata = arena_text(&s->memory, text, strlen(text));
  cJSON_free(text);
  return s->metadata != NULL ? NULL : NO_MEMORY(s);
}

static void hdf5_close(store *s) {
  own *x = s->own;
  cJSON_Delete(x->attributes);
  memory_give(s->host, x->image, x->image_bytes);
  file_close(&x->h.f);
}

static tfsdk_status *hdf5_read(store *s, const store_entry *e, void *to, uint64_t bytes) {
  own *x = s->own;
  h5_dataset *d = (h5_dataset *)(uintptr_t)e->own;
  TFSDK_TRY(h5_read_dataset(&x->h, d, to));
  unsigned char *p = to;
  uint32_t part = d->type.part;
  for (uint64_t at = 0; d->type.big_endian && part > 1 && at < bytes; at += part)
    for (uint32_t a = 0, b = part - 1; a < b; a++, b--) {
      unsigned char c = p[at + a];
      p[at + a] = p[at + b];
      p[at + b] = c;
    }
  return NULL;
}

static tfsdk_status *hdf5_strings(store *s, const store_entry *e, uint64_t n, store_text *out) {
  own *x = s->own;
  h5_dataset *d = (h5_dataset *)(uintptr_t)e->own;
  unsigned char *raw = arena_get(&out->scratch, d->bytes + 1);
  const char **text = arena_get(&out->scratch, (n + 1) * sizeof *text);
  out->offset = arena_get(&out->scratch, (n + 1) * sizeof *out->offset);
  if (raw == NULL || text == NULL || out->offset == NULL) return NO_MEMORY(s);
  TFSDK_TRY(h5_read_dataset(&x->h, d, raw));
  for (uint64_t i = 0; i < n; i++) {
    size_t k;
    TFSDK_TRY(h5_text(&x->h, &d->type, raw + i * d->type.size, &out->scratch, &text[i], &k));
    out->offset[i + 1] = out->offset[i] + k;
  }
  char *bytes = arena_get(&out->scratch, out->offset[n] + 1);
  if (bytes == NULL) return NO_MEMORY(s);
  for (uint64_t i = 0; i < n; i++)
    memcpy(bytes + out->offset[i], text[i], out->offset[i + 1] - out->offset[i]);
  out->bytes = bytes;
  return NULL;
}

static const store_format format = {.own_bytes = sizeof(own),
                                    .open = hdf5_open,
                                    .read = hdf5_read,
                                    .strings = hdf5_strings,
                                    .close = hdf5_close};
STORE_OPEN(open_reader, format)

static const tfsdk_readerdef readers[] = {
    STORE_READER("hdf5", ".h5 .hdf5 .keras", open_reader,
                 "HDF5 files: a tensor for each dataset of numbers, booleans (as h5py writes "
                 "them), complex numbers or strings, named by its path. The metadata are the "
                 "attributes, by object. Of a .keras archive it reads model.weights.h5. Data in "
                 "other files, and filters other than deflate, shuffle and Fletcher's checksum, "
                 "are refused.")};
TFSDK_UNIT_FORMAT(hdf5, readers, TFSDK_COUNT(readers), NULL, 0);
