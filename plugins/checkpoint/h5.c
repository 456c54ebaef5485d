/* HDF5: bytes, checksums, the superblock, objects' headers; see h5.h. */
#include "h5.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_METADATA ((uint64_t)512 << 20)

tfsdk_status *h5_fail(h5 *h, int32_t code, uint64_t at, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return h->host->fail(h->host, code, __FILE__, __LINE__, "%s: byte %llu: %s", h->path,
                       (unsigned long long)at, text);
}

uint64_t h5_get(h5_cursor *c, uint32_t width) {
  const unsigned char *p = h5_skip(c, width);
  uint64_t x = 0;
  for (uint32_t i = 0; p != NULL && i < width && i < 8; i++) x |= (uint64_t)p[i] << 8 * i;
  return x;
}

const unsigned char *h5_skip(h5_cursor *c, uint64_t n) {
  const unsigned char *p = c->p;
  if (n > (uint64_t)(c->end - c->p)) {
    c->cut = true;
    c->p = c->end;
    return NULL;
  }
  c->p += n;
  c->at += n;
  return p;
}

static tfsdk_status *inside(h5 *h, uint64_t at, uint64_t n, const char *what) {
  if (at <= h->end && n <= h->end - at) return NULL;
  return H5_BAD(h, at, "%s needs %llu bytes there, and the file has %llu", what,
                (unsigned long long)n, (unsigned long long)h->end);
}

tfsdk_status *h5_data(h5 *h, uint64_t at, void *to, uint64_t n, const char *what) {
  TFSDK_TRY(inside(h, at, n, what));
  if (h->image == NULL) return file_read(&h->f, at, to, n, what);
  if (n > 0) memcpy(to, h->image + at, n);
  return NULL;
}

tfsdk_status *h5_piece(h5 *h, uint64_t at, uint64_t n, const char *what, h5_cursor *out) {
  TFSDK_TRY(inside(h, at, n, what));
  if (n + 64 > h->budget)
    return H5_BAD(h, at, "the file's structure goes round in circles, or is too large");
  h->budget -= n + 64;
  unsigned char *p = arena_get(h->memory, n + 1);
  if (p == NULL) return NO_MEMORY(h);
  TFSDK_TRY(h5_data(h, at, p, n, what));
  *out = (h5_cursor){p, p + n, at, false};
  return NULL;
}

tfsdk_status *h5_signed(h5 *h, uint64_t at, uint64_t n, const char *signature, h5_cursor *out) {
  TFSDK_TRY(h5_piece(h, at, n, signature, out));
  const unsigned char *p = h5_skip(out, 4);
  if (p == NULL || memcmp(p, signature, 4) != 0)
    return H5_BAD(h, at, "the signature '%s' is expected", signature);
  return NULL;
}

static uint32_t turn(uint32_t x, int k) { return x << k | x >> (32 - k); }

/* lookup3.c, May 2006, public domain: hashlittle() with initial value 0. */
uint32_t h5_checksum(const unsigned char *p, size_t n) {
  uint32_t a = 0xdeadbeefu + (uint32_t)n, b = a, c = a;
  unsigned char last[12] = {0};
  if (n == 0) return c;
  for (;;) {
    const unsigned char *k = p;
    if (n <= 12) {
      memcpy(last, p, n);
      k = last;
    }
    a += (uint32_t)k[0] | (uint32_t)k[1] << 8 | (uint32_t)k[2] << 16 | (uint32_t)k[3] << 24;
    b += (uint32_t)k[4] | (uint32_t)k[5] << 8 | (uint32_t)k[6] << 16 | (uint32_t)k[7] << 24;
    c += (uint32_t)k[8] | (uint32_t)k[9] << 8 | (uint32_t)k[10] << 16 | (uint32_t)k[11] << 24;
    if (n <= 12) break;
    a -= c, a ^= turn(c, 4), c += b;
    b -= a, b ^= turn(a, 6), a += c;
    c -= b, c ^= turn(b, 8), b += a;
    a -= c, a ^= turn(c, 16), c += b;
    b -= a, b ^= turn(a, 19), a += c;
    c -= b, c ^= turn(b, 4), b += a;
    p += 12;
    n -= 12;
  }
  c ^= b, c -= turn(b, 14);
  a ^= c, a -= turn(c, 11);
  b ^= a, b -= turn(a, 25);
  c ^= b, c -= turn(b, 16);
  a ^= c, a -= turn(c, 4);
  b ^= a, b -= turn(a, 14);
  c ^= b, c -= turn(b, 24);
  return c;
}

/* The last four bytes of a piece are its checksum; they are taken off. */
static tfsdk_status *check_sum(h5 *h, const unsigned char *begin, uint64_t at, h5_cursor *c) {
  size_t n = (size_t)(c->end - begin);
  if (n < 8) return H5_BAD(h, at, "a structure is cut off");
  h5_cursor sum = {c->end - 4, c->end, 0, false};
  if ((uint32_t)h5_get(&sum, 4) != h5_checksum(begin, n - 4))
    return H5_BAD(h, at, "a structure of %zu bytes has a wrong checksum", n);
  c->end -= 4;
  return NULL;
}

/* ----------------------------------------------------------------------------------- superblock */

static tfsdk_status *check_sizes(h5 *h, uint64_t base) {
  bool fits =
      (h->offset_size == 4 || h->offset_size == 8) && (h->length_size == 4 || h->length_size == 8);
  if (!fits)
    return H5_BAD(h, 8, "addresses of %u and sizes of %u bytes are none", h->offset_size,
                  h->length_size);
  if (base != 0) return H5_UNREAD(h, 8, "files with a user block are not read");
  return NULL;
}

/* Versions 0 and 1: the root group's entry is at the end. */
static tfsdk_status *old_superblock(h5 *h, h5_cursor *c, uint32_t version) {
  (void)h5_skip(c, 4); /* versions of parts */
  h->offset_size = (uint32_t)h5_get(c, 1);
  h->length_size = (uint32_t)h5_get(c, 1);
  (void)h5_skip(c, version == 0 ? 9 : 13); /* sizes of nodes, flags */
  uint64_t base = h5_get(c, h->offset_size);
  (void)h5_offset(h, c);
  uint64_t end = h5_offset(h, c);
  (void)h5_offset(h, c);
  (void)h5_offset(h, c); /* the root's name */
  h->root = h5_offset(h, c);
  TFSDK_TRY(check_sizes(h, base));
  if (end < h->end) h->end = end;
  if (end > h->bytes)
    return H5_BAD(h, 8, "the file is cut off: it has %llu of %llu bytes",
                  (unsigned long long)h->bytes, (unsigned long long)end);
  return NULL;
}

static tfsdk_status *new_superblock(h5 *h, h5_cursor *c, const unsigned char *begin) {
  h->offset_size = (uint32_t)h5_get(c, 1);
  h->length_size = (uint32_t)h5_get(c, 1);
  (void)h5_skip(c, 1);
  if (h->offset_size != 4 && h->offset_size != 8) return check_sizes(h, 0);
  size_t n = 12 + 4 * (size_t)h->offset_size + 4;
  if ((size_t)(c->end - begin) < n) return H5_BAD(h, 0, "the superblock is cut off");
  c->end = begin + n;
  TFSDK_TRY(check_sum(h, begin, 0, c));
  uint64_t base = h5_get(c, h->offset_size);
  (void)h5_offset(h, c);
  uint64_t end = h5_offset(h, c);
  h->root = h5_offset(h, c);
  TFSDK_TRY(check_sizes(h, base));
  if (end > h->bytes)
    return H5_BAD(h, 12, "the file is cut off: it has %llu of %llu bytes",
                  (unsigned long long)h->bytes, (unsigned long long)end);
  h->end = end;
  return NULL;
}

tfsdk_status *h5_open(h5 *h) {
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  h5_cursor c = {NULL, NULL, 0, false};
  h->bytes = h->end = h->image != NULL ? h->bytes : h->f.bytes;
  h->budget = MAX_METADATA;
  h->heap_at = H5_NOWHERE;
  h->offset_size = h->length_size = 8;
  TFSDK_TRY(h5_piece(h, 0, h->bytes < 128 ? h->bytes : 128, "the superblock", &c));
  const unsigned char *begin = c.p, *p = h5_skip(&c, 8);
  if (p == NULL || memcmp(p, signature, 8) != 0)
    return H5_BAD(h, 0, "this is no HDF5 file: it does not begin with its signature");
  uint32_t version = (uint32_t)h5_get(&c, 1);
  tfsdk_status *s = version <= 1 ? old_superblock(h, &c, version)
                    : version <= 3
                        ? new_superblock(h, &c, begin)
                        : H5_UNREAD(h, 8, "version %u of the superblock is unknown", version);
  if (s != NULL) return s;
  if (c.cut) return H5_BAD(h, h->bytes, "the superblock is cut off");
  return NULL;
}

/* ------------------------------------------------------------------------------ objects' headers */

#define MAX_MESSAGES 65536

static tfsdk_status *add_message(h5 *h, h5_object *o, const h5_message *m) {
  if (o->n == MAX_MESSAGES) return H5_BAD(h, o->at, "the object has too many messages");
  h5_message *more = arena_grow(h->memory, o->list, o->n, &o->cap, sizeof *more);
  if (more == NULL) return NO_MEMORY(h);
  o->list = more;
  o->list[o->n++] = *m;
  return NULL;
}

/* Messages up to the cursor's end; version 1 aligns them to 8 bytes. */
static tfsdk_status *read_messages(h5 *h, h5_object *o, h5_cursor *c, uint32_t version,
                                   bool ordered) {
  uint64_t head = version == 1 ? 8 : ordered ? 6 : 4;
  while ((uint64_t)(c->end - c->p) >= head) {
    h5_message m;
    uint64_t size;
    if (version == 1) {
      m.type = (uint32_t)h5_get(c, 2);
      size = h5_get(c, 2);
      m.flags = (uint32_t)h5_get(c, 1);
      (void)h5_skip(c, 3);
    } else {
      m.type = (uint32_t)h5_get(c, 1);
      size = h5_get(c, 2);
      m.flags = (uint32_t)h5_get(c, 1);
      if (ordered) (void)h5_skip(c, 2);
    }
    m.body.at = c->at;
    m.body.cut = false;
    m.body.p = h5_skip(c, size);
    if (m.body.p == NULL)
      return H5_BAD(h, m.body.at, "a message of %llu bytes does not fit", (unsigned long long)size);
    m.body.end = m.body.p + size;
    TFSDK_TRY(add_message(h, o, &m));
  }
  return NULL;
}

static tfsdk_status *read_v1(h5 *h, h5_object *o, h5_cursor *c) {
  (void)h5_skip(c, 1 + 1 + 2 + 4);
  uint64_t size = h5_get(c, 4);
  h5_cursor body;
  if (c->cut) return H5_BAD(h, o->at, "the object's header is cut off");
  TFSDK_TRY(h5_piece(h, o->at + 16, size, "an object's header", &body));
  return read_messages(h, o, &body, 1, false);
}

static tfsdk_status *read_v2(h5 *h, h5_object *o, h5_cursor *c, bool *out_ordered) {
  uint32_t version = (uint32_t)h5_get(c, 1), flags = (uint32_t)h5_get(c, 1);
  if (version != 2) return H5_UNREAD(h, o->at, "version %u of objects' headers", version);
  if (flags & 32) (void)h5_skip(c, 16);
  if (flags & 16) (void)h5_skip(c, 4);
  uint64_t size = h5_get(c, 1u << (flags & 3)), prefix = c->at - o->at;
  if (c->cut || size > h->end) return H5_BAD(h, o->at, "the object's header is cut off");
  h5_cursor all;
  *out_ordered = (flags & 4) != 0;
  TFSDK_TRY(h5_piece(h, o->at, prefix + size + 4, "an object's header", &all));
  TFSDK_TRY(check_sum(h, all.p, o->at, &all));
  (void)h5_skip(&all, prefix);
  return read_messages(h, o, &all, 2, *out_ordered);
}

tfsdk_status *h5_read_object(h5 *h, uint64_t at, h5_object *o) {
  h5_cursor c;
  bool ordered = false;
  memset(o, 0, sizeof *o);
  o->at = at;
  TFSDK_TRY(inside(h, at, 16, "an object's header"));
  uint64_t n = h->end - at < 64 ? h->end - at : 64;
  TFSDK_TRY(h5_piece(h, at, n, "an object's header", &c));
  bool v2 = memcmp(c.p, "OHDR", 4) == 0;
  if (!v2 && c.p[0] != 1) return H5_BAD(h, at, "there is no object");
  if (v2) (void)h5_skip(&c, 4);
  TFSDK_TRY(v2 ? read_v2(h, o, &c, &ordered) : read_v1(h, o, &c));
  for (size_t i = 0; i < o->n; i++) { /* the list grows meanwhile; the budget ends circles */
    if (o->list[i].type != H5_CONTINUATION) continue;
    h5_cursor where = o->list[i].body, more;
    uint64_t from = h5_offset(h, &where), size = h5_length(h, &where);
    if (where.cut) return H5_BAD(h, where.at, "a continuation is cut off");
    if (v2) {
      TFSDK_TRY(h5_signed(h, from, size, "OCHK", &more));
      TFSDK_TRY(check_sum(h, more.p - 4, from, &more));
    } else {
      TFSDK_TRY(h5_piece(h, from, size, "a continuation", &more));
    }
    TFSDK_TRY(read_messages(h, o, &more, v2 ? 2 : 1, ordered));
  }
  return NULL;
}

const h5_message *h5_find(const h5_object *o, uint32_t type) {
  for (size_t i = 0; i < o->n; i++)
    if (o->list[i].type == type) return &o->list[i];
  return NULL;
}
