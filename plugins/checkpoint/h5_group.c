/* HDF5: the objects of a group. Old groups are a tree of symbol tables with names in a local heap;
 * new ones have their links in the header, or, when there are many, in a heap with a tree of names
 * over it. See h5.h. */
#include <string.h>

#include "h5.h"

/* ----------------------------------------------------------------------------------- old groups */

typedef struct names {
  h5_cursor heap; /* its data */
  h5_link_fn *fn;
  void *user;
} names;

static tfsdk_status *read_heap(h5 *h, uint64_t at, names *v) {
  h5_cursor c;
  uint64_t n = 8 + 2 * (uint64_t)h->length_size + h->offset_size;
  TFSDK_TRY(h5_signed(h, at, n, "HEAP", &c));
  (void)h5_skip(&c, 4);
  uint64_t size = h5_length(h, &c);
  (void)h5_length(h, &c);
  return h5_piece(h, h5_offset(h, &c), size, "a group's names", &v->heap);
}

static tfsdk_status *read_symbols(h5 *h, uint64_t at, names *v) {
  h5_cursor c;
  TFSDK_TRY(h5_signed(h, at, 8, "SNOD", &c));
  (void)h5_skip(&c, 2);
  uint64_t n = h5_get(&c, 2), size = 2 * (uint64_t)h->offset_size + 24;
  TFSDK_TRY(h5_piece(h, at + 8, n * size, "a group's entries", &c));
  for (uint64_t i = 0; i < n; i++) {
    uint64_t name = h5_offset(h, &c), object = h5_offset(h, &c), cached = h5_get(&c, 4);
    (void)h5_skip(&c, 20);
    uint64_t room = (uint64_t)(v->heap.end - v->heap.p);
    if (name >= room) return H5_BAD(h, c.at, "a name lies outside of its heap");
    const char *text = (const char *)v->heap.p + name;
    size_t k = strnlen(text, room - name);
    if (k == room - name) return H5_BAD(h, v->heap.at + name, "a name does not end");
    if (cached == 2 || object == H5_NOWHERE) continue; /* a soft link */
    TFSDK_TRY(v->fn(v->user, h, text, object));
  }
  return NULL;
}

static tfsdk_status *read_tree(h5 *h, uint64_t at, int32_t above, names *v) {
  h5_cursor c;
  uint64_t head = 8 + 2 * (uint64_t)h->offset_size;
  TFSDK_TRY(h5_signed(h, at, head, "TREE", &c));
  uint32_t kind = (uint32_t)h5_get(&c, 1);
  int32_t level = (int32_t)h5_get(&c, 1);
  uint64_t n = h5_get(&c, 2);
  if (kind != 0 || (above >= 0 && level >= above))
    return H5_BAD(h, at, "a group's tree is damaged");
  TFSDK_TRY(h5_piece(h, at + head, n * (h->length_size + h->offset_size), "a group's tree", &c));
  for (uint64_t i = 0; i < n; i++) {
    (void)h5_length(h, &c);
    uint64_t child = h5_offset(h, &c);
    TFSDK_TRY(level > 0 ? read_tree(h, child, level, v) : read_symbols(h, child, v));
  }
  return NULL;
}

/* ---------------------------------------------------------------------------------------- links */

typedef struct links {
  h5_link_fn *fn;
  void *user;
} links;

static tfsdk_status *read_link(void *user, h5 *h, h5_cursor c) {
  const links *v = user;
  uint64_t at = c.at;
  uint32_t version = (uint32_t)h5_get(&c, 1), flags = (uint32_t)h5_get(&c, 1);
  uint32_t kind = flags & 8 ? (uint32_t)h5_get(&c, 1) : 0;
  if (version != 1) return H5_UNREAD(h, at, "version %u of links", version);
  if (flags & 4) (void)h5_skip(&c, 8);
  if (flags & 16) (void)h5_skip(&c, 1);
  uint64_t n = h5_get(&c, 1u << (flags & 3));
  const unsigned char *p = h5_skip(&c, n);
  if (p == NULL) return H5_BAD(h, at, "a link is cut off");
  char *name = arena_text(h->memory, (const char *)p, n);
  if (name == NULL) return NO_MEMORY(h);
  if (kind != 0) return NULL; /* to a name, or to another file */
  uint64_t object = h5_offset(h, &c);
  if (c.cut) return H5_BAD(h, at, "a link is cut off");
  return v->fn(v->user, h, name, object);
}

tfsdk_status *h5_each_link(h5 *h, const h5_object *o, h5_link_fn *fn, void *user) {
  const h5_message *symbols = h5_find(o, H5_SYMBOLS), *info = h5_find(o, H5_LINK_INFO);
  if (symbols != NULL) {
    h5_cursor c = symbols->body;
    names v = {.fn = fn, .user = user};
    uint64_t tree = h5_offset(h, &c), heap = h5_offset(h, &c);
    if (c.cut) return H5_BAD(h, c.at, "a group's message is cut off");
    TFSDK_TRY(read_heap(h, heap, &v));
    return read_tree(h, tree, -1, &v);
  }
  links v = {fn, user};
  for (size_t i = 0; i < o->n; i++)
    if (o->list[i].type == H5_LINK) TFSDK_TRY(read_link(&v, h, o->list[i].body));
  if (info == NULL) return NULL;
  h5_cursor c = info->body;
  (void)h5_skip(&c, 1);
  uint32_t flags = (uint32_t)h5_get(&c, 1);
  if (flags & 1) (void)h5_skip(&c, 8);
  uint64_t heap = h5_offset(h, &c), tree = h5_offset(h, &c);
  if (c.cut) return H5_BAD(h, c.at, "a group's message is cut off");
  return heap == H5_NOWHERE ? NULL : h5_each_dense(h, tree, heap, 5, 4, read_link, &v);
}

/* --------------------------------------------------------------------------- the heap of objects */

/* A "fractal heap": a space of addresses cut into blocks, `width` to a row; a block of row r > 1 is
 * twice as large as one of row r - 1. */
typedef struct heap {
  uint64_t id_size, start, most_direct, root;
  uint32_t width, bits, rows, offset_bytes, length_bytes;
} heap;

static uint32_t log2_of(uint64_t x) {
  uint32_t n = 0;
  while (x > 1) {
    x >>= 1;
    n++;
  }
  return n;
}

static tfsdk_status *read_fractal(h5 *h, uint64_t at, heap *v) {
  h5_cursor c;
  uint64_t n = 22 + 12 * (uint64_t)h->length_size + 3 * (uint64_t)h->offset_size + 4;
  TFSDK_TRY(h5_signed(h, at, n, "FRHP", &c));
  (void)h5_skip(&c, 1);
  v->id_size = h5_get(&c, 2);
  uint64_t filters = h5_get(&c, 2);
  (void)h5_skip(&c, 1);
  uint64_t most_object = h5_get(&c, 4);
  (void)h5_skip(&c, h->length_size + (uint64_t)h->offset_size); /* large objects */
  (void)h5_skip(&c, h->length_size + (uint64_t)h->offset_size); /* free space */
  (void)h5_skip(&c, 8 * (uint64_t)h->length_size);              /* counts */
  v->width = (uint32_t)h5_get(&c, 2);
  v->start = h5_length(h, &c);
  v->most_direct = h5_length(h, &c);
  v->bits = (uint32_t)h5_get(&c, 2);
  (void)h5_skip(&c, 2);
  v->root = h5_offset(h, &c);
  v->rows = (uint32_t)h5_get(&c, 2);
  if (c.cut) return H5_BAD(h, at, "a heap is cut off");
  if (filters != 0) return H5_UNREAD(h, at, "a heap with filters");
  bool fits = v->width > 0 && v->width <= 1024 && v->start > 0 && v->start <= v->most_direct &&
              v->bits >= 8 && v->bits <= 64 && v->rows <= 64 && (v->start & (v->start - 1)) == 0 &&
              (v->most_direct & (v->most_direct - 1)) == 0 && v->most_direct <= (uint64_t)1 << 40;
  if (!fits) return H5_BAD(h, at, "a heap is damaged");
  v->offset_bytes = (v->bits + 7) / 8;
  uint64_t most = v->most_direct < most_object ? v->most_direct : most_object;
  v->length_bytes = log2_of(most) / 8 + 1;
  return NULL;
}

/* The block that has byte `offset` of the space: where byte 0 of the space would lie if the block
 * went on to it, so that adding the offset gives the place. */
static tfsdk_status *find_block(h5 *h, const heap *v, uint64_t at, uint32_t rows, uint64_t base,
                                uint64_t offset, int depth, uint64_t *out_at, uint64_t *out_left) {
  uint32_t direct = log2_of(v->most_direct) - log2_of(v->start) + 2;
  h5_cursor c;
  if (depth > 8) return H5_BAD(h, at, "a heap is nested too deep");
  uint64_t head = 5 + (uint64_t)h->offset_size + v->offset_bytes;
  TFSDK_TRY(h5_signed(h, at, head + (uint64_t)rows * v->width * h->offset_size, "FHIB", &c));
  (void)h5_skip(&c, head - 4);
  for (uint32_t r = 0; r < rows; r++) {
    uint64_t size = r < 2 ? v->start : r - 1 < 63 ? v->start << (r - 1) : 0;
    if (size == 0 || size >> (r < 2 ? 0 : r - 1) != v->start)
      return H5_BAD(h, at, "a heap is larger than addresses go");
    for (uint32_t k = 0; k < v->width; k++) {
      uint64_t child = h5_offset(h, &c);
      if (offset >= base && offset - base < size) {
        if (child == H5_NOWHERE) return H5_BAD(h, at, "a heap has no such block");
        if (r < direct) {
          *out_at = child + (offset - base);
          *out_left = size - (offset - base);
          return NULL;
        }
        uint32_t inner = log2_of(size) - log2_of(v->start) - log2_of(v->width) + 1;
        if (inner > 64) return H5_BAD(h, at, "a heap is damaged");
        return find_block(h, v, child, inner, base, offset, depth + 1, out_at, out_left);
      }
      if (__builtin_add_overflow(base, size, &base))
        return H5_BAD(h, at, "a heap is larger than addresses go");
    }
  }
  return H5_BAD(h, at, "an object lies outside of its heap");
}

static tfsdk_status *heap_object(h5 *h, const heap *v, h5_cursor id, h5_cursor *out) {
  uint64_t at = id.at, place, left;
  uint32_t kind = (uint32_t)h5_get(&id, 1) >> 4 & 3;
  if (kind != 0) return H5_UNREAD(h, at, "objects outside of a heap's blocks");
  uint64_t offset = h5_get(&id, v->offset_bytes), n = h5_get(&id, v->length_bytes);
  if (id.cut) return H5_BAD(h, at, "an object's place is cut off");
  if (v->rows == 0) {
    if (offset >= v->start) return H5_BAD(h, at, "an object lies outside of its heap");
    place = v->root + offset;
    left = v->start - offset;
  } else {
    TFSDK_TRY(find_block(h, v, v->root, v->rows, 0, offset, 0, &place, &left));
  }
  if (n > left) return H5_BAD(h, place, "an object is larger than its block");
  return h5_piece(h, place, n, "an object of a heap", out);
}

/* ------------------------------------------------------------------------------ trees of records */

typedef struct tree {
  uint32_t kind, node_size, record, depth;
  uint32_t count_bytes, total_bytes[16]; /* of pointers, by the child's depth */
  const heap *heap;
  uint32_t id_at;
  h5_dense_fn *fn;
  void *user;
} tree;

static tfsdk_status *each_record(h5 *h, const tree *t, h5_cursor *c, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    h5_cursor r = {c->p, NULL, c->at, false}, object;
    if (h5_skip(c, t->record) == NULL) return H5_BAD(h, c->at, "a node is cut off");
    r.end = c->p;
    (void)h5_skip(&r, t->id_at);
    TFSDK_TRY(heap_object(h, t->heap, r, &object));
    TFSDK_TRY(t->fn(t->user, h, object));
  }
  return NULL;
}

static tfsdk_status *read_node(h5 *h, const tree *t, uint64_t at, uint32_t depth, uint64_t n) {
  h5_cursor c;
  TFSDK_TRY(h5_signed(h, at, t->node_size, depth > 0 ? "BTIN" : "BTLF", &c));
  (void)h5_skip(&c, 1);
  if (h5_get(&c, 1) != t->kind) return H5_BAD(h, at, "a node is of another tree");
  TFSDK_TRY(each_record(h, t, &c, n));
  for (uint64_t i = 0; depth > 0 && i <= n; i++) {
    uint64_t child = h5_offset(h, &c), count = h5_get(&c, t->count_bytes);
    if (depth > 1) (void)h5_get(&c, t->total_bytes[depth - 1]);
    if (c.cut) return H5_BAD(h, c.at, "a node is cut off");
    TFSDK_TRY(read_node(h, t, child, depth - 1, count));
  }
  return NULL;
}

/* How wide counts are follows from how many records fit. */
static void measure(h5 *h, tree *t) {
  uint64_t most = t->node_size > 10 ? (t->node_size - 10) / t->record : 0, total = most;
  t->count_bytes = log2_of(most) / 8 + 1;
  t->total_bytes[0] = t->count_bytes;
  for (uint32_t d = 1; d < 16; d++) {
    uint64_t pointer = h->offset_size + t->count_bytes + (d > 1 ? t->total_bytes[d - 1] : 0);
    uint64_t fit =
        t->node_size > 10 + pointer ? (t->node_size - 10 - pointer) / (t->record + pointer) : 0;
    if (__builtin_mul_overflow(fit + 1, total, &total)) total = UINT64_MAX;
    if (__builtin_add_overflow(total, fit, &total)) total = UINT64_MAX;
    t->total_bytes[d] = log2_of(total) / 8 + 1;
  }
}

tfsdk_status *h5_each_dense(h5 *h, uint64_t at, uint64_t heap_at, uint32_t record_type,
                            uint32_t id_at, h5_dense_fn *fn, void *user) {
  heap v;
  tree t = {.kind = record_type, .heap = &v, .id_at = id_at, .fn = fn, .user = user};
  h5_cursor c;
  TFSDK_TRY(read_fractal(h, heap_at, &v));
  TFSDK_TRY(h5_signed(h, at, 18 + (uint64_t)h->offset_size + h->length_size, "BTHD", &c));
  (void)h5_skip(&c, 1);
  uint32_t kind = (uint32_t)h5_get(&c, 1);
  t.node_size = (uint32_t)h5_get(&c, 4);
  t.record = (uint32_t)h5_get(&c, 2);
  t.depth = (uint32_t)h5_get(&c, 2);
  (void)h5_skip(&c, 2);
  uint64_t root = h5_offset(h, &c), n = h5_get(&c, 2);
  if (kind != record_type || t.record <= id_at || t.node_size < 16 || t.depth > 14)
    return H5_BAD(h, at, "a tree of names is damaged");
  measure(h, &t);
  return n == 0 && t.depth == 0 ? NULL : read_node(h, &t, root, t.depth, n);
}
