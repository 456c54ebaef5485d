/* Writing safetensors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crc32c.h"
#include "safetensors.h"

const char *safetensors_code(int32_t dtype) {
  switch (dtype) {
  case TFSDK_FLOAT32: return "F32";
  case TFSDK_FLOAT64: return "F64";
  case TFSDK_FLOAT16: return "F16";
  case TFSDK_BFLOAT16: return "BF16";
  case TFSDK_INT8: return "I8";
  case TFSDK_INT16: return "I16";
  case TFSDK_INT32: return "I32";
  case TFSDK_INT64: return "I64";
  case TFSDK_UINT8: return "U8";
  case TFSDK_UINT16: return "U16";
  case TFSDK_UINT32: return "U32";
  case TFSDK_UINT64: return "U64";
  case TFSDK_BOOL: return "BOOL";
  case TFSDK_COMPLEX64: return "C64";
  default: return NULL;
  }
}

char *json_quote(arena *memory, const char *text) {
  size_t n = strlen(text);
  char *out = arena_get(memory, 6 * n + 3), *to = out;
  if (out == NULL) return NULL;
  *to++ = '"';
  for (; *text != 0; text++) {
    unsigned char c = (unsigned char)*text;
    if (c < 0x20) {
      to += snprintf(to, 7, "\\u%04x", c);
      continue;
    }
    if (c == '"' || c == '\\') *to++ = '\\';
    *to++ = (char)c;
  }
  *to++ = '"';
  *to = 0;
  return out;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const piece *)a)->name, ((const piece *)b)->name);
}

static int by_place(const void *a, const void *b) {
  const piece *x = *(const piece *const *)a, *y = *(const piece *const *)b;
  if (x->width != y->width) return x->width > y->width ? -1 : 1;
  return strcmp(x->name, y->name);
}

/* Text that grows in the arena. */
typedef struct text {
  arena *memory;
  char *s;
  size_t n, cap;
  bool failed;
} text;

static void add(text *t, const char *s) {
  size_t n = strlen(s);
  if (t->n + n + 1 > t->cap) {
    size_t want = 2 * (t->n + n + 1) + 4096;
    char *more = arena_get(t->memory, want);
    if (more == NULL) {
      t->failed = true;
      return;
    }
    if (t->n > 0) memcpy(more, t->s, t->n);
    t->s = more;
    t->cap = want;
  }
  memcpy(t->s + t->n, s, n + 1);
  t->n += n;
}

static void add_piece(text *t, const piece *p, uint64_t from, bool first) {
  char number[64];
  char *name = json_quote(t->memory, p->name);
  t->failed = t->failed || name == NULL;
  if (t->failed) return;
  if (!first) add(t, ",");
  add(t, name);
  add(t, ":{\"dtype\":\"");
  add(t, p->code);
  add(t, "\",\"shape\":[");
  for (uint32_t i = 0; i < p->rank; i++) {
    snprintf(number, sizeof number, "%s%lld", i > 0 ? "," : "", (long long)p->dim[i]);
    add(t, number);
  }
  snprintf(number, sizeof number, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)from,
           (unsigned long long)(from + p->bytes));
  add(t, number);
}

#define CHUNK ((uint64_t)1 << 20) /* checksum and write while the bytes are in the cache */

static tfsdk_status *put_data(output *o, piece *p, bool checksums) {
  const char *data = p->data;
  p->crc = 0;
  for (uint64_t at = 0; at < p->bytes; at += CHUNK) {
    uint64_t n = p->bytes - at < CHUNK ? p->bytes - at : CHUNK;
    if (checksums) p->crc = crc32c(p->crc, data + at, n);
    TFSDK_TRY(output_write(o, data + at, n));
  }
  return NULL;
}

tfsdk_status *safetensors_put(output *o, arena *memory, piece *list, size_t n, const char *metadata,
                              bool checksums) {
  text header = {memory, NULL, 0, 0, false};
  unsigned char length[8];
  uint64_t at = 0;
  piece **place = arena_get(memory, (n + 1) * sizeof *place);
  if (place == NULL) return NO_MEMORY(memory);
  if (n > 0) qsort(list, n, sizeof *list, by_name);
  for (size_t i = 0; i < n; i++) place[i] = &list[i];
  if (n > 0) qsort(place, n, sizeof *place, by_place);
  for (size_t i = 0; i < n; i++) {
    place[i]->at = at;
    at += place[i]->bytes;
  }
  add(&header, "{");
  if (metadata != NULL) {
    add(&header, "\"__metadata__\":");
    add(&header, metadata);
  }
  for (size_t i = 0; i < n; i++)
    add_piece(&header, &list[i], list[i].at, i == 0 && metadata == NULL);
  add(&header, "}");
  while (!header.failed && (header.n + 8) % 64 != 0) add(&header, " ");
  if (header.failed) return NO_MEMORY(memory);
  for (int i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)header.n >> 8 * i);
  TFSDK_TRY(output_write(o, length, sizeof length));
  TFSDK_TRY(output_write(o, header.s, header.n));
  for (size_t i = 0; i < n; i++) {
    place[i]->at += 8 + header.n;
    TFSDK_TRY(put_data(o, place[i], checksums));
  }
  return NULL;
}
