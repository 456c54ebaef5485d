/* Batches: elements of equal shape become one with a new first axis. */
#include "dataset.h"

typedef struct batch {
  tfsdk_dataset base;
  int64_t size;
  bool drop_remainder;
} batch;

typedef struct batch_link {
  tfsdk__link base;
  TFSDK__VEC(tfsdk__item) held; /* what the batch being made is of; n is items */
  bool drained;
} batch_link;

static void drop_held(batch_link *it) {
  tfsdk__link_drop(it->base.input, it->held.data, it->held.n / it->base.input->d->width);
  it->held.n = 0;
}

static const char *shape_of(const tfsdk_tensor *t, tfsdk_text *room) {
  tfsdk_typed_shape s;
  tfsdk__tensor_typed_shape(t, &s);
  *room = tfsdk_shape_text(&s.shape);
  return room->s;
}

/* Component c of every element must be like that of the first. */
static tfsdk_status *check_alike(batch_link *it, uint32_t c) {
  tfsdk_dataset *d = it->base.d;
  const tfsdk_tensor *first = it->held.data[c].tensor;
  for (size_t i = c; i < it->held.n; i += d->n) {
    const tfsdk_tensor *t = it->held.data[i].tensor;
    bool same = t->dtype == first->dtype && t->rank == first->rank &&
                memcmp(t->dim, first->dim, t->rank * sizeof *t->dim) == 0;
    if (same) continue;
    tfsdk_text a, b;
    char name[100];
    if (d->name[c][0] != 0)
      snprintf(name, sizeof name, "'%s'", d->name[c]);
    else
      snprintf(name, sizeof name, "%u", c);
    return TFSDK_FAIL(d->rt, INVALID_ARGUMENT,
                      "batch: component %s is %s %s in the first element of a batch and %s %s in "
                      "element %zu",
                      name, tfsdk_dtype_name(first->dtype), shape_of(first, &a),
                      tfsdk_dtype_name(t->dtype), shape_of(t, &b), i / d->n);
  }
  return NULL;
}

static tfsdk_status *stack_strings(batch_link *it, uint32_t c, uint32_t rank, const int64_t *dim,
                                   tfsdk_tensor **out) {
  uint32_t n = it->base.d->n;
  uint64_t bytes = 0, at = 0;
  for (size_t i = c; i < it->held.n; i += n) {
    const tfsdk_tensor *t = it->held.data[i].tensor;
    bytes += ((const uint64_t *)t->data)[t->n_elem];
  }
  TFSDK_TRY(tfsdk__tensor_alloc_strings(it->base.rt, rank, dim, bytes, out));
  uint64_t *offset = (*out)->data;
  char *text = (char *)(offset + (*out)->n_elem + 1);
  for (size_t i = c; i < it->held.n; i += n) {
    const tfsdk_tensor *t = it->held.data[i].tensor;
    const uint64_t *from = t->data;
    for (int64_t k = 0; k < t->n_elem; k++) *offset++ = at + from[k];
    memcpy(text + at, from + t->n_elem + 1, from[t->n_elem]);
    at += from[t->n_elem];
  }
  *offset = at;
  return NULL;
}

static tfsdk_status *stack(batch_link *it, uint32_t c, tfsdk_tensor **out) {
  uint32_t n = it->base.d->n;
  const tfsdk_tensor *first = it->held.data[c].tensor;
  int64_t dim[TFSDK_MAX_RANK + 1];
  TFSDK_TRY(check_alike(it, c));
  TFSDK_REQUIRE(it->base.rt, first->cell == NULL,
                "batch: component %u is a variable, not its value", c);
  dim[0] = (int64_t)(it->held.n / n);
  memcpy(dim + 1, first->dim, first->rank * sizeof *dim);
  if (first->dtype == TFSDK_STRING) return stack_strings(it, c, first->rank + 1u, dim, out);
  TFSDK_TRY(tfsdk__tensor_alloc(tfsdk__device_host(it->base.rt), first->dtype, first->rank + 1u,
                                dim, out));
  char *to = (*out)->data;
  for (size_t i = c; first->byte_size > 0 && i < it->held.n; i += n) {
    tfsdk_view v;
    tfsdk_status *s =
        tfsdk_tensor_view(it->held.data[i].tensor, &v); /* from its device, if it must */
    if (s != NULL) {
      tfsdk_tensor_release(*out);
      return s;
    }
    memcpy(to, v.data, v.byte_size);
    to += v.byte_size;
  }
  return NULL;
}

static tfsdk_status *assemble(batch_link *it, tfsdk__item *out) {
  tfsdk_dataset *d = it->base.d, *rows = d->input->rows;
  tfsdk_status *s = NULL;
  _Static_assert(sizeof(tfsdk__item) == sizeof(int64_t), "rows are read as an array of int64_t");
  for (uint32_t c = 0; s == NULL && c < d->n; c++) {
    if (rows != NULL)
      s = tfsdk__dataset_gather(rows, c, &it->held.data[0].row, (int64_t)it->held.n,
                                &out[c].tensor);
    else
      s = stack(it, c, &out[c].tensor);
    while (s != NULL && c > 0) tfsdk_tensor_release(out[--c].tensor);
  }
  return s;
}

static tfsdk_status *batch_next(tfsdk__link *l, tfsdk__item *out, bool *out_end) {
  batch_link *it = (batch_link *)l;
  batch *d = (batch *)l->d;
  size_t width = l->input->d->width;
  while (!it->drained && (int64_t)(it->held.n / width) < d->size) {
    if (!TFSDK__GROW(l->rt, &it->held, width)) return TFSDK__NOMEM(l->rt);
    TFSDK_TRY(tfsdk__link_next(l->input, it->held.data + it->held.n, &it->drained));
    if (!it->drained) it->held.n += width;
  }
  *out_end = it->held.n == 0 || (d->drop_remainder && (int64_t)(it->held.n / width) < d->size);
  tfsdk_status *s = *out_end ? NULL : assemble(it, out);
  drop_held(it);
  return s;
}

static tfsdk_status *batch_rewind(tfsdk__link *l) {
  batch_link *it = (batch_link *)l;
  drop_held(it);
  it->drained = false;
  return tfsdk__link_rewind(l->input);
}

static void batch_close(tfsdk__link *l) {
  batch_link *it = (batch_link *)l;
  drop_held(it);
  tfsdk__free(l->rt, it->held.data);
}

/* Between two calls nothing is held. A batch that is not whole is the last one. */
static tfsdk_status *batch_skip(tfsdk__link *l, int64_t n, int64_t *out_skipped) {
  batch_link *it = (batch_link *)l;
  batch *d = (batch *)l->d;
  int64_t wanted, got = 0;
  *out_skipped = 0;
  if (it->drained) return NULL;
  if (__builtin_mul_overflow(n, d->size, &wanted)) wanted = INT64_MAX;
  TFSDK_TRY(tfsdk__link_skip(l->input, wanted, &got));
  it->drained = got < wanted;
  *out_skipped = got / d->size + (got % d->size > 0 && !d->drop_remainder);
  return NULL;
}

static const tfsdk__dataset_kind batch_kind = {.name = "batch",
                                               .dataset_bytes = sizeof(batch),
                                               .link_bytes = sizeof(batch_link),
                                               .next = batch_next,
                                               .rewind = batch_rewind,
                                               .close = batch_close,
                                               .skip = batch_skip};

tfsdk_status *tfsdk_dataset_batch(tfsdk_dataset *d, int64_t size, int32_t drop_remainder,
                                  tfsdk_dataset **out) {
  *out = NULL;
  TFSDK_REQUIRE(d->rt, size >= 1, "batch: a batch has 1 element or more; the size is %lld",
                (long long)size);
  TFSDK_TRY(tfsdk__dataset_over(d, &batch_kind, out));
  (*out)->rows = NULL;
  (*out)->width = d->n;
  ((batch *)*out)->size = size;
  ((batch *)*out)->drop_remainder = drop_remainder != 0;
  return NULL;
}
