/* Fields of a protobuf message, one after another (protobuf.dev/programming-guides/encoding). */
#ifndef TFSDK_CHECKPOINT_PROTO_H
#define TFSDK_CHECKPOINT_PROTO_H

#include "table.h"

typedef struct proto {
  const char *p, *end;
  bool wrong;
  uint32_t field, wire; /* of the present field */
  uint64_t number;      /* varint or fixed */
  const char *bytes;    /* length-delimited */
  size_t n;
} proto;

/* The next field; false at the end, or with `wrong` set. */
static inline bool proto_next(proto *m) {
  uint64_t key;
  if (m->wrong || m->p == m->end) return false;
  m->wrong = true;
  if (!read_varint(&m->p, m->end, &key) || key >> 3 == 0 || key >> 3 > 0x1fffffff) return false;
  m->field = (uint32_t)(key >> 3);
  m->wire = (uint32_t)(key & 7);
  m->bytes = NULL;
  m->n = 0;
  m->number = 0;
  size_t left;
  switch (m->wire) {
  case 0: m->wrong = !read_varint(&m->p, m->end, &m->number); break;
  case 1:
  case 5:
    left = m->wire == 1 ? 8 : 4;
    m->wrong = (size_t)(m->end - m->p) < left;
    if (m->wrong) return false;
    m->number = left == 8 ? read_u64(m->p) : read_u32(m->p);
    m->p += left;
    break;
  case 2:
    if (!read_varint(&m->p, m->end, &m->number)) return false;
    m->wrong = m->number > (uint64_t)(m->end - m->p);
    if (m->wrong) return false;
    m->bytes = m->p;
    m->n = (size_t)m->number;
    m->p += m->n;
    break;
  default: return false; /* groups: no message of ours has them */
  }
  return !m->wrong;
}

static inline proto proto_of(const char *bytes, size_t n) {
  proto m = {bytes, bytes + n, false, 0, 0, 0, NULL, 0};
  return m;
}
/* Whether the present field is `field` with that wire type; another wire type is damage. */
static inline bool proto_is(proto *m, uint32_t field, uint32_t wire) {
  if (m->field != field) return false;
  if (m->wire != wire) m->wrong = true;
  return m->wire == wire;
}

#endif
