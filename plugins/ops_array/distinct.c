/* distinct.c - see distinct.h. */
#include "distinct.h"

static uint64_t mix(uint64_t h, uint64_t x) {
  h ^= x + UINT64_C(0x9e3779b97f4a7c15) + (h << 6) + (h >> 2);
  h *= UINT64_C(0xff51afd7ed558ccd);
  return h ^ (h >> 32);
}

static uint64_t hash_bytes(uint64_t h, const char *p, size_t n) {
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t x;
    memcpy(&x, p, 8);
    h = mix(h, x);
  }
  for (; n > 0; p++, n--) h = mix(h, (unsigned char)*p);
  return h;
}

static int is_float(const tfsdk_view *x) { return tfsdk_dtype_kind(x->dtype) == 'f'; }

static uint64_t hash_element(const tfsdk_view *x, int64_t k, uint64_t h) {
  size_t size = tfsdk_dtype_size(x->dtype);
  if (size == 0) {
    uint64_t bytes;
    const char *text = tfsdk_view_string(x, k, &bytes);
    return mix(hash_bytes(h, text, bytes), bytes);
  }
  if (is_float(x)) {
    double v = tfsdk_view_number(x, k);
    if (v == 0) v = 0; /* -0 */
    return hash_bytes(h, (const char *)&v, sizeof v);
  }
  return hash_bytes(h, (const char *)x->data + (size_t)k * size, size);
}

static int equal_elements(const tfsdk_view *a, int64_t i, const tfsdk_view *b, int64_t j) {
  size_t size = tfsdk_dtype_size(a->dtype);
  if (size == 0) {
    uint64_t m, n;
    const char *s = tfsdk_view_string(a, i, &m), *t = tfsdk_view_string(b, j, &n);
    return m == n && memcmp(s, t, m) == 0;
  }
  if (is_float(a)) return tfsdk_view_number(a, i) == tfsdk_view_number(b, j);
  return memcmp((const char *)a->data + (size_t)i * size, (const char *)b->data + (size_t)j * size,
                size) == 0;
}

static uint64_t hash_item(const array_items *s, int64_t i) {
  uint64_t h = 0;
  for (int64_t o = 0; o < s->outer; o++)
    for (int64_t k = 0; k < s->inner; k++) h = hash_element(s->x, (o * s->n + i) * s->inner + k, h);
  return h;
}

static int equal_items(const array_items *a, int64_t i, const array_items *b, int64_t j) {
  for (int64_t o = 0; o < a->outer; o++)
    for (int64_t k = 0; k < a->inner; k++)
      if (!equal_elements(a->x, (o * a->n + i) * a->inner + k, b->x, (o * b->n + j) * b->inner + k))
        return 0;
  return 1;
}

tfsdk_status *array_table_begin(tfsdk_run *r, const array_items *items, array_table *out) {
  void *room;
  out->items = *items;
  out->n_slots = 8;
  while (out->n_slots < 2 * items->n) out->n_slots *= 2;
  TFSDK_TRY(r->api->workspace(r, (size_t)out->n_slots * sizeof *out->slot, &room));
  out->slot = (int64_t *)room;
  for (int64_t i = 0; i < out->n_slots; i++) out->slot[i] = -1;
  return NULL;
}

int64_t array_table_find(array_table *t, const array_items *of, int64_t i, int add) {
  uint64_t mask = (uint64_t)t->n_slots - 1, at = hash_item(of, i) & mask;
  for (; t->slot[at] >= 0; at = (at + 1) & mask)
    if (equal_items(&t->items, t->slot[at], of, i)) return t->slot[at];
  if (add) t->slot[at] = i;
  return -1;
}

/* Appends the items whose positions are listed. */
typedef struct pick {
  const array_items *items;
  const int64_t *first;
  int64_t n;
} pick;

static void write(array_sink *s, const void *user) {
  const pick *p = (const pick *)user;
  const array_items *t = p->items;
  for (int64_t o = 0; o < t->outer; o++)
    for (int64_t k = 0; k < p->n; k++)
      array_put(s, t->x, (o * t->n + p->first[k]) * t->inner, 1, t->inner);
}

tfsdk_status *array_unique_axis(const tfsdk_infer *c, int32_t *out) {
  const tfsdk_view *v = array_value(c, 1);
  int32_t rank = c->in[0].shape.rank;
  *out = -1;
  if (rank == 0) return TFSDK_FAIL(c, INVALID_ARGUMENT, "'x' is a scalar");
  if (c->in[1].shape.rank > 1 || (v != NULL && v->n_elem > 1))
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "'axis' must have one member or none, but its shape is %s",
                      tfsdk_shape_text(&c->in[1].shape).s);
  if (v == NULL || rank < 0) return NULL;
  if (v->n_elem == 0 && rank != 1)
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "without an axis x must be a vector, but its shape is %s",
                      tfsdk_shape_text(&c->in[0].shape).s);
  return tfsdk_axis(c, v->n_elem > 0 ? tfsdk_view_int(v, 0) : 0, rank, out);
}

tfsdk_status *array_unique_run(tfsdk_run *r, int32_t axis) {
  const tfsdk_view *x = &r->in[0];
  int32_t at = axis < 0 ? 0 : axis;
  array_items items = {x, array_extent(x->dim, 0, at), x->dim[at],
                       array_extent(x->dim, at + 1, x->rank)};
  int64_t dim[TFSDK_MAX_RANK], *first, *number, *count, n = items.n;
  array_table table;
  pick p = {&items, NULL, 0};
  void *room;
  TFSDK_TRY(array_table_begin(r, &items, &table));
  TFSDK_TRY(r->api->workspace(r, (3 * (size_t)n + 1) * sizeof *first, &room));
  first = (int64_t *)room; /* of the k-th distinct item: its first position */
  number = first + n;      /* of an item: its number among the distinct ones */
  count = number + n;
  for (int64_t i = 0; i < n; i++) {
    int64_t same = array_table_find(&table, &items, i, 1);
    number[i] = same < 0 ? p.n : number[same];
    if (same < 0) {
      count[p.n] = 0;
      first[p.n++] = i;
    }
    count[number[i]]++;
  }
  p.first = first;
  for (int32_t k = 0; k < x->rank; k++) dim[k] = k == at ? p.n : x->dim[k];
  TFSDK_TRY(array_write_as(r, 0, x->rank, dim, write, &p));
  dim[0] = n;
  TFSDK_TRY(array_alloc(r, 1, 1, dim));
  for (int64_t i = 0; i < n; i++) array_set_index(&r->out[1], i, number[i]);
  if (r->n_out < 3) return NULL;
  dim[0] = p.n;
  TFSDK_TRY(array_alloc(r, 2, 1, dim));
  for (int64_t k = 0; k < p.n; k++) array_set_index(&r->out[2], k, count[k]);
  return NULL;
}
