/* Writing TensorFlow's checkpoints of version 2: PREFIX.data-00000-of-00001 with the bytes, then PREFIX.index, which
 * makes it a checkpoint. The formats are told in tf_checkpoint.c and table.h. */
#include <stdlib.h>

#include "crc32c.h"
#include "output.h"
#include "store.h"

#define BLOCK   ((size_t)256 << 10) /* TensorFlow's */
#define RESTART 16                  /* every so many entries a key is written whole */

typedef struct entry {
  const char *name;
  int32_t dtype;
  uint32_t rank, crc;
  int64_t dim[TFSDK_MAX_RANK];
  uint64_t at, bytes;
} entry;

typedef struct writer {
  const tfsdk_host *host; /* first */
  arena memory;
  const char *prefix;
  output data;
  entry *list;
  size_t n, cap;
} writer;

/* --------------------------------------------------------------------------------- growing bytes */

typedef struct bytes {
  arena *memory;
  char *p;
  size_t n, cap;
  bool failed;
} bytes;

static void put(bytes *b, const void *from, size_t n) {
  if (b->cap - b->n < n && !b->failed) {
    size_t cap = 2 * b->cap + n + 1024;
    char *more = arena_get(b->memory, cap);
    b->failed = more == NULL;
    if (more != NULL && b->n > 0) memcpy(more, b->p, b->n);
    if (more != NULL) b->p = more;
    b->cap = cap;
  }
  if (b->failed || n == 0) return;
  memcpy(b->p + b->n, from, n);
  b->n += n;
}
static size_t varint(uint64_t v, char out[10]) {
  size_t n = 0;
  for (; v >= 128; v >>= 7) out[n++] = (char)(v | 128);
  out[n++] = (char)v;
  return n;
}
static void put_varint(bytes *b, uint64_t v) {
  char c[10];
  put(b, c, varint(v, c));
}
static void put_fixed(bytes *b, uint64_t v, size_t n) {
  char c[8];
  for (size_t i = 0; i < n; i++) c[i] = (char)(v >> 8 * i);
  put(b, c, n);
}
/* A number's field, left out when it is zero. */
static void put_number(bytes *b, uint32_t field, uint64_t v) {
  if (v == 0) return;
  put_varint(b, (uint64_t)field << 3);
  put_varint(b, v);
}

/* ------------------------------------------------------------------------------------------- data */

static tfsdk_status *open_writer(void *self, const tfsdk_host *host, const char *path,
                                 const tfsdk_attrs *options, void **out_writer) {
  const struct { const tfsdk_host *host; } c = {host};
  size_t n = strlen(path);
  (void)self;
  (void)options;
  writer *w = memory_get(host, sizeof *w);
  if (w == NULL) return NO_MEMORY(&c);
  w->host = w->memory.host = host;
  if (n > 6 && strcmp(path + n - 6, ".index") == 0) n -= 6;
  w->prefix = arena_text(&w->memory, path, n);
  char *data = arena_format(&w->memory, "%.*s.data-00000-of-00001", (int)n, path);
  tfsdk_status *s = w->prefix != NULL && data != NULL
                        ? output_open(&w->data, host, &w->memory, data, NULL)
                        : NO_MEMORY(w);
  if (s != NULL) {
    arena_release(&w->memory);
    memory_give(host, w, sizeof *w);
    return s;
  }
  *out_writer = w;
  return NULL;
}

/* Lengths as varints, their checksum, the bytes; see tf_strings in tf_checkpoint.c. */
static tfsdk_status *put_strings(writer *w, entry *e, const tfsdk_view *v) {
  const uint64_t *offset = v->data;
  const char *text = (const char *)(offset + v->n_elem + 1);
  uint64_t start = w->data.at;
  uint32_t crc = 0;
  for (int64_t i = 0; i < v->n_elem; i++) {
    uint64_t n = offset[i + 1] - offset[i];
    char c[10];
    TFSDK_TRY(output_write(&w->data, c, varint(n, c)));
    crc = crc32c(crc, &n, n <= UINT32_MAX ? 4 : 8); /* little-endian, as all machines here */
  }
  uint32_t masked = crc32c_mask(crc);
  TFSDK_TRY(output_write(&w->data, &masked, 4));
  crc = crc32c(crc, &masked, 4);
  e->crc = crc32c(crc, text, (size_t)offset[v->n_elem]);
  TFSDK_TRY(output_write(&w->data, text, offset[v->n_elem]));
  e->bytes = w->data.at - start;
  return NULL;
}

static tfsdk_status *append(void *self, const char *const *names, const tfsdk_view *values,
                            uint32_t n) {
  writer *w = self;
  for (uint32_t i = 0; i < n; i++)
    if (names[i][0] == 0) return TFSDK_FAIL(w, INVALID_ARGUMENT, "a tensor has no name");
  for (uint32_t i = 0; i < n; i++) {
    const tfsdk_view *v = &values[i];
    entry *list = arena_grow(&w->memory, w->list, w->n, &w->cap, sizeof *list);
    if (list == NULL) return NO_MEMORY(w);
    w->list = list;
    entry *e = &list[w->n];
    memset(e, 0, sizeof *e);
    e->name = arena_text(&w->memory, names[i], strlen(names[i]));
    if (e->name == NULL) return NO_MEMORY(w);
    e->dtype = v->dtype;
    e->rank = v->rank;
    for (uint32_t k = 0; k < v->rank; k++) e->dim[k] = v->dim[k];
    e->at = w->data.at;
    if (v->dtype == TFSDK_STRING) {
      TFSDK_TRY(put_strings(w, e, v));
    } else {
      e->bytes = v->byte_size;
      e->crc = crc32c(0, v->data, (size_t)v->byte_size);
      TFSDK_TRY(output_write(&w->data, v->data, v->byte_size));
    }
    w->n++;
  }
  return NULL;
}

static tfsdk_status *flush(void *self, int32_t durable) {
  return output_flush(&((writer *)self)->data, durable != 0);
}

/* ------------------------------------------------------------------------------------------ index */

typedef struct block {
  bytes body, restarts;
  const char *last; /* key */
  uint32_t count, n_restarts;
} block;

static void begin_block(block *b, arena *memory) {
  memset(b, 0, sizeof *b);
  b->body.memory = b->restarts.memory = memory;
  b->last = "";
}

static void add(block *b, const char *key, const bytes *value) {
  size_t shared = 0, n = strlen(key);
  if (b->count % RESTART == 0) {
    put_fixed(&b->restarts, b->body.n, 4);
    b->n_restarts++;
  } else {
    while (shared < n && b->last[shared] == key[shared]) shared++;
  }
  put_varint(&b->body, shared);
  put_varint(&b->body, n - shared);
  put_varint(&b->body, value->n);
  put(&b->body, key + shared, n - shared);
  put(&b->body, value->p, value->n);
  b->last = key;
  b->count++;
  b->body.failed |= value->failed;
}

/* Writes the block; `handle` gets its place. */
static tfsdk_status *end_block(output *o, block *b, bytes *handle) {
  if (b->n_restarts == 0) {
    put_fixed(&b->restarts, 0, 4);
    b->n_restarts = 1;
  }
  put(&b->body, b->restarts.p, b->restarts.n);
  put_fixed(&b->body, b->n_restarts, 4);
  put_varint(handle, o->at);
  put_varint(handle, b->body.n);
  put(&b->body, "", 1); /* not compressed */
  if (b->body.failed || b->restarts.failed || handle->failed) return NO_MEMORY(o);
  put_fixed(&b->body, crc32c_mask(crc32c(0, b->body.p, b->body.n)), 4);
  return b->body.failed ? NO_MEMORY(o) : output_write(o, b->body.p, b->body.n);
}

/* BundleEntryProto{dtype 1, shape 2, shard_id 3, offset 4, size 5, crc32c 6 (fixed32)} */
static void put_entry(bytes *b, const entry *e) {
  bytes shape = {b->memory, NULL, 0, 0, false};
  for (uint32_t i = 0; i < e->rank; i++) { /* dim 2{size 1} */
    char c[10];
    size_t n = varint((uint64_t)e->dim[i], c);
    put_varint(&shape, 2 << 3 | 2);
    put_varint(&shape, e->dim[i] == 0 ? 0 : n + 1);
    put_number(&shape, 1, (uint64_t)e->dim[i]);
  }
  put_number(b, 1, (uint64_t)e->dtype);
  put_varint(b, 2 << 3 | 2);
  put_varint(b, shape.n);
  put(b, shape.p, shape.n);
  put_number(b, 4, e->at);
  put_number(b, 5, e->bytes);
  put_varint(b, 6 << 3 | 5);
  put_fixed(b, crc32c_mask(e->crc), 4);
  b->failed |= shape.failed;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

static tfsdk_status *put_index(writer *w, output *o) {
  arena *a = &w->memory;
  block b, index, meta;
  bytes handle = {a, NULL, 0, 0, false}, footer = {a, NULL, 0, 0, false};
  begin_block(&b, a);
  begin_block(&index, a);
  begin_block(&meta, a);
  if (w->n > 0) qsort(w->list, w->n, sizeof *w->list, by_name);
  for (size_t i = 0; i <= w->n; i++) {
    bytes value = {a, NULL, 0, 0, false};
    if (i > 1 && strcmp(w->list[i - 1].name, w->list[i - 2].name) == 0)
      return TFSDK_FAIL(w, ALREADY_EXISTS, "%s: two tensors are called '%s'", w->prefix,
                        w->list[i - 1].name);
    if (i == 0) /* BundleHeaderProto{num_shards 1, version 3{producer 1}} under the empty key */
      put(&value, "\x08\x01\x1a\x02\x08\x01", 6);
    else
      put_entry(&value, &w->list[i - 1]);
    add(&b, i == 0 ? "" : w->list[i - 1].name, &value);
    if (b.body.n < BLOCK && i < w->n) continue;
    handle.n = 0;
    const char *last = b.last;
    TFSDK_TRY(end_block(o, &b, &handle));
    add(&index, last, &handle);
    begin_block(&b, a);
  }
  TFSDK_TRY(end_block(o, &meta, &footer));
  TFSDK_TRY(end_block(o, &index, &footer));
  while (footer.n < 40) put(&footer, "", 1);
  put_fixed(&footer, 0xdb4775248b80fb57u, 8);
  return footer.failed ? NO_MEMORY(w) : output_write(o, footer.p, footer.n);
}

static tfsdk_status *finish(void *self) {
  writer *w = self;
  output index;
  char *path = arena_format(&w->memory, "%s.index", w->prefix);
  if (path == NULL) return NO_MEMORY(w);
  TFSDK_TRY(output_open(&index, w->host, &w->memory, path, NULL));
  tfsdk_status *s = put_index(w, &index);
  if (s == NULL) s = output_seal(&index);
  if (s == NULL) s = output_commit(&w->data);
  if (s == NULL) s = output_commit(&index);
  output_close(&index);
  return s;
}

static void close_writer(void *self) {
  writer *w = self;
  const tfsdk_host *host = w->host;
  output_close(&w->data);
  arena_release(&w->memory);
  memory_give(host, w, sizeof *w);
}

static const tfsdk_writerdef writers[] = {
    {.struct_size = sizeof(tfsdk_writerdef),
     .attr_size = sizeof(tfsdk_attrdef),
     .name = "tf_checkpoint",
     .extensions = ".index",
     .doc = "TensorFlow's checkpoints of version 2: PREFIX, or PREFIX.index",
     .open = open_writer,
     .append = append,
     .flush = flush,
     .finish = finish,
     .close = close_writer}};
TFSDK_UNIT_FORMAT(tf_checkpoint_put, NULL, 0, writers, TFSDK_COUNT(writers));
