/* Reading tables; see table.h. */
#include "table.h"

#include <string.h>

#include "crc32c.h"

#define FOOTER    48 /* two handles of up to 20 bytes, filled up with zeros, and the magic number */
#define MAGIC     0xdb4775248b80fb57u
#define TRAILER   5                    /* a byte for the kind of compression, and a checksum */
#define MAX_BLOCK ((uint64_t)64 << 20) /* TensorFlow makes blocks of 256 KiB */

bool read_varint(const char **p, const char *end, uint64_t *out) {
  uint64_t x = 0;
  for (unsigned shift = 0; shift < 64 && *p < end; shift += 7) {
    unsigned char b = (unsigned char)*(*p)++;
    if (shift == 63 && b > 1) return false;
    x |= (uint64_t)(b & 127) << shift;
    if (b < 128) {
      *out = x;
      return true;
    }
  }
  return false;
}

typedef struct block {
  char *data;
  uint64_t at, n; /* in the file; n without the trailer */
} block;

static void drop_block(file *f, block *b) {
  memory_give(f->host, b->data, (size_t)b->n + TRAILER);
  b->data = NULL;
}

static tfsdk_status *read_block(file *f, uint64_t at, uint64_t n, const char *what, block *out) {
  out->at = at;
  out->n = n;
  out->data = NULL;
  TFSDK_TRY(file_expect(f, at, n, what));
  TFSDK_TRY(file_expect(f, at + n, TRAILER, what));
  if (n > MAX_BLOCK)
    return FILE_FAIL(f, DATA_LOSS, "%s at byte %llu claims %llu bytes; %llu are the limit", what,
                     (unsigned long long)at, (unsigned long long)n, (unsigned long long)MAX_BLOCK);
  out->data = memory_get(f->host, (size_t)n + TRAILER);
  if (out->data == NULL) return NO_MEMORY(f);
  tfsdk_status *s = file_read(f, at, out->data, n + TRAILER, what);
  if (s == NULL && crc32c_mask(crc32c(0, out->data, (size_t)n + 1)) != read_u32(out->data + n + 1))
    s = FILE_FAIL(f, DATA_LOSS, "%s at bytes %llu to %llu has a wrong checksum", what,
                  (unsigned long long)at, (unsigned long long)(at + n));
  if (s == NULL && out->data[n] != 0)
    s = FILE_FAIL(f, UNIMPLEMENTED, "%s at byte %llu is compressed (kind %d), which is not read",
                  what, (unsigned long long)at, out->data[n]);
  if (s != NULL) drop_block(f, out);
  return s;
}

/* A walk along a block's entries; each key shares its beginning with the one before it. */
typedef struct cursor {
  file *f;
  const block *b;
  const char *p, *end; /* the entries end where the restart points begin */
  char *key;
  size_t key_n, key_cap;
  table_entry entry;
} cursor;

static tfsdk_status *damaged(const cursor *c, const char *why) {
  return FILE_FAIL(c->f, DATA_LOSS, "the table is damaged at byte %llu: %s",
                   (unsigned long long)(c->b->at + (uint64_t)(c->p - c->b->data)), why);
}

static tfsdk_status *begin(cursor *c, file *f, const block *b) {
  c->f = f;
  c->b = b;
  c->p = b->data;
  c->key_n = 0;
  uint64_t restarts = b->n >= 4 ? read_u32(b->data + b->n - 4) : 0;
  if (b->n < 4 || restarts > (b->n - 4) / 4) return damaged(c, "its restart points do not fit");
  c->end = b->data + b->n - 4 - 4 * restarts;
  return NULL;
}

static bool key_room(cursor *c, size_t n) {
  if (n <= c->key_cap) return true;
  char *more = c->f->host->realloc(c->f->host, c->key, c->key_cap, 2 * n);
  if (more == NULL) return false;
  c->key = more;
  c->key_cap = 2 * n;
  return true;
}

static tfsdk_status *next(cursor *c) {
  uint64_t shared, own, value;
  if (!read_varint(&c->p, c->end, &shared) || !read_varint(&c->p, c->end, &own) ||
      !read_varint(&c->p, c->end, &value))
    return damaged(c, "an entry is cut off");
  uint64_t left = (uint64_t)(c->end - c->p);
  if (shared > c->key_n || own > left || value > left - own)
    return damaged(c, "an entry does not fit its block");
  if (!key_room(c, (size_t)(shared + own) + 1)) return NO_MEMORY(c->f);
  memcpy(c->key + shared, c->p, own);
  c->key_n = (size_t)(shared + own);
  c->key[c->key_n] = 0;
  c->entry.key = c->key;
  c->entry.key_n = c->key_n;
  c->entry.value = c->p + own;
  c->entry.value_n = value;
  c->entry.at = c->b->at + (uint64_t)(c->p + own - c->b->data);
  c->p += own + value;
  return NULL;
}

/* Bytewise order of keys, over all blocks. */
typedef struct order {
  char *last;
  size_t n, cap;
  bool any;
} order;

static tfsdk_status *in_order(cursor *c, order *o) {
  if (o->any) {
    size_t n = o->n < c->key_n ? o->n : c->key_n;
    int way = memcmp(o->last, c->key, n);
    if (way == 0) way = o->n < c->key_n ? -1 : o->n > c->key_n;
    if (way >= 0)
      return damaged(c, way == 0 ? "a key is there twice" : "the keys are not in order");
  }
  if (c->key_n + 1 > o->cap) {
    char *more = c->f->host->realloc(c->f->host, o->last, o->cap, 2 * (c->key_n + 1));
    if (more == NULL) return NO_MEMORY(c->f);
    o->last = more;
    o->cap = 2 * (c->key_n + 1);
  }
  memcpy(o->last, c->key, c->key_n);
  o->n = c->key_n;
  o->any = true;
  return NULL;
}

static tfsdk_status *each_of_block(file *f, uint64_t at, uint64_t n, cursor *c, order *o,
                                   table_fn *fn, void *user) {
  block b;
  TFSDK_TRY(read_block(f, at, n, "a block of the table", &b));
  tfsdk_status *s = begin(c, f, &b);
  while (s == NULL && c->p < c->end) {
    s = next(c);
    if (s == NULL) s = in_order(c, o);
    if (s == NULL) s = fn(user, &c->entry);
  }
  drop_block(f, &b);
  return s;
}

static tfsdk_status *each_block(file *f, const block *index, table_fn *fn, void *user) {
  cursor outer = {0}, inner = {0};
  order o = {0};
  uint64_t at, n;
  tfsdk_status *s = begin(&outer, f, index);
  while (s == NULL && outer.p < outer.end) {
    s = next(&outer);
    if (s != NULL) break;
    const char *p = outer.entry.value, *end = p + outer.entry.value_n;
    if (!read_varint(&p, end, &at) || !read_varint(&p, end, &n))
      s = damaged(&outer, "a block's place is cut off");
    else
      s = each_of_block(f, at, n, &inner, &o, fn, user);
  }
  memory_give(f->host, outer.key, outer.key_cap);
  memory_give(f->host, inner.key, inner.key_cap);
  memory_give(f->host, o.last, o.cap);
  return s;
}

tfsdk_status *table_each(file *f, table_fn *fn, void *user) {
  char footer[FOOTER];
  block index;
  uint64_t at, n, meta_at, meta_n;
  if (f->bytes < FOOTER)
    return FILE_FAIL(f, DATA_LOSS, "this is no table: it has %llu bytes, and a footer takes %d",
                     (unsigned long long)f->bytes, FOOTER);
  TFSDK_TRY(file_read(f, f->bytes - FOOTER, footer, FOOTER, "the footer"));
  if (read_u64(footer + FOOTER - 8) != MAGIC)
    return FILE_FAIL(f, DATA_LOSS,
                     "this is no table, or it is cut off: bytes %llu to %llu are not "
                     "its magic number",
                     (unsigned long long)(f->bytes - 8), (unsigned long long)f->bytes);
  const char *p = footer, *end = footer + FOOTER - 8;
  if (!read_varint(&p, end, &meta_at) || !read_varint(&p, end, &meta_n) ||
      !read_varint(&p, end, &at) || !read_varint(&p, end, &n))
    return FILE_FAIL(f, DATA_LOSS, "the footer at byte %llu is damaged",
                     (unsigned long long)(f->bytes - FOOTER));
  TFSDK_TRY(file_expect(f, meta_at, meta_n, "the meta index"));
  TFSDK_TRY(read_block(f, at, n, "the index block", &index));
  tfsdk_status *s = each_block(f, &index, fn, user);
  drop_block(f, &index);
  return s;
}
