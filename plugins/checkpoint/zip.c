/* Reading zip archives; see zip.h. */
#include "zip.h"

#include <stdlib.h>
#include <string.h>

#include "table.h"

#define END_BYTES     22
#define END64_LOCATOR 20
#define END64_BYTES   56
#define ENTRY_BYTES   46
#define LOCAL_BYTES   30
#define MAX_COMMENT   65535
#define DEFLATE_LIMIT 1032u /* the most that one compressed byte can become, by the format */
#define CHUNK         ((size_t)64 << 10)

static uint32_t u16(const unsigned char *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }

typedef struct directory {
  uint64_t at, bytes, n;
} directory;

/* Above 4 GB or 65535 members the end says so, and a record in front of it has the numbers. */
static tfsdk_status *find_end64(file *f, uint64_t end, directory *d) {
  unsigned char b[END64_BYTES];
  if (end < END64_LOCATOR) return FILE_FAIL(f, DATA_LOSS, "the archive's end is damaged");
  TFSDK_TRY(file_read(f, end - END64_LOCATOR, b, END64_LOCATOR, "the archive's end"));
  if (memcmp(b, "PK\6\7", 4) != 0)
    return FILE_FAIL(f, DATA_LOSS,
                     "the archive lacks the record for large archives before byte %llu",
                     (unsigned long long)end);
  uint64_t at = read_u64(b + 8);
  TFSDK_TRY(file_read(f, at, b, END64_BYTES, "the archive's end"));
  if (memcmp(b, "PK\6\6", 4) != 0)
    return FILE_FAIL(f, DATA_LOSS, "there is no record for large archives at byte %llu",
                     (unsigned long long)at);
  d->n = read_u64(b + 32);
  d->bytes = read_u64(b + 40);
  d->at = read_u64(b + 48);
  return NULL;
}

/* The end record is the last one, but for a comment. */
static tfsdk_status *find_directory(file *f, arena *memory, directory *d) {
  uint64_t n = f->bytes < END_BYTES + MAX_COMMENT ? f->bytes : END_BYTES + MAX_COMMENT;
  unsigned char *tail = arena_get(memory, (size_t)n);
  if (tail == NULL) return NO_MEMORY(f);
  TFSDK_TRY(file_read(f, f->bytes - n, tail, n, "the archive's end"));
  for (uint64_t i = n; i >= END_BYTES; i--) {
    const unsigned char *p = tail + (i - END_BYTES);
    if (memcmp(p, "PK\5\6", 4) != 0 || u16(p + 20) != n - i) continue;
    d->n = u16(p + 10);
    d->bytes = read_u32(p + 12);
    d->at = read_u32(p + 16);
    if (d->n == 0xffff || d->bytes == 0xffffffffu || d->at == 0xffffffffu)
      return find_end64(f, f->bytes - n + (i - END_BYTES), d);
    return NULL;
  }
  return FILE_FAIL(f, DATA_LOSS, "this is no zip archive, or it is cut off: it has no end record");
}

/* Sizes that do not fit 32 bits stand in an extra field, in this order, those only. */
static bool read_large(const unsigned char *extra, size_t n, uint64_t *bytes, uint64_t *packed,
                       uint64_t *local) {
  uint64_t *want[3] = {bytes, packed, local};
  for (size_t at = 0; at + 4 <= n;) {
    size_t size = u16(extra + at + 2), from = at + 4;
    if (size > n - from) return false;
    if (u16(extra + at) == 1) {
      for (int i = 0; i < 3; i++) {
        if (*want[i] != 0xffffffffu) continue;
        if (from + 8 > at + 4 + size) return false;
        *want[i] = read_u64(extra + from);
        from += 8;
      }
      return true;
    }
    at = from + size;
  }
  return false;
}

static tfsdk_status *bad_member(file *f, const char *name, const char *what) {
  return FILE_FAIL(f, DATA_LOSS, "the member '%s': %s", name, what);
}

/* The member's own header says where its data begins; its name must be the directory's. */
static tfsdk_status *check_local(file *f, arena *memory, uint64_t at, uint32_t method,
                                 zip_member *m) {
  unsigned char b[LOCAL_BYTES];
  size_t n = strlen(m->name);
  TFSDK_TRY(file_read(f, at, b, LOCAL_BYTES, "a member's header"));
  char *name = arena_get(memory, n + 1);
  if (name == NULL) return NO_MEMORY(f);
  if (memcmp(b, "PK\3\4", 4) != 0 || u16(b + 26) != n || u16(b + 8) != method)
    return bad_member(f, m->name, "its own header is another one than the directory says");
  TFSDK_TRY(file_read(f, at + LOCAL_BYTES, name, n, "a member's name"));
  if (memcmp(name, m->name, n) != 0)
    return bad_member(f, m->name, "its own header has another name");
  m->at = at + LOCAL_BYTES + n + u16(b + 28);
  return file_expect(f, m->at, m->packed, m->name);
}

static tfsdk_status *read_entry(file *f, arena *memory, const unsigned char *p, size_t left,
                                zip_member *m, size_t *out_n) {
  if (left < ENTRY_BYTES || memcmp(p, "PK\1\2", 4) != 0)
    return FILE_FAIL(f, DATA_LOSS, "the archive's directory is damaged");
  size_t name = u16(p + 28), extra = u16(p + 30), comment = u16(p + 32);
  if (left - ENTRY_BYTES < name + extra + comment)
    return FILE_FAIL(f, DATA_LOSS, "the archive's directory is cut off");
  *out_n = ENTRY_BYTES + name + extra + comment;
  uint32_t flags = u16(p + 8), method = u16(p + 10);
  uint64_t local = read_u32(p + 42);
  m->name = arena_text(memory, (const char *)p + ENTRY_BYTES, name);
  if (m->name == NULL) return NO_MEMORY(f);
  if (strlen(m->name) != name) return bad_member(f, m->name, "its name goes on behind a NUL");
  m->crc = read_u32(p + 16);
  m->packed = read_u32(p + 20);
  m->bytes = read_u32(p + 24);
  if ((m->packed == 0xffffffffu || m->bytes == 0xffffffffu || local == 0xffffffffu) &&
      !read_large(p + ENTRY_BYTES + name, extra, &m->bytes, &m->packed, &local))
    return bad_member(f, m->name, "its size is missing");
  if (flags & 1) return FILE_FAIL(f, UNIMPLEMENTED, "the member '%s' is encrypted", m->name);
  if (method != 0 && method != 8)
    return FILE_FAIL(f, UNIMPLEMENTED, "the member '%s' is packed by method %u; 0 and 8 are read",
                     m->name, method);
  m->deflated = method == 8;
  uint64_t most;
  if (!m->deflated && m->bytes != m->packed)
    return bad_member(f, m->name, "it is stored, and has two sizes");
  if (__builtin_mul_overflow(m->packed, DEFLATE_LIMIT, &most)) most = UINT64_MAX;
  if (m->bytes > most) return bad_member(f, m->name, "its packed bytes cannot become so many");
  return check_local(f, memory, local, method, m);
}

static int by_name(const void *a, const void *b) {
  return strcmp((*(const zip_member *const *)a)->name, (*(const zip_member *const *)b)->name);
}
static int by_place(const void *a, const void *b) {
  const zip_member *x = *(const zip_member *const *)a, *y = *(const zip_member *const *)b;
  return x->at < y->at ? -1 : x->at > y->at;
}

static tfsdk_status *check_members(file *f, arena *memory, zip_member *list, size_t n) {
  const zip_member **order = arena_get(memory, (n + 1) * sizeof *order);
  if (order == NULL) return NO_MEMORY(f);
  for (size_t i = 0; i < n; i++) order[i] = &list[i];
  if (n > 0) qsort(order, n, sizeof *order, by_name);
  for (size_t i = 1; i < n; i++)
    if (strcmp(order[i]->name, order[i - 1]->name) == 0)
      return bad_member(f, order[i]->name, "it is there twice");
  if (n > 0) qsort(order, n, sizeof *order, by_place);
  for (size_t i = 1; i < n; i++)
    if (order[i]->at < order[i - 1]->at + order[i - 1]->packed)
      return bad_member(f, order[i]->name, "its bytes overlap another member's");
  return NULL;
}

tfsdk_status *zip_list(file *f, arena *memory, zip_member **out, size_t *out_n) {
  directory d = {0, 0, 0};
  TFSDK_TRY(find_directory(f, memory, &d));
  TFSDK_TRY(file_expect(f, d.at, d.bytes, "the archive's directory"));
  if (d.n > d.bytes / ENTRY_BYTES)
    return FILE_FAIL(f, DATA_LOSS, "the archive's directory of %llu bytes cannot have %llu members",
                     (unsigned long long)d.bytes, (unsigned long long)d.n);
  unsigned char *b = arena_get(memory, (size_t)d.bytes + 1);
  zip_member *list = arena_get(memory, ((size_t)d.n + 1) * sizeof *list);
  if (b == NULL || list == NULL) return NO_MEMORY(f);
  TFSDK_TRY(file_read(f, d.at, b, d.bytes, "the archive's directory"));
  size_t at = 0, n = 0;
  for (uint64_t i = 0; i < d.n; i++) {
    TFSDK_TRY(read_entry(f, memory, b + at, (size_t)d.bytes - at, &list[i], &n));
    at += n;
  }
  TFSDK_TRY(check_members(f, memory, list, (size_t)d.n));
  *out = list;
  *out_n = (size_t)d.n;
  return NULL;
}

/* ------------------------------------------------------------------------------------- one member */

tfsdk_status *zip_open(zip_stream *s, file *f, const zip_member *m) {
  memset(s, 0, sizeof *s);
  s->f = f;
  s->m = m;
  if (!m->deflated) return NULL;
  s->chunk = memory_get(f->host, CHUNK);
  if (s->chunk == NULL || inflateInit2(&s->z, -15) != Z_OK) {
    memory_give(f->host, s->chunk, CHUNK);
    s->chunk = NULL;
    return NO_MEMORY(f);
  }
  s->inflating = true;
  return NULL;
}

void zip_close(zip_stream *s) {
  if (s->inflating) inflateEnd(&s->z);
  if (s->f != NULL) memory_give(s->f->host, s->chunk, CHUNK);
  memset(s, 0, sizeof *s);
}

static tfsdk_status *inflate_some(zip_stream *s, unsigned char *to, uint64_t n) {
  while (n > 0) {
    if (s->z.avail_in == 0 && s->taken < s->m->packed) {
      uint64_t left = s->m->packed - s->taken, ask = left < CHUNK ? left : CHUNK;
      TFSDK_TRY(file_read(s->f, s->m->at + s->taken, s->chunk, ask, s->m->name));
      s->taken += ask;
      s->z.next_in = s->chunk;
      s->z.avail_in = (uInt)ask;
    }
    uInt room = n < (1u << 30) ? (uInt)n : 1u << 30;
    s->z.next_out = to;
    s->z.avail_out = room;
    int rc = inflate(&s->z, Z_NO_FLUSH);
    uInt made = room - s->z.avail_out;
    to += made;
    n -= made;
    bool stuck = made == 0 && s->z.avail_in == 0 && s->taken == s->m->packed;
    if ((rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) || stuck ||
        (rc == Z_STREAM_END && n > 0))
      return FILE_FAIL(s->f, DATA_LOSS, "the member '%s' is damaged near byte %llu: %s", s->m->name,
                       (unsigned long long)(s->m->at + s->taken - s->z.avail_in),
                       s->z.msg != NULL ? s->z.msg : "it ends too early");
  }
  return NULL;
}

tfsdk_status *zip_read(zip_stream *s, void *to, uint64_t n) {
  if (n > s->m->bytes - s->given)
    return FILE_FAIL(s->f, DATA_LOSS, "the member '%s' ends after %llu bytes; %llu are wanted",
                     s->m->name, (unsigned long long)s->m->bytes,
                     (unsigned long long)(s->given + n));
  if (s->inflating)
    TFSDK_TRY(inflate_some(s, to, n));
  else
    TFSDK_TRY(file_read(s->f, s->m->at + s->given, to, n, s->m->name));
  for (uint64_t done = 0; done < n;) {
    uInt part = n - done < (1u << 30) ? (uInt)(n - done) : 1u << 30;
    s->crc = (uint32_t)crc32(s->crc, (const Bytef *)to + done, part);
    done += part;
  }
  s->given += n;
  if (s->given < s->m->bytes || s->crc == s->m->crc) return NULL;
  return FILE_FAIL(s->f, DATA_LOSS, "the member '%s', bytes %llu to %llu, has a wrong checksum",
                   s->m->name, (unsigned long long)s->m->at,
                   (unsigned long long)(s->m->at + s->m->packed));
}
