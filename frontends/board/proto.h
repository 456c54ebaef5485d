/* proto.h - fields of a protobuf message, one after another. */
#ifndef TFSDK_BOARD_PROTO_H
#define TFSDK_BOARD_PROTO_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct bytes {
  const char *p;
  size_t n;
} bytes;

/* `wrong` is set, and stays, where the bytes are no message. */
typedef struct proto {
  const unsigned char *at, *end;
  bool wrong;
  uint32_t field, wire;
  uint64_t number; /* varint or fixed */
  bytes in;        /* length-delimited */
} proto;

static inline proto proto_of(bytes b) {
  proto m;
  memset(&m, 0, sizeof m);
  m.at = (const unsigned char *)b.p;
  m.end = b.n > 0 ? m.at + b.n : m.at;
  return m;
}

static inline bool proto_varint(proto *m, uint64_t *out) {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 64 && m->at != m->end; shift += 7) {
    unsigned char c = *m->at++;
    v |= (uint64_t)(c & 127) << shift;
    if (c < 128) {
      *out = v;
      return true;
    }
  }
  m->wrong = true;
  return false;
}

/* False at the end, or with `wrong` set. */
static inline bool proto_next(proto *m) {
  uint64_t key;
  m->number = 0;
  m->in.p = "";
  m->in.n = 0;
  if (m->wrong || m->at == m->end || !proto_varint(m, &key)) return false;
  m->field = (uint32_t)(key >> 3);
  m->wire = (uint32_t)(key & 7);
  size_t width = m->wire == 1 ? 8 : 4;
  switch (m->wire) {
  case 0: return proto_varint(m, &m->number);
  case 1:
  case 5:
    if ((size_t)(m->end - m->at) < width) break;
    for (size_t i = 0; i < width; i++) m->number |= (uint64_t)m->at[i] << 8 * i;
    m->at += width;
    return true;
  case 2:
    if (!proto_varint(m, &m->number)) return false;
    if (m->number > (uint64_t)(m->end - m->at)) break;
    m->in.p = (const char *)m->at;
    m->in.n = (size_t)m->number;
    m->at += m->in.n;
    return true;
  default: break;
  }
  m->wrong = true;
  return false;
}

static inline bool proto_is(const proto *m, uint32_t field, uint32_t wire) {
  return m->field == field && m->wire == wire;
}
static inline double proto_double(const proto *m) {
  double x;
  memcpy(&x, &m->number, sizeof x);
  return x;
}
static inline float proto_float(const proto *m) {
  uint32_t bits = (uint32_t)m->number;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
/* The last field of that number with length-delimited content; empty if there is none. */
static inline bytes proto_field(bytes message, uint32_t field) {
  proto m = proto_of(message);
  bytes out = {"", 0};
  while (proto_next(&m))
    if (proto_is(&m, field, 2)) out = m.in;
  return out;
}
static inline bool bytes_are(bytes b, const char *text) {
  return b.n == strlen(text) && memcmp(b.p, text, b.n) == 0;
}

#endif
