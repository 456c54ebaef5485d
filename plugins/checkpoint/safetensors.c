/* safetensors as reader and writer. */
#include "safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "store.h"

#define MAX_HEADER ((uint64_t)100000000) /* as in the reference implementation */

static const struct {
  const char *code;
  int32_t dtype;
  uint32_t width; /* bytes of an element in the file */
} codes[] = {
    {"F32", TFSDK_FLOAT32, 4},    {"F64", TFSDK_FLOAT64, 8},   {"F16", TFSDK_FLOAT16, 2},
    {"BF16", TFSDK_BFLOAT16, 2},  {"I8", TFSDK_INT8, 1},       {"I16", TFSDK_INT16, 2},
    {"I32", TFSDK_INT32, 4},      {"I64", TFSDK_INT64, 8},     {"U8", TFSDK_UINT8, 1},
    {"U16", TFSDK_UINT16, 2},     {"U32", TFSDK_UINT32, 4},    {"U64", TFSDK_UINT64, 8},
    {"BOOL", TFSDK_BOOL, 1},      {"C64", TFSDK_COMPLEX64, 8}, {"F8_E4M3", TFSDK_FLOAT32, 1},
    {"F8_E5M2", TFSDK_FLOAT32, 1}};

static int code_of(const char *text) {
  for (int i = 0; i < (int)TFSDK_COUNT(codes); i++)
    if (strcmp(codes[i].code, text) == 0) return i;
  return -1;
}

typedef struct own {
  file f;
  uint64_t data; /* where it begins */
  bool has_metadata;
} own;

static tfsdk_status *malformed(store *s, const json *j) {
  return STORE_FAIL(s, DATA_LOSS, "the header is malformed at byte %lld: %s is expected",
                    (long long)(8 + (j->p - j->begin)), j->wrong != NULL ? j->wrong : "JSON");
}

/* {"k":"v",...}: kept as the text that it is. */
static tfsdk_status *read_metadata(store *s, json *j) {
  const char *key, *value;
  (void)json_accept(j, ' ');
  const char *begin = j->p;
  if (!json_expect(j, '{', "an object of strings as __metadata__")) return malformed(s, j);
  if (!json_accept(j, '}')) {
    do
      if (!json_string(j, &s->memory, &key) || !json_expect(j, ':', "':'") ||
          !json_string(j, &s->memory, &value))
        return malformed(s, j);
    while (json_accept(j, ','));
    if (!json_expect(j, '}', "',' or '}'")) return malformed(s, j);
  }
  s->metadata = arena_text(&s->memory, begin, (size_t)(j->p - begin));
  return s->metadata != NULL ? NULL : NO_MEMORY(s);
}

static tfsdk_status *read_shape(store *s, json *j, store_entry *e) {
  uint64_t extent;
  e->shape.rank = 0;
  if (!json_expect(j, '[', "a list of extents")) return malformed(s, j);
  if (json_accept(j, ']')) return NULL;
  do {
    if (!json_whole(j, &extent)) return malformed(s, j);
    if (extent > INT64_MAX)
      return STORE_FAIL(s, DATA_LOSS, "the tensor '%s' has an extent of more than 63 bits",
                        e->name);
    TFSDK_TRY(store_extent(s, e, (int64_t)extent));
  } while (json_accept(j, ','));
  return json_expect(j, ']', "',' or ']'") ? NULL : malformed(s, j);
}

/* What one entry says must fit together; whether entries fit each other comes later. */
static tfsdk_status *check_entry(store *s, store_entry *e, const char *type, uint64_t from,
                                 uint64_t to) {
  const own *x = s->own;
  uint64_t room = x->f.bytes - x->data;
  int code = code_of(type);
  uint64_t n = 1, bytes;
  if (code < 0)
    return STORE_FAIL(s, UNIMPLEMENTED, "the tensor '%s' is of the unknown type '%s'", e->name,
                      type);
  if (to < from || to > room)
    return STORE_FAIL(
        s, DATA_LOSS, "the tensor '%s' lies at bytes %llu to %llu of the data, which has %llu",
        e->name, (unsigned long long)from, (unsigned long long)to, (unsigned long long)room);
  bool fits = true;
  for (int32_t i = 0; i < e->shape.rank; i++)
    fits = !__builtin_mul_overflow(n, (uint64_t)e->shape.dim[i], &n) && fits;
  for (int32_t i = 0; i < e->shape.rank; i++)
    if (e->shape.dim[i] == 0) n = 0;
  fits = (fits || n == 0) && !__builtin_mul_overflow(n, codes[code].width, &bytes);
  if (!fits || bytes != to - from)
    return STORE_FAIL(s, DATA_LOSS, "the tensor '%s', %s %s, does not fill its bytes %llu to %llu",
                      e->name, type, tfsdk_shape_text(&e->shape).s, (unsigned long long)from,
                      (unsigned long long)to);
  e->dtype = codes[code].dtype;
  e->own = &codes[code];
  e->at = x->data + from;
  e->bytes = to - from;
  if (codes[code].width == tfsdk_dtype_size(e->dtype)) e->file = s->path;
  return NULL;
}

static tfsdk_status *read_entry(store *s, json *j, store_entry *e) {
  const char *key, *type = NULL;
  uint64_t from = 0, to = 0;
  bool shape = false, offsets = false;
  if (!json_expect(j, '{', "an object for each tensor")) return malformed(s, j);
  do {
    if (!json_string(j, &s->memory, &key) || !json_expect(j, ':', "':'")) return malformed(s, j);
    if (strcmp(key, "dtype") == 0 && type == NULL) {
      if (!json_string(j, &s->memory, &type)) return malformed(s, j);
    } else if (strcmp(key, "shape") == 0 && !shape) {
      TFSDK_TRY(read_shape(s, j, e));
      shape = true;
    } else if (strcmp(key, "data_offsets") == 0 && !offsets) {
      if (!json_expect(j, '[', "two offsets") || !json_whole(j, &from) ||
          !json_expect(j, ',', "two offsets") || !json_whole(j, &to) ||
          !json_expect(j, ']', "two offsets"))
        return malformed(s, j);
      offsets = true;
    } else {
      j->wrong = "dtype, shape and data_offsets, once each,";
      return malformed(s, j);
    }
  } while (json_accept(j, ','));
  if (!json_expect(j, '}', "',' or '}'")) return malformed(s, j);
  if (type == NULL || !shape || !offsets)
    return STORE_FAIL(s, DATA_LOSS, "the tensor '%s' has no %s", e->name,
                      type == NULL ? "dtype"
                      : !shape     ? "shape"
                                   : "data_offsets");
  return check_entry(s, e, type, from, to);
}

static int by_place(const void *a, const void *b) {
  const store_entry *x = *(const store_entry *const *)a, *y = *(const store_entry *const *)b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* The tensors must fill the data exactly. */
static tfsdk_status *check_tiling(store *s) {
  const own *x = s->own;
  uint64_t at = x->data;
  const store_entry **list = arena_get(&s->memory, (s->n + 1) * sizeof *list);
  if (list == NULL) return NO_MEMORY(s);
  for (size_t i = 0; i < s->n; i++) list[i] = &s->entry[i];
  if (s->n > 0) qsort(list, s->n, sizeof *list, by_place);
  for (size_t i = 0; i < s->n; i++) {
    if (list[i]->at < at)
      return STORE_FAIL(s, DATA_LOSS, "the tensor '%s', at byte %llu, overlaps the one before it",
                        list[i]->name, (unsigned long long)list[i]->at);
    if (list[i]->at > at)
      return STORE_FAIL(s, DATA_LOSS,
                        "bytes %llu to %llu, before the tensor '%s', belong to no tensor",
                        (unsigned long long)at, (unsigned long long)list[i]->at, list[i]->name);
    at += list[i]->bytes;
  }
  if (at != x->f.bytes)
    return STORE_FAIL(s, DATA_LOSS, "%llu bytes follow the last tensor, from byte %llu on",
                      (unsigned long long)(x->f.bytes - at), (unsigned long long)at);
  return NULL;
}

static tfsdk_status *read_header(store *s, json *j) {
  own *x = s->own;
  const char *name;
  if (!json_expect(j, '{', "an object")) return malformed(s, j);
  if (!json_accept(j, '}')) {
    do {
      if (!json_string(j, &s->memory, &name) || !json_expect(j, ':', "':'")) return malformed(s, j);
      if (strcmp(name, "__metadata__") == 0) {
        if (x->has_metadata) return STORE_FAIL(s, DATA_LOSS, "__metadata__ is there twice");
        x->has_metadata = true;
        TFSDK_TRY(read_metadata(s, j));
        continue;
      }
      store_entry *e = store_add(s, name, strlen(name));
      if (e == NULL) return NO_MEMORY(s);
      TFSDK_TRY(read_entry(s, j, e));
    } while (json_accept(j, ','));
    if (!json_expect(j, '}', "',' or '}'")) return malformed(s, j);
  }
  if (!json_end(j)) return malformed(s, j);
  return check_tiling(s);
}

static tfsdk_status *safetensors_open(store *s) {
  own *x = s->own;
  unsigned char length[8];
  uint64_t n = 0;
  TFSDK_TRY(file_open(&x->f, s->host, s->path));
  TFSDK_TRY(file_read(&x->f, 0, length, 8, "the header's length"));
  for (int i = 7; i >= 0; i--) n = n << 8 | length[i];
  TFSDK_TRY(file_expect(&x->f, 8, n, "the header"));
  if (n > MAX_HEADER)
    return STORE_FAIL(s, DATA_LOSS, "the header claims %llu bytes; %llu are the limit",
                      (unsigned long long)n, (unsigned long long)MAX_HEADER);
  char *header = arena_get(&s->memory, n + 1);
  if (header == NULL) return NO_MEMORY(s);
  TFSDK_TRY(file_read(&x->f, 8, header, n, "the header"));
  x->data = 8 + n;
  json j = {header, header, header + n, NULL};
  return read_header(s, &j);
}

/* Open Compute Project, "8-bit Floating Point Specification", 2023: E5M2 is the upper byte of
 * binary16; E4M3 has bias 7, no infinity, and NaN where all bits are set. */
static float from_float8(unsigned char b, bool e5m2) {
  if (e5m2) return tfsdk_from_half((uint16_t)(b << 8));
  uint32_t exponent = b >> 3 & 15, mantissa = b & 7;
  float x = exponent == 15 && mantissa == 7 ? __builtin_nanf("")
            : exponent == 0                 ? (float)mantissa / 512.0f
                                            : (float)(8 + mantissa) / 1024.0f;
  for (uint32_t i = 0; exponent != 0 && i < exponent; i++) x *= 2;
  return b & 128 ? -x : x;
}

static tfsdk_status *safetensors_read(store *s, const store_entry *e, void *to, uint64_t bytes) {
  own *x = s->own;
  if (e->file != NULL) return store_fetch(&x->f, e->at, to, bytes, e->name);
  unsigned char chunk[4096];
  float *out = to;
  bool e5m2 =
      strcmp(codes[((const char *)e->own - (const char *)codes) / (ptrdiff_t)sizeof *codes].code,
             "F8_E5M2") == 0;
  for (uint64_t at = 0; at < e->bytes;) {
    uint64_t n = e->bytes - at < sizeof chunk ? e->bytes - at : sizeof chunk;
    TFSDK_TRY(store_fetch(&x->f, e->at + at, chunk, n, e->name));
    for (uint64_t i = 0; i < n; i++) out[at + i] = from_float8(chunk[i], e5m2);
    at += n;
  }
  return NULL;
}

static void safetensors_close(store *s) { file_close(&((own *)s->own)->f); }

static const store_format format = {.own_bytes = sizeof(own),
                                    .open = safetensors_open,
                                    .read = safetensors_read,
                                    .close = safetensors_close};
STORE_OPEN(open_reader, format)

static const tfsdk_readerdef readers[] = {
    STORE_READER("safetensors", ".safetensors", open_reader,
                 "Named tensors in safetensors, as PyTorch and others write them. 8-bit floats "
                 "become float32. The metadata are the header's __metadata__.")};

/* ------------------------------------------------------------------------------------- writing */

typedef struct writer {
  const tfsdk_host *host; /* first */
  arena memory;
  output out;
  const char *path, *metadata;
  bool written;
} writer;

static void writer_close(void *w_) {
  writer *w = w_;
  const tfsdk_host *host = w->host;
  output_close(&w->out);
  arena_release(&w->memory);
  memory_give(host, w, sizeof *w);
}

/* The option's text must be an object of strings: it goes into the header as it is. */
static tfsdk_status *check_metadata(writer *w) {
  json j = {w->metadata, w->metadata, w->metadata + strlen(w->metadata), NULL};
  const char *text;
  bool ok = json_expect(&j, '{', "an object of strings");
  if (ok && !json_accept(&j, '}')) {
    do
      ok = json_string(&j, &w->memory, &text) && json_expect(&j, ':', "':'") &&
           json_string(&j, &w->memory, &text);
    while (ok && json_accept(&j, ','));
    ok = ok && json_expect(&j, '}', "',' or '}'");
  }
  if (ok && json_end(&j)) return NULL;
  return TFSDK_FAIL(w, INVALID_ARGUMENT,
                    "the metadata must be a JSON object of strings: at byte %lld %s is expected",
                    (long long)(j.p - j.begin), j.wrong);
}

static tfsdk_status *writer_open(void *self, const tfsdk_host *host, const char *path,
                                 const tfsdk_attrs *options, void **out_writer) {
  const struct { const tfsdk_host *host; } c = {host};
  (void)self;
  writer *w = memory_get(host, sizeof *w);
  if (w == NULL) return NO_MEMORY(&c);
  w->host = w->memory.host = host;
  const char *metadata = tfsdk_attr_string(options, "metadata");
  tfsdk_status *s = NULL;
  if (metadata[0] != 0) {
    w->metadata = arena_text(&w->memory, metadata, strlen(metadata));
    s = w->metadata != NULL ? check_metadata(w) : NO_MEMORY(w);
  }
  if (s == NULL) s = output_open(&w->out, host, &w->memory, path, NULL);
  if (s != NULL) {
    writer_close(w);
    return s;
  }
  w->path = w->out.path;
  *out_writer = w;
  return NULL;
}

static tfsdk_status *writer_append(void *w_, const char *const *names, const tfsdk_view *values,
                                   uint32_t n) {
  writer *w = w_;
  if (w->written)
    return TFSDK_FAIL(w, FAILED_PRECONDITION,
                      "%s: a safetensors file is one record: hand over all tensors at once",
                      w->path);
  piece *list = arena_get(&w->memory, (n + 1) * sizeof *list);
  if (list == NULL) return NO_MEMORY(w);
  for (uint32_t i = 0; i < n; i++) {
    const tfsdk_view *v = &values[i];
    piece *p = &list[i];
    p->name = names[i];
    p->code = safetensors_code(v->dtype);
    if (p->code == NULL)
      return TFSDK_FAIL(w, UNIMPLEMENTED, "%s: the tensor '%s' is %s, which safetensors lacks",
                        w->path, names[i], tfsdk_dtype_name(v->dtype));
    if (!utf8_valid(names[i], strlen(names[i])) || strcmp(names[i], "__metadata__") == 0)
      return TFSDK_FAIL(w, INVALID_ARGUMENT, "%s: a tensor cannot have the name '%s'", w->path,
                        names[i]);
    p->width = (uint32_t)tfsdk_dtype_size(v->dtype);
    p->dim = v->dim;
    p->rank = v->rank;
    p->data = v->data;
    p->bytes = (uint64_t)v->n_elem * p->width;
  }
  w->written = true;
  TFSDK_TRY(safetensors_put(&w->out, &w->memory, list, n, w->metadata, false));
  for (uint32_t i = 1; i < n; i++) /* by now in the order of names */
    if (strcmp(list[i].name, list[i - 1].name) == 0)
      return TFSDK_FAIL(w, INVALID_ARGUMENT, "%s: two tensors are called '%s'", w->path,
                        list[i].name);
  return NULL;
}

static tfsdk_status *writer_flush(void *w_, int32_t durable) {
  return output_flush(&((writer *)w_)->out, durable != 0);
}

static tfsdk_status *writer_finish(void *w_) {
  writer *w = w_;
  if (!w->written) TFSDK_TRY(writer_append(w, NULL, NULL, 0));
  return output_commit(&w->out);
}

static const tfsdk_attrdef writer_options[] = {
    {"metadata", "string", "", "a JSON object of strings, for __metadata__", 0, 0}};

static const tfsdk_writerdef writers[] = {{
    .struct_size = sizeof(tfsdk_writerdef),
    .n_option = TFSDK_COUNT(writer_options),
    .attr_size = sizeof(tfsdk_attrdef),
    .name = "safetensors",
    .extensions = ".safetensors",
    .doc = "Named tensors in safetensors: one record, which is the whole file. Elements are "
           "aligned to their size; the file appears when it is finished.",
    .option = writer_options,
    .open = writer_open,
    .append = writer_append,
    .flush = writer_flush,
    .finish = writer_finish,
    .close = writer_close,
}};
TFSDK_UNIT_FORMAT(safetensors, readers, TFSDK_COUNT(readers), writers, TFSDK_COUNT(writers));
