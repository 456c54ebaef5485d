/* Writing NumPy's npz: a zip archive of arrays, stored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "json.h"
#include "output.h"
#include "store.h"

#define LARGE   0xffffffffu
#define ALIGN   64u     /* elements begin at a multiple of it: the file can be mapped */
#define PADDING 0xd935u /* the extra field of Android's zipalign, which readers pass over */

typedef struct member {
  const char *name; /* with ".npy" */
  uint64_t at, bytes;
  uint32_t crc;
} member;

typedef struct writer {
  const tfsdk_host *host; /* first */
  arena memory;
  output out;
  member *list;
  size_t n, cap;
} writer;

static void writer_close(void *w_) {
  writer *w = w_;
  const tfsdk_host *host = w->host;
  output_close(&w->out);
  arena_release(&w->memory);
  memory_give(host, w, sizeof *w);
}

static tfsdk_status *writer_open(void *self, const tfsdk_host *host, const char *path,
                                 const tfsdk_attrs *options, void **out_writer) {
  const struct { const tfsdk_host *host; } c = {host};
  (void)self;
  (void)options;
  writer *w = memory_get(host, sizeof *w);
  if (w == NULL) return NO_MEMORY(&c);
  w->host = w->memory.host = host;
  tfsdk_status *s = output_open(&w->out, host, &w->memory, path, NULL);
  if (s != NULL) {
    writer_close(w);
    return s;
  }
  *out_writer = w;
  return NULL;
}

static const char *code_of(int32_t dtype) {
  switch (dtype) {
  case TFSDK_BOOL: return "|b1";
  case TFSDK_INT8: return "|i1";
  case TFSDK_UINT8: return "|u1";
  case TFSDK_INT16: return "<i2";
  case TFSDK_INT32: return "<i4";
  case TFSDK_INT64: return "<i8";
  case TFSDK_UINT16: return "<u2";
  case TFSDK_UINT32: return "<u4";
  case TFSDK_UINT64: return "<u8";
  case TFSDK_FLOAT16: return "<f2";
  case TFSDK_FLOAT32: return "<f4";
  case TFSDK_FLOAT64: return "<f8";
  case TFSDK_COMPLEX64: return "<c8";
  case TFSDK_COMPLEX128: return "<c16";
  default: return NULL;
  }
}

typedef struct bytes {
  unsigned char b[512];
  size_t n;
} bytes;

static void add(bytes *to, uint64_t x, int width) {
  for (int i = 0; i < width; i++) to->b[to->n++] = (unsigned char)(x >> 8 * i);
}

/* The array's own header, without the padding that its length needs. */
static size_t array_header(const tfsdk_view *v, const char *code, char *out, size_t cap) {
  size_t n = (size_t)snprintf(out, cap, "{'descr': '%s', 'fortran_order': False, 'shape': (", code);
  for (uint32_t i = 0; i < v->rank; i++)
    n += (size_t)snprintf(out + n, cap - n, "%lld%s", (long long)v->dim[i],
                          i + 1 < v->rank ? ", "
                          : v->rank == 1  ? ","
                                          : "");
  n += (size_t)snprintf(out + n, cap - n, "), }");
  while ((10 + n + 1) % ALIGN != 0) out[n++] = ' ';
  out[n++] = '\n';
  return n;
}

/* What a member's own header and the directory's entry share: version, flags, method, time, sizes.
 * The time is the format's first day, so that equal contents are equal bytes. */
static void add_common(bytes *to, const member *m, bool large) {
  add(to, large ? 45 : 20, 2);
  add(to, 0x800, 2); /* names are UTF-8 */
  add(to, 0, 2);     /* stored */
  add(to, 33u << 16, 4);
  add(to, m->crc, 4);
  add(to, large ? LARGE : m->bytes, 4);
  add(to, large ? LARGE : m->bytes, 4);
  add(to, strlen(m->name), 2);
}

static uint32_t checksum(uint32_t crc, const void *data, uint64_t n) {
  for (uint64_t done = 0; done < n;) {
    uInt part = n - done < (1u << 30) ? (uInt)(n - done) : 1u << 30;
    crc = (uint32_t)crc32(crc, (const Bytef *)data + done, part);
    done += part;
  }
  return crc;
}

static tfsdk_status *put_array(writer *w, const char *name, const tfsdk_view *v) {
  const char *code = code_of(v->dtype);
  char header[512];
  bytes head = {.n = 0}, preamble = {.n = 0};
  if (code == NULL)
    return TFSDK_FAIL(w, UNIMPLEMENTED, "%s: '%s' is %s, which npz lacks", w->out.path, name,
                      tfsdk_dtype_name(v->dtype));
  member *more = arena_grow(&w->memory, w->list, w->n, &w->cap, sizeof *more);
  if (more == NULL) return NO_MEMORY(w);
  w->list = more;
  member *m = &w->list[w->n];
  uint64_t data = (uint64_t)v->n_elem * tfsdk_dtype_size(v->dtype);
  size_t n = array_header(v, code, header, sizeof header);
  m->name = arena_format(&w->memory, "%s.npy", name);
  if (m->name == NULL) return NO_MEMORY(w);
  w->n++;
  memcpy(preamble.b, "\x93NUMPY\1\0", 8);
  preamble.n = 8;
  add(&preamble, n, 2);
  m->at = w->out.at;
  m->bytes = 10 + n + data;
  m->crc = checksum(0, preamble.b, 10);
  m->crc = checksum(m->crc, header, n);
  m->crc = checksum(m->crc, v->data, data);
  bool large = m->bytes >= LARGE;
  memcpy(head.b, "PK\3\4", 4);
  head.n = 4;
  add_common(&head, m, large);
  size_t extra = large ? 24 : 4; /* without the padding */
  size_t pad = (ALIGN - (m->at + 30 + strlen(m->name) + extra) % ALIGN) % ALIGN;
  add(&head, extra + pad, 2);
  TFSDK_TRY(output_write(&w->out, head.b, head.n));
  TFSDK_TRY(output_write(&w->out, m->name, strlen(m->name)));
  head.n = 0;
  if (large) {
    add(&head, 1, 2);
    add(&head, 16, 2);
    add(&head, m->bytes, 8);
    add(&head, m->bytes, 8);
  }
  add(&head, PADDING, 2);
  add(&head, pad, 2);
  for (size_t i = 0; i < pad; i++) add(&head, 0, 1);
  TFSDK_TRY(output_write(&w->out, head.b, head.n));
  TFSDK_TRY(output_write(&w->out, preamble.b, preamble.n));
  TFSDK_TRY(output_write(&w->out, header, n));
  return output_write(&w->out, v->data, data);
}

static tfsdk_status *writer_append(void *w_, const char *const *names, const tfsdk_view *values,
                                   uint32_t n) {
  writer *w = w_;
  for (uint32_t i = 0; i < n; i++)
    if (!utf8_valid(names[i], strlen(names[i])) || strlen(names[i]) > 60000)
      return TFSDK_FAIL(w, INVALID_ARGUMENT, "%s: an array cannot have the name '%.100s'",
                        w->out.path, names[i]);
  for (uint32_t i = 0; i < n; i++) TFSDK_TRY(put_array(w, names[i], &values[i]));
  return NULL;
}

static tfsdk_status *writer_flush(void *w_, int32_t durable) {
  return output_flush(&((writer *)w_)->out, durable != 0);
}

static tfsdk_status *put_entry(writer *w, const member *m) {
  bool large = m->bytes >= LARGE, far = m->at >= LARGE;
  bytes head = {.n = 4};
  memcpy(head.b, "PK\1\2", 4);
  add(&head, 45, 2); /* made by */
  add_common(&head, m, large);
  add(&head, large || far ? 4u + (large ? 16u : 0) + (far ? 8u : 0) : 0, 2);
  add(&head, 0, 2 + 2 + 2);
  add(&head, 0, 4);
  add(&head, far ? LARGE : m->at, 4);
  TFSDK_TRY(output_write(&w->out, head.b, head.n));
  TFSDK_TRY(output_write(&w->out, m->name, strlen(m->name)));
  head.n = 0;
  if (large || far) {
    add(&head, 1, 2);
    add(&head, (large ? 16u : 0) + (far ? 8u : 0), 2);
    if (large) add(&head, m->bytes, 8);
    if (large) add(&head, m->bytes, 8);
    if (far) add(&head, m->at, 8);
  }
  return output_write(&w->out, head.b, head.n);
}

static int by_name(const void *a, const void *b) {
  return strcmp((*(const member *const *)a)->name, (*(const member *const *)b)->name);
}

static tfsdk_status *check_names(writer *w) {
  const member **order = arena_get(&w->memory, (w->n + 1) * sizeof *order);
  if (order == NULL) return NO_MEMORY(w);
  for (size_t i = 0; i < w->n; i++) order[i] = &w->list[i];
  if (w->n > 0) qsort(order, w->n, sizeof *order, by_name);
  for (size_t i = 1; i < w->n; i++)
    if (strcmp(order[i]->name, order[i - 1]->name) == 0)
      return TFSDK_FAIL(w, INVALID_ARGUMENT, "%s: two arrays are called '%.*s'", w->out.path,
                        (int)strlen(order[i]->name) - 4, order[i]->name);
  return NULL;
}

static tfsdk_status *writer_finish(void *w_) {
  writer *w = w_;
  uint64_t at = w->out.at;
  bytes end = {.n = 0};
  TFSDK_TRY(check_names(w));
  for (size_t i = 0; i < w->n; i++) TFSDK_TRY(put_entry(w, &w->list[i]));
  uint64_t size = w->out.at - at;
  bool large = w->n >= 0xffff || at >= LARGE || size >= LARGE;
  if (large) {
    uint64_t here = w->out.at;
    memcpy(end.b, "PK\6\6", 4);
    end.n = 4;
    add(&end, 44, 8);
    add(&end, 45, 2);
    add(&end, 45, 2);
    add(&end, 0, 8);
    add(&end, w->n, 8);
    add(&end, w->n, 8);
    add(&end, size, 8);
    add(&end, at, 8);
    memcpy(end.b + end.n, "PK\6\7", 4);
    end.n += 4;
    add(&end, 0, 4);
    add(&end, here, 8);
    add(&end, 1, 4);
  }
  memcpy(end.b + end.n, "PK\5\6", 4);
  end.n += 4;
  add(&end, 0, 4);
  add(&end, large ? 0xffff : w->n, 2);
  add(&end, large ? 0xffff : w->n, 2);
  add(&end, large ? LARGE : size, 4);
  add(&end, large ? LARGE : at, 4);
  add(&end, 0, 2);
  TFSDK_TRY(output_write(&w->out, end.b, end.n));
  return output_commit(&w->out);
}

static const tfsdk_writerdef writers[] = {{
    .struct_size = sizeof(tfsdk_writerdef),
    .attr_size = sizeof(tfsdk_attrdef),
    .name = "npz",
    .extensions = ".npz",
    .doc = "NumPy's archives of arrays, stored, also above 4 GB. Further records add further "
           "arrays; the file appears when it is finished.",
    .open = writer_open,
    .append = writer_append,
    .flush = writer_flush,
    .finish = writer_finish,
    .close = writer_close,
}};
TFSDK_UNIT_FORMAT(npz_put, NULL, 0, writers, TFSDK_COUNT(writers));
