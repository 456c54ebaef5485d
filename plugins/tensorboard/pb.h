/* Protobuf's wire format, written and read by hand (protobuf.dev/programming-guides/encoding).
 *
 * Why no library: the messages are few and will not change (TensorBoard reads ten-year-old files),
 * a generated C binding would be larger than this file and a second toolchain to install, and
 * bytes must come in TensorFlow's order to be compared with its files. Fields are written in the
 * order of their numbers; numbers that are zero are left out, as in proto3, by the pb_put_*
 * functions; what stands in a oneof is written by pb_always_*. */
#ifndef TFSDK_TENSORBOARD_PB_H
#define TFSDK_TENSORBOARD_PB_H

#include <stdbool.h>
#include <tfsdk/unit.h>

/* ------------------------------------------------------------------------------------- writing */

/* A growing message. `failed`: memory ran out; what is there is of no use then. */
typedef struct pb {
  const tfsdk_host *host;
  char *p;
  size_t n, cap;
  bool failed;
} pb;

static inline pb pb_new(const tfsdk_host *host) {
  pb b = {host, NULL, 0, 0, false};
  return b;
}
static inline void pb_free(pb *b) {
  if (b->p != NULL) b->host->realloc(b->host, b->p, b->cap, 0);
  b->p = NULL;
  b->n = b->cap = 0;
}

/* Room for n more bytes, whose place is returned; NULL when memory is out. */
static inline char *pb_room(pb *b, size_t n) {
  if (b->failed) return NULL;
  if (b->cap - b->n < n) {
    size_t cap = b->cap + b->cap / 2 + n + 64;
    char *p = (char *)b->host->realloc(b->host, b->p, b->cap, cap);
    if (p == NULL) {
      b->failed = true;
      return NULL;
    }
    b->p = p;
    b->cap = cap;
  }
  return b->p + b->n;
}
static inline void pb_raw(pb *b, const void *bytes, size_t n) {
  char *to = pb_room(b, n);
  if (to == NULL) return;
  if (n > 0) memcpy(to, bytes, n);
  b->n += n;
}
static inline size_t pb_varint_bytes(uint64_t v, char out[10]) {
  size_t n = 0;
  while (v >= 128) {
    out[n++] = (char)(v | 128);
    v >>= 7;
  }
  out[n++] = (char)v;
  return n;
}
static inline void pb_varint(pb *b, uint64_t v) {
  char c[10];
  pb_raw(b, c, pb_varint_bytes(v, c));
}
/* Little-endian numbers of 4 and 8 bytes. */
static inline void pb_fixed(pb *b, uint64_t v, size_t n) {
  char c[8];
  for (size_t i = 0; i < n; i++) c[i] = (char)(v >> 8 * i);
  pb_raw(b, c, n);
}
static inline uint64_t pb_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline void pb_always_uint(pb *b, uint32_t field, uint64_t v) {
  pb_varint(b, field << 3);
  pb_varint(b, v);
}
static inline void pb_put_uint(pb *b, uint32_t field, uint64_t v) {
  if (v != 0) pb_always_uint(b, field, v);
}
/* Negative numbers take ten bytes: int64 and int32 are sign-extended on the wire. */
static inline void pb_put_int(pb *b, uint32_t field, int64_t v) {
  pb_put_uint(b, field, (uint64_t)v);
}
static inline void pb_always_double(pb *b, uint32_t field, double x) {
  pb_varint(b, field << 3 | 1);
  pb_fixed(b, pb_bits(x), 8);
}
static inline void pb_put_double(pb *b, uint32_t field, double x) {
  if (pb_bits(x) != 0) pb_always_double(b, field, x); /* -0.0 is no default */
}
static inline void pb_always_float(pb *b, uint32_t field, float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  pb_varint(b, field << 3 | 5);
  pb_fixed(b, bits, 4);
}
static inline void pb_put_float(pb *b, uint32_t field, float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (bits != 0) pb_always_float(b, field, x);
}
static inline void pb_always_bytes(pb *b, uint32_t field, const void *bytes, size_t n) {
  pb_varint(b, field << 3 | 2);
  pb_varint(b, n);
  pb_raw(b, bytes, n);
}
static inline void pb_put_bytes(pb *b, uint32_t field, const void *bytes, size_t n) {
  if (n != 0) pb_always_bytes(b, field, bytes, n);
}
static inline void pb_put_text(pb *b, uint32_t field, const char *text) {
  pb_put_bytes(b, field, text, strlen(text));
}
/* A message inside: what is written between begin and end. */
static inline size_t pb_begin(pb *b, uint32_t field) {
  pb_varint(b, field << 3 | 2);
  return b->n;
}
static inline void pb_end(pb *b, size_t begin) {
  char c[10];
  size_t body = b->n - begin, n;
  if (b->failed) return;
  n = pb_varint_bytes(body, c);
  if (pb_room(b, n) == NULL) return;
  memmove(b->p + begin + n, b->p + begin, body);
  memcpy(b->p + begin, c, n);
  b->n += n;
}

/* ------------------------------------------------------------------------------------- reading */

/* Fields of a message one after another. `wrong` is set, and stays, where the bytes are none. */
typedef struct pb_reader {
  const unsigned char *p, *end;
  bool wrong;
  uint32_t field, wire;
  uint64_t number;   /* varint or fixed */
  const char *bytes; /* length-delimited */
  size_t n;
} pb_reader;

static inline pb_reader pb_read(const char *bytes, size_t n) {
  pb_reader r;
  memset(&r, 0, sizeof r);
  r.p = (const unsigned char *)bytes;
  r.end = n > 0 ? r.p + n : r.p;
  return r;
}
static inline bool pb_next_varint(pb_reader *r, uint64_t *out) {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 64 && r->p != r->end; shift += 7) {
    unsigned char c = *r->p++;
    v |= (uint64_t)(c & 127) << shift;
    if (c < 128) {
      *out = v;
      return true;
    }
  }
  r->wrong = true;
  return false;
}
/* False at the end, or with `wrong` set. */
static inline bool pb_next(pb_reader *r) {
  uint64_t key;
  size_t width;
  if (r->wrong || r->p == r->end || !pb_next_varint(r, &key)) return false;
  r->field = (uint32_t)(key >> 3);
  r->wire = (uint32_t)(key & 7);
  r->number = 0;
  r->bytes = NULL;
  r->n = 0;
  if (key >> 3 == 0 || key >> 32 != 0) {
    r->wrong = true;
    return false;
  }
  switch (r->wire) {
  case 0: return pb_next_varint(r, &r->number);
  case 1:
  case 5:
    width = r->wire == 1 ? 8 : 4;
    if ((size_t)(r->end - r->p) < width) break;
    for (size_t i = 0; i < width; i++) r->number |= (uint64_t)r->p[i] << 8 * i;
    r->p += width;
    return true;
  case 2:
    if (!pb_next_varint(r, &r->number)) return false;
    if (r->number > (uint64_t)(r->end - r->p)) break;
    r->bytes = (const char *)r->p;
    r->n = (size_t)r->number;
    r->p += r->n;
    return true;
  default: break; /* groups: no message of these has them */
  }
  r->wrong = true;
  return false;
}
/* Whether the present field is that one, of that wire type; another wire type is damage. */
static inline bool pb_is(pb_reader *r, uint32_t field, uint32_t wire) {
  if (r->field != field) return false;
  if (r->wire != wire) r->wrong = true;
  return r->wire == wire;
}
static inline double pb_as_double(const pb_reader *r) {
  double x;
  memcpy(&x, &r->number, sizeof x);
  return x;
}
static inline float pb_as_float(const pb_reader *r) {
  uint32_t bits = (uint32_t)r->number;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

#endif
