/* Protobuf's wire format, read field by field (protobuf.dev/programming-guides/encoding). */
#ifndef TFSDK_SAVED_MODEL_WIRE_H
#define TFSDK_SAVED_MODEL_WIRE_H

#include <stdbool.h>
#include <tfsdk/unit.h>

typedef struct span {
  const char *p;
  size_t n;
} span;

typedef struct wire {
  const char *p, *end;
  bool wrong;
  uint32_t field, kind; /* of the present field; kinds: 0 varint, 1 eight bytes, 2 span, 5 four */
  uint64_t number;
  span bytes;
} wire;

static inline wire wire_of(span s) {
  wire w = {s.p, s.n > 0 ? s.p + s.n : s.p, false, 0, 0, 0, {NULL, 0}};
  return w;
}

static inline bool wire_varint(wire *w, uint64_t *out) {
  *out = 0;
  for (int shift = 0; shift < 64 && w->p < w->end; shift += 7) {
    unsigned char c = (unsigned char)*w->p++;
    *out |= (uint64_t)(c & 127) << shift;
    if (c < 128) return true;
  }
  return false;
}

/* The next field; false at the end, or with `wrong` set. */
static inline bool wire_next(wire *w) {
  uint64_t key;
  if (w->wrong || w->p == w->end) return false;
  w->wrong = true;
  if (!wire_varint(w, &key) || key >> 3 == 0 || key >> 3 > 0x1fffffff) return false;
  w->field = (uint32_t)(key >> 3);
  w->kind = (uint32_t)(key & 7);
  w->bytes.p = NULL;
  w->bytes.n = 0;
  w->number = 0;
  size_t left = (size_t)(w->end - w->p), fixed = w->kind == 1 ? 8 : 4;
  switch (w->kind) {
  case 0:
    if (!wire_varint(w, &w->number)) return false;
    break;
  case 1:
  case 5:
    if (left < fixed) return false;
    memcpy(&w->number, w->p, fixed); /* hosts are little-endian, as the format is */
    w->p += fixed;
    break;
  case 2:
    if (!wire_varint(w, &w->number) || w->number > (uint64_t)(w->end - w->p)) return false;
    w->bytes.p = w->p;
    w->bytes.n = (size_t)w->number;
    w->p += w->bytes.n;
    break;
  default: return false; /* groups: no message here has them */
  }
  w->wrong = false;
  return true;
}

/* Whether the present field has that number; another kind than `kind` is damage. */
static inline bool wire_is(wire *w, uint32_t field, uint32_t kind) {
  if (w->field != field) return false;
  if (w->kind != kind) w->wrong = true;
  return w->kind == kind;
}

static inline bool span_is(span s, const char *text) {
  return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

#endif
