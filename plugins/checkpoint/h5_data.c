/* HDF5: a dataset's elements. They lie in one piece, in the header, or in chunks, which may have
 * gone through filters; see h5.h. */
#include <string.h>
#include <zlib.h>

#include "h5.h"

#define MAX_FILTERS   8
#define DEFLATE_LIMIT 1032u /* the most that one compressed byte can become, by the format */

typedef struct filter {
  uint32_t id, value; /* value: shuffle's element size */
} filter;

typedef struct chunks {
  h5 *h;
  const h5_dataset *d;
  unsigned char *to;
  uint32_t rank;
  uint64_t dim[33], count[32]; /* of a chunk; chunks along each axis */
  uint64_t bytes;              /* of a chunk */
  unsigned char *raw, *plain;
  uint64_t raw_cap;
  filter filter[MAX_FILTERS];
  uint32_t n_filters;
} chunks;

/* -------------------------------------------------------------------------------------- filters */

static tfsdk_status *read_filters(h5 *h, const h5_message *m, chunks *v) {
  h5_cursor c = m->body;
  uint32_t version = (uint32_t)h5_get(&c, 1);
  v->n_filters = (uint32_t)h5_get(&c, 1);
  if (version != 1 && version != 2) return H5_UNREAD(h, c.at, "version %u of filters", version);
  if (v->n_filters > MAX_FILTERS) return H5_UNREAD(h, c.at, "%u filters", v->n_filters);
  if (version == 1) (void)h5_skip(&c, 6);
  for (uint32_t i = 0; i < v->n_filters; i++) {
    filter *f = &v->filter[i];
    f->id = (uint32_t)h5_get(&c, 2);
    uint64_t name = version == 1 || f->id >= 256 ? h5_get(&c, 2) : 0;
    (void)h5_skip(&c, 2);
    uint64_t values = h5_get(&c, 2);
    (void)h5_skip(&c, version == 1 ? (name + 7) / 8 * 8 : name);
    for (uint64_t k = 0; k < values && !c.cut; k++) {
      uint32_t x = (uint32_t)h5_get(&c, 4);
      if (k == 0) f->value = x;
    }
    if (version == 1 && values % 2 != 0) (void)h5_skip(&c, 4);
    if (c.cut) return H5_BAD(h, c.at, "the filters are cut off");
    if (f->id < 1 || f->id > 3)
      return H5_UNREAD(h, c.at,
                       "'%.100s' has gone through filter %u; deflate, shuffle and "
                       "Fletcher's checksum are read",
                       v->d->name, f->id);
  }
  return NULL;
}

/* Fletcher's sum of words of 16 bits, high byte first, modulo 65535. */
static uint32_t fletcher(const unsigned char *p, uint64_t n) {
  uint64_t a = 0, b = 0;
  for (uint64_t i = 0; i + 1 < n; i += 2) {
    a = (a + ((uint64_t)p[i] << 8 | p[i + 1])) % 65535;
    b = (b + a) % 65535;
  }
  if (n % 2 != 0) {
    a = (a + ((uint64_t)p[n - 1] << 8)) % 65535;
    b = (b + a) % 65535;
  }
  return (uint32_t)(b << 16 | a);
}

static bool same_sum(uint32_t sum, uint32_t stored) {
  for (int i = 0; i < 2; i++) /* 0 and 65535 are the same number */
    if ((sum >> 16 * i & 0xffff) % 65535 != (stored >> 16 * i & 0xffff) % 65535) return false;
  return true;
}

static tfsdk_status *inflate_chunk(chunks *v, uint64_t at, uint64_t *n) {
  uLongf made = (uLongf)v->bytes + 4; /* a checksum may have been taken before */
  int rc = uncompress(v->plain, &made, v->raw, (uLong)*n);
  if (rc != Z_OK)
    return H5_BAD(v->h, at, "a chunk of '%.100s' is damaged: it does not inflate", v->d->name);
  memcpy(v->raw, v->plain, made);
  *n = made;
  return NULL;
}

static void unshuffle(chunks *v, uint32_t size, uint64_t n) {
  uint64_t k = n / size;
  memcpy(v->plain, v->raw, n);
  for (uint32_t b = 0; b < size; b++)
    for (uint64_t i = 0; i < k; i++) v->raw[i * size + b] = v->plain[b * k + i];
}

/* Undoes the filters, the last one first; a bit of the mask says that one was left out. */
static tfsdk_status *undo(chunks *v, uint64_t at, uint64_t n, uint32_t mask) {
  for (uint32_t i = v->n_filters; i-- > 0;) {
    const filter *f = &v->filter[i];
    if (mask >> i & 1) continue;
    if (f->id == 1) TFSDK_TRY(inflate_chunk(v, at, &n));
    if (f->id == 2 && f->value > 1) {
      if (n > v->bytes) return H5_BAD(v->h, at, "a chunk is larger than it may be");
      unshuffle(v, f->value, n);
    }
    if (f->id == 3) {
      if (n < 4) return H5_BAD(v->h, at, "a chunk is cut off");
      h5_cursor sum = {v->raw + n - 4, v->raw + n, 0, false};
      n -= 4;
      if (!same_sum(fletcher(v->raw, n), (uint32_t)h5_get(&sum, 4)))
        return H5_BAD(v->h, at, "a chunk of '%.100s' has a wrong checksum", v->d->name);
    }
  }
  if (n != v->bytes)
    return H5_BAD(v->h, at, "a chunk of '%.100s' has %llu bytes, not %llu", v->d->name,
                  (unsigned long long)n, (unsigned long long)v->bytes);
  return NULL;
}

/* --------------------------------------------------------------------------------------- chunks */

/* The rows of a chunk that lie in the dataset, to their places; `first` is its first element. */
static void place(const chunks *v, const uint64_t *first) {
  const h5_space *s = &v->d->space;
  uint64_t index[32] = {0}, size = v->d->type.size;
  uint32_t last = v->rank - 1;
  uint64_t row =
      s->dim[last] - first[last] < v->dim[last] ? s->dim[last] - first[last] : v->dim[last];
  for (;;) {
    uint64_t from = 0, to = 0;
    bool in = true;
    for (uint32_t i = 0; i < v->rank; i++) {
      uint64_t k = i < last ? index[i] : 0;
      from = from * v->dim[i] + k;
      to = to * s->dim[i] + first[i] + k;
      in = in && first[i] + k < s->dim[i];
    }
    if (in) memcpy(v->to + to * size, v->raw + from * size, row * size);
    uint32_t i = last;
    while (i > 0) {
      i--;
      if (++index[i] < v->dim[i]) break;
      index[i] = 0;
      if (i == 0) return;
    }
    if (last == 0) return;
  }
}

static tfsdk_status *read_chunk(chunks *v, uint64_t at, uint64_t n, uint32_t mask,
                                const uint64_t *first) {
  for (uint32_t i = 0; i < v->rank; i++)
    if (first[i] >= v->d->space.dim[i] || first[i] % v->dim[i] != 0)
      return H5_BAD(v->h, at, "a chunk of '%.100s' lies outside of it", v->d->name);
  if (n > v->raw_cap || v->bytes > n * DEFLATE_LIMIT)
    return H5_BAD(v->h, at, "a chunk of '%.100s' has %llu bytes, for %llu", v->d->name,
                  (unsigned long long)n, (unsigned long long)v->bytes);
  TFSDK_TRY(h5_data(v->h, at, v->raw, n, "a chunk"));
  TFSDK_TRY(undo(v, at, n, mask));
  place(v, first);
  return NULL;
}

static tfsdk_status *read_tree(chunks *v, uint64_t at, int32_t above) {
  h5 *h = v->h;
  h5_cursor c;
  uint64_t head = 8 + 2 * (uint64_t)h->offset_size, key = 8 + 8 * ((uint64_t)v->rank + 1);
  TFSDK_TRY(h5_signed(h, at, head, "TREE", &c));
  uint32_t kind = (uint32_t)h5_get(&c, 1);
  int32_t level = (int32_t)h5_get(&c, 1);
  uint64_t n = h5_get(&c, 2);
  if (kind != 1 || (above >= 0 && level >= above))
    return H5_BAD(h, at, "the tree of chunks is damaged");
  TFSDK_TRY(h5_piece(h, at + head, n * (key + h->offset_size), "the tree of chunks", &c));
  for (uint64_t i = 0; i < n; i++) {
    uint64_t first[33], size = h5_get(&c, 4);
    uint32_t mask = (uint32_t)h5_get(&c, 4);
    for (uint32_t k = 0; k <= v->rank; k++) first[k] = h5_get(&c, 8);
    uint64_t child = h5_offset(h, &c);
    TFSDK_TRY(level > 0 ? read_tree(v, child, level) : read_chunk(v, child, size, mask, first));
  }
  return NULL;
}

/* Chunk `i` in the order of rows. */
static tfsdk_status *read_numbered(chunks *v, uint64_t i, uint64_t at, uint64_t n, uint32_t mask) {
  uint64_t first[32];
  if (at == H5_NOWHERE) return NULL; /* never written */
  for (uint32_t k = v->rank; k-- > 0;) {
    first[k] = i % v->count[k] * v->dim[k];
    i /= v->count[k];
  }
  return read_chunk(v, at, n, mask, first);
}

/* "Fixed array": as many entries as there are chunks, in pages when there are many. */
static tfsdk_status *read_fixed_array(chunks *v, uint64_t at, uint64_t total) {
  h5 *h = v->h;
  h5_cursor c;
  TFSDK_TRY(h5_signed(h, at, 12 + (uint64_t)h->length_size + h->offset_size, "FAHD", &c));
  (void)h5_skip(&c, 1);
  uint32_t filtered = (uint32_t)h5_get(&c, 1), entry = (uint32_t)h5_get(&c, 1);
  uint32_t bits = (uint32_t)h5_get(&c, 1);
  uint64_t n = h5_length(h, &c), block = h5_offset(h, &c);
  uint32_t size_bytes = entry - h->offset_size - 4;
  if (n != total || bits > 32 || filtered > 1 ||
      (filtered ? entry < h->offset_size + 5 || size_bytes > 8 : entry != h->offset_size))
    return H5_BAD(h, at, "the array of chunks is damaged");
  uint64_t page = (uint64_t)1 << bits, head = 6 + (uint64_t)h->offset_size;
  bool paged = n > page;
  if (paged) head += (n + page - 1) / page / 8 + ((n + page - 1) / page % 8 != 0) + 4;
  if (!paged) page = n;
  for (uint64_t i = 0, from = block + head; i < n; i += page) {
    uint64_t k = n - i < page ? n - i : page;
    if (i == 0) TFSDK_TRY(h5_signed(h, block, head, "FADB", &c));
    TFSDK_TRY(h5_piece(h, from, k * entry + (paged ? 4 : 0), "the array of chunks", &c));
    for (uint64_t j = 0; j < k; j++) {
      uint64_t place_at = h5_offset(h, &c);
      uint64_t size = filtered ? h5_get(&c, size_bytes) : v->bytes;
      uint32_t mask = filtered ? (uint32_t)h5_get(&c, 4) : 0;
      TFSDK_TRY(read_numbered(v, i + j, place_at, size, mask));
    }
    from += k * entry + 4;
  }
  return NULL;
}

/* How many chunks along each axis, and how large they are: bounded by what the file can hold. */
static tfsdk_status *measure(chunks *v, uint64_t *out_total) {
  h5 *h = v->h;
  uint64_t total = 1,
           most = h->bytes < UINT64_MAX / DEFLATE_LIMIT ? h->bytes * DEFLATE_LIMIT : UINT64_MAX;
  v->bytes = v->d->type.size;
  for (uint32_t i = 0; i < v->rank; i++) {
    if (v->dim[i] == 0 || __builtin_mul_overflow(v->bytes, v->dim[i], &v->bytes))
      return H5_BAD(h, v->d->layout.body.at, "the chunks of '%.100s' have no size", v->d->name);
    v->count[i] = (v->d->space.dim[i] + v->dim[i] - 1) / v->dim[i];
    if (__builtin_mul_overflow(total, v->count[i], &total)) total = UINT64_MAX;
  }
  if (v->bytes > most || v->bytes > UINT32_MAX)
    return H5_BAD(h, v->d->layout.body.at, "a chunk of '%.100s' claims %llu bytes", v->d->name,
                  (unsigned long long)v->bytes);
  *out_total = total;
  return NULL;
}

static tfsdk_status *walk(chunks *v, h5_cursor *c, uint32_t version, uint32_t flags,
                          uint64_t total) {
  h5 *h = v->h;
  if (version == 3) {
    uint64_t root = h5_offset(h, c);
    for (uint32_t i = 0; i < v->rank; i++) v->dim[i] = h5_get(c, 4);
    return root == H5_NOWHERE ? NULL : read_tree(v, root, -1);
  }
  uint32_t kind = (uint32_t)h5_get(c, 1);
  uint64_t size = v->bytes, at;
  uint32_t mask = 0;
  switch (kind) {
  case 1: /* a single chunk */
    if (flags & 2) {
      size = h5_length(h, c);
      mask = (uint32_t)h5_get(c, 4);
    }
    at = h5_offset(h, c);
    return c->cut ? H5_BAD(h, c->at, "a layout is cut off") : read_numbered(v, 0, at, size, mask);
  case 2: /* one behind the other */
    at = h5_offset(h, c);
    if (at == H5_NOWHERE) return NULL;
    for (uint64_t i = 0; i < total; i++) TFSDK_TRY(read_numbered(v, i, at + i * size, size, 0));
    return NULL;
  case 3:
    (void)h5_skip(c, 1);
    at = h5_offset(h, c);
    return at == H5_NOWHERE ? NULL : read_fixed_array(v, at, total);
  default:
    return H5_UNREAD(h, c->at, "'%.100s' has chunks of a kind (%u) that is not read", v->d->name,
                     kind);
  }
}

static tfsdk_status *read_chunked(h5 *h, const h5_dataset *d, h5_cursor c, uint32_t version,
                                  unsigned char *to) {
  chunks v = {.h = h, .d = d, .to = to};
  uint64_t total = 0;
  uint32_t flags = version == 4 ? (uint32_t)h5_get(&c, 1) : 0;
  uint32_t axes = (uint32_t)h5_get(&c, 1);
  if (axes != d->space.rank + 1 || axes < 2)
    return H5_BAD(h, c.at, "the chunks of '%.100s' have %u axes", d->name, axes);
  v.rank = axes - 1;
  h5_cursor rest = c;
  if (version == 4) {
    uint32_t width = (uint32_t)h5_get(&rest, 1);
    for (uint32_t i = 0; i < axes; i++) v.dim[i] = h5_get(&rest, width <= 8 ? width : 8);
  } else {
    h5_cursor dims = c;
    (void)h5_offset(h, &dims);
    for (uint32_t i = 0; i < axes; i++) v.dim[i] = h5_get(&dims, 4);
    if (dims.cut) return H5_BAD(h, c.at, "a layout is cut off");
  }
  if (v.dim[v.rank] != d->type.size)
    return H5_BAD(h, c.at, "the chunks of '%.100s' are of another type", d->name);
  TFSDK_TRY(measure(&v, &total));
  if (d->has_filters) TFSDK_TRY(read_filters(h, &d->filters, &v));
  v.raw_cap = v.bytes + v.bytes / 8 + 1024; /* deflate adds little to what it cannot shrink */
  v.raw = memory_get(h->host, v.raw_cap);
  v.plain = memory_get(h->host, v.raw_cap);
  tfsdk_status *s =
      v.raw != NULL && v.plain != NULL ? walk(&v, &rest, version, flags, total) : NO_MEMORY(h);
  memory_give(h->host, v.raw, v.raw_cap);
  memory_give(h->host, v.plain, v.raw_cap);
  return s;
}

/* ---------------------------------------------------------------------------------- the dataset */

/* The value of elements that were never written. */
static void fill(const h5_dataset *d, unsigned char *to) {
  h5_cursor c = d->fill.body;
  uint64_t size = d->type.size, n;
  memset(to, 0, d->bytes);
  if (!d->has_fill) return;
  if (d->fill.type == H5_FILL) {
    uint32_t version = (uint32_t)h5_get(&c, 1);
    if (version == 3) {
      if (!(h5_get(&c, 1) & 32)) return;
    } else {
      (void)h5_skip(&c, 2);
      if (h5_get(&c, 1) == 0 && version == 2) return;
    }
  }
  n = h5_get(&c, 4);
  const unsigned char *value = n == size ? h5_skip(&c, size) : NULL;
  for (uint64_t at = 0; value != NULL && at + size <= d->bytes; at += size)
    memcpy(to + at, value, size);
}

tfsdk_status *h5_check_dataset(h5 *h, h5_dataset *d) {
  h5_cursor c = d->layout.body;
  uint32_t version = (uint32_t)h5_get(&c, 1), kind = (uint32_t)h5_get(&c, 1);
  d->plain = H5_NOWHERE;
  if (version != 3 && version != 4)
    return H5_UNREAD(h, d->layout.body.at, "'%.100s' has a layout of version %u", d->name, version);
  if (kind > 2)
    return H5_UNREAD(h, d->layout.body.at, "the data of '%.100s' lies in other files", d->name);
  uint64_t room =
      kind == 2 && h->bytes < UINT64_MAX / DEFLATE_LIMIT ? h->bytes * DEFLATE_LIMIT : h->bytes;
  if (kind == 1) {
    uint64_t at = h5_offset(h, &c), n = h5_length(h, &c);
    if (at == H5_NOWHERE) {
      room = (uint64_t)16 << 20; /* only a value to fill with is in the file */
    } else if (at > h->end || d->bytes > h->end - at || n < d->bytes) {
      return H5_BAD(h, at, "'%.100s' needs %llu bytes there, and the file has %llu", d->name,
                    (unsigned long long)d->bytes, (unsigned long long)h->end);
    } else {
      d->plain = at;
    }
  } else if (kind == 2) {
    h5_cursor chunk = c;
    if (version == 3) {
      (void)h5_get(&chunk, 1);
      if (h5_offset(h, &chunk) == H5_NOWHERE) room = (uint64_t)16 << 20;
    }
  }
  if (c.cut) return H5_BAD(h, c.at, "a layout is cut off");
  if (d->bytes > room)
    return H5_BAD(h, d->layout.body.at, "'%.100s' claims %llu bytes, and the file has %llu",
                  d->name, (unsigned long long)d->bytes, (unsigned long long)h->bytes);
  return NULL;
}

tfsdk_status *h5_read_dataset(h5 *h, h5_dataset *d, unsigned char *to) {
  h5_cursor c = d->layout.body;
  uint32_t version = (uint32_t)h5_get(&c, 1), kind = (uint32_t)h5_get(&c, 1);
  if (kind == 0) {
    uint64_t n = h5_get(&c, 2);
    const unsigned char *p = h5_skip(&c, d->bytes);
    if (p == NULL || n < d->bytes) return H5_BAD(h, c.at, "'%.100s' is cut off", d->name);
    memcpy(to, p, d->bytes);
    return NULL;
  }
  if (kind == 1 && d->plain != H5_NOWHERE) return h5_data(h, d->plain, to, d->bytes, "a dataset");
  fill(d, to);
  return kind == 2 && d->bytes > 0 ? read_chunked(h, d, c, version, to) : NULL;
}
