/* Tensors: counted, immutable once produced, on any device. */
#include "internal.h"

tfsdk_status *tfsdk__shape_bytes(tfsdk_runtime *rt, int32_t dtype, uint32_t rank,
                                 const int64_t *dim, int64_t *out_n, uint64_t *out_bytes) {
  tfsdk_shape s = tfsdk_shape_scalar();
  if (rank > TFSDK_MAX_RANK)
    return TFSDK_FAIL(rt, INVALID_ARGUMENT, "rank %u is more than a tensor can have (%d)", rank,
                      TFSDK_MAX_RANK);
  s.rank = (int32_t)rank;
  for (uint32_t i = 0; i < rank; i++) {
    s.dim[i] = dim[i];
    if (dim[i] < 0)
      return TFSDK_FAIL(rt, INVALID_ARGUMENT, "extent %lld at axis %u of a shape is negative",
                        (long long)dim[i], i);
  }
  int64_t n = tfsdk_shape_elements(&s);
  uint64_t size = tfsdk_dtype_size(dtype), bytes;
  if (n < 0 || __builtin_mul_overflow((uint64_t)n, size ? size : 8, &bytes) || bytes > INT64_MAX)
    return TFSDK_FAIL(rt, RESOURCE_EXHAUSTED,
                      "shape %s of %s needs more bytes than can be addressed",
                      tfsdk_shape_text(&s).s, tfsdk_dtype_name(dtype));
  *out_n = n;
  *out_bytes = bytes;
  return NULL;
}

static tfsdk_tensor *make(tfsdk_runtime *rt, int32_t dtype, uint32_t rank, const int64_t *dim,
                          int64_t n, uint64_t bytes) {
  tfsdk_tensor *t = tfsdk__alloc(rt, sizeof *t + rank * sizeof t->dim[0]);
  if (t == NULL) return NULL;
  memset(t, 0, sizeof *t);
  atomic_init(&t->refs, 1);
  atomic_init(&t->host, NULL);
  t->rt = rt;
  t->id = atomic_fetch_add_explicit(&rt->next_tensor_id, 1, memory_order_relaxed);
  t->dtype = dtype;
  t->rank = (uint16_t)rank;
  t->n_elem = n;
  t->byte_size = bytes;
  for (uint32_t i = 0; i < rank; i++) t->dim[i] = dim[i];
  tfsdk__runtime_retain(rt);
  atomic_fetch_add_explicit(&rt->live_tensors, 1, memory_order_relaxed);
  return t;
}

static tfsdk_status *alloc_bytes(tfsdk__device *d, int32_t dtype, uint32_t rank, const int64_t *dim,
                                 int64_t n, uint64_t bytes, tfsdk_tensor **out) {
  tfsdk__buffer *b = NULL;
  if (bytes > 0) {
    tfsdk_status *s = tfsdk__buffer_create(d, bytes, &b);
    if (s != NULL) {
      tfsdk_shape shape = tfsdk_shape_scalar();
      shape.rank = (int32_t)rank;
      for (uint32_t i = 0; i < rank; i++) shape.dim[i] = dim[i];
      tfsdk__status_prefix(s, "a tensor of shape %s and type %s", tfsdk_shape_text(&shape).s,
                           tfsdk_dtype_name(dtype));
      return s;
    }
  }
  tfsdk_tensor *t = make(d->rt, dtype, rank, dim, n, bytes);
  if (t == NULL) {
    tfsdk__buffer_release(b);
    return TFSDK__NOMEM(d->rt);
  }
  t->buffer = b;
  t->data = b ? b->data : NULL;
  *out = t;
  return NULL;
}

tfsdk_status *tfsdk__tensor_alloc(tfsdk__device *d, int32_t dtype, uint32_t rank,
                                  const int64_t *dim, tfsdk_tensor **out) {
  int64_t n;
  uint64_t bytes;
  *out = NULL;
  TFSDK_TRY(tfsdk__shape_bytes(d->rt, dtype, rank, dim, &n, &bytes));
  if (tfsdk_dtype_size(dtype) == 0)
    return TFSDK_FAIL(d->rt, INVALID_ARGUMENT, "type %s (%d) has no fixed size",
                      tfsdk_dtype_name(dtype), dtype);
  return alloc_bytes(d, dtype, rank, dim, n, bytes, out);
}

tfsdk_status *tfsdk__tensor_alloc_strings(tfsdk_runtime *rt, uint32_t rank, const int64_t *dim,
                                          uint64_t bytes, tfsdk_tensor **out) {
  int64_t n;
  uint64_t offsets, total;
  *out = NULL;
  TFSDK_TRY(tfsdk__shape_bytes(rt, TFSDK_STRING, rank, dim, &n, &offsets));
  if (__builtin_add_overflow(offsets + 8, bytes, &total) || total > INT64_MAX)
    return TFSDK_FAIL(rt, RESOURCE_EXHAUSTED, "a string tensor of %llu bytes is too large",
                      (unsigned long long)bytes);
  return alloc_bytes(tfsdk__device_host(rt), TFSDK_STRING, rank, dim, n, total, out);
}

tfsdk_status *tfsdk_tensor_create_empty(tfsdk_runtime *rt, int32_t dtype, uint32_t rank,
                                        const int64_t *dim, void **out_data, tfsdk_tensor **out) {
  TFSDK_TRY(tfsdk__tensor_alloc(tfsdk__device_host(rt), dtype, rank, dim, out));
  if (out_data != NULL) *out_data = (*out)->data;
  return NULL;
}

tfsdk_status *tfsdk_tensor_create(tfsdk_runtime *rt, int32_t dtype, uint32_t rank,
                                  const int64_t *dim, const void *data, size_t bytes,
                                  tfsdk_tensor **out) {
  TFSDK_TRY(tfsdk__tensor_alloc(tfsdk__device_host(rt), dtype, rank, dim, out));
  uint64_t need = (*out)->byte_size;
  if (data != NULL && bytes != need) {
    tfsdk_tensor_release(*out);
    *out = NULL;
    return TFSDK_FAIL(rt, INVALID_ARGUMENT, "%llu bytes were given for a tensor that needs %llu",
                      (unsigned long long)bytes, (unsigned long long)need);
  }
  if (need > 0) {
    if (data != NULL)
      memcpy((*out)->data, data, need);
    else
      memset((*out)->data, 0, need);
  }
  return NULL;
}

tfsdk_status *tfsdk_tensor_create_strings(tfsdk_runtime *rt, uint32_t rank, const int64_t *dim,
                                          const char *const *strings, const size_t *lengths,
                                          tfsdk_tensor **out) {
  int64_t n;
  uint64_t ignored, bytes = 0;
  *out = NULL;
  TFSDK_TRY(tfsdk__shape_bytes(rt, TFSDK_STRING, rank, dim, &n, &ignored));
  for (int64_t i = 0; i < n; i++) bytes += lengths ? lengths[i] : strlen(strings[i]);
  TFSDK_TRY(tfsdk__tensor_alloc_strings(rt, rank, dim, bytes, out));
  uint64_t *offset = (*out)->data, at = 0;
  char *text = (char *)(offset + n + 1);
  for (int64_t i = 0; i < n; i++) {
    size_t len = lengths ? lengths[i] : strlen(strings[i]);
    offset[i] = at;
    memcpy(text + at, strings[i], len);
    at += len;
  }
  offset[n] = at;
  return NULL;
}

tfsdk_status *tfsdk_tensor_import(tfsdk_runtime *rt, int32_t dtype, uint32_t rank,
                                  const int64_t *dim, void *data, void (*release)(void *user),
                                  void *user, tfsdk_tensor **out) {
  int64_t n;
  uint64_t bytes;
  size_t size = tfsdk_dtype_size(dtype);
  *out = NULL;
  TFSDK_TRY(tfsdk__shape_bytes(rt, dtype, rank, dim, &n, &bytes));
  TFSDK_REQUIRE(rt, size != 0, "memory of type %s cannot be imported", tfsdk_dtype_name(dtype));
  TFSDK_REQUIRE(rt, (uintptr_t)data % (size > 8 ? 8 : size) == 0,
                "imported memory at %p is not aligned for %s", data, tfsdk_dtype_name(dtype));
  tfsdk__buffer *b = tfsdk__zalloc(rt, sizeof *b);
  tfsdk_tensor *t = b ? make(rt, dtype, rank, dim, n, bytes) : NULL;
  if (t == NULL) {
    tfsdk__free(rt, b);
    return TFSDK__NOMEM(rt);
  }
  static const char nothing = 0;
  atomic_init(&b->refs, 1);
  b->device = tfsdk__device_host(rt);
  b->data = data ? data : (void *)(uintptr_t)&nothing;
  b->release = release;
  b->user = user;
  t->buffer = b;
  t->data = b->data;
  *out = t;
  return NULL;
}

tfsdk_status *tfsdk__tensor_alias(tfsdk_tensor *t, uint32_t rank, const int64_t *dim,
                                  tfsdk_tensor **out) {
  tfsdk_tensor *a = make(t->rt, t->dtype, rank, dim, t->n_elem, t->byte_size);
  if (a == NULL) return TFSDK__NOMEM(t->rt);
  a->flags = t->flags;
  a->buffer = t->buffer;
  a->data = t->data;
  a->cell = t->cell;
  if (a->buffer != NULL) atomic_fetch_add_explicit(&a->buffer->refs, 1, memory_order_relaxed);
  if (a->cell != NULL) atomic_fetch_add_explicit(&a->cell->refs, 1, memory_order_relaxed);
  *out = a;
  return NULL;
}

tfsdk_status *tfsdk__tensor_ghost(tfsdk_tensor *t, tfsdk_tensor **out) {
  tfsdk_tensor *a = make(t->rt, t->dtype, t->rank, t->dim, t->n_elem, t->byte_size);
  if (a == NULL) return TFSDK__NOMEM(t->rt);
  a->id = t->id;
  a->flags = TFSDK__TENSOR_SHAPE_ONLY;
  *out = a;
  return NULL;
}

tfsdk_status *tfsdk__tensor_resource(tfsdk__cell *cell, tfsdk_tensor **out) {
  int64_t dim[TFSDK_MAX_RANK];
  uint32_t rank = cell->shape.rank < 0 ? 0 : (uint32_t)cell->shape.rank;
  for (uint32_t i = 0; i < rank; i++) dim[i] = cell->shape.dim[i];
  tfsdk_tensor *t = make(cell->rt, TFSDK_RESOURCE, rank, dim, 1, 0);
  if (t == NULL) return TFSDK__NOMEM(cell->rt);
  t->cell = cell;
  atomic_fetch_add(&cell->refs, 1);
  *out = t;
  return NULL;
}

tfsdk_tensor *tfsdk_tensor_retain(tfsdk_tensor *t) {
  atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
  return t;
}

void tfsdk_tensor_release(tfsdk_tensor *t) {
  if (t == NULL || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1) return;
  tfsdk_runtime *rt = t->rt;
  tfsdk_tensor_release(atomic_load(&t->host));
  tfsdk__buffer_release(t->buffer);
  tfsdk__cell_release(t->cell);
  tfsdk__free(rt, t);
  atomic_fetch_sub_explicit(&rt->live_tensors, 1, memory_order_relaxed);
  tfsdk__runtime_unref(rt);
}

int32_t tfsdk_tensor_dtype(const tfsdk_tensor *t) { return t->dtype; }
int32_t tfsdk_tensor_rank(const tfsdk_tensor *t) { return t->rank; }
const int64_t *tfsdk_tensor_dims(const tfsdk_tensor *t) { return t->dim; }
int64_t tfsdk_tensor_elements(const tfsdk_tensor *t) { return t->n_elem; }
uint64_t tfsdk_tensor_bytes(const tfsdk_tensor *t) { return t->byte_size; }
const char *tfsdk_tensor_device(const tfsdk_tensor *t) { return tfsdk__tensor_where(t)->name; }
const char *tfsdk_tensor_resource_name(const tfsdk_tensor *t) {
  return t->cell ? t->cell->name : NULL;
}

void tfsdk__tensor_fill_view(const tfsdk_tensor *t, tfsdk_view *v) {
  v->data = t->data;
  v->dim = t->dim;
  v->n_elem = t->n_elem;
  v->byte_size = t->byte_size;
  v->dtype = t->dtype;
  v->rank = t->rank;
  v->flags = (t->flags & TFSDK__TENSOR_SHAPE_ONLY) ? TFSDK_VIEW_SHAPE_ONLY : 0;
  v->stamp = t->buffer ? atomic_load_explicit(&t->buffer->stamp, memory_order_relaxed) : 0;
}

static tfsdk_status *copy_to(tfsdk_tensor *t, tfsdk__device *to, tfsdk_tensor **out) {
  tfsdk__device *from = tfsdk__tensor_where(t);
  tfsdk_tensor *staged = NULL, *copy = NULL;
  if (!from->host_memory && !to->host_memory && from->driver != to->driver) {
    TFSDK_TRY(
        copy_to(t, tfsdk__device_host(t->rt), &staged)); /* two unlike devices: over the host */
    t = staged;
    from = tfsdk__tensor_where(t);
  }
  tfsdk_status *s = alloc_bytes(to, t->dtype, t->rank, t->dim, t->n_elem, t->byte_size, &copy);
  if (s == NULL && t->byte_size > 0) {
    tfsdk__device *driver = to->host_memory ? from : to;
    if (driver->host_memory)
      memcpy(copy->data, t->data, t->byte_size);
    else
      s = driver->driver->def.copy(
          driver->dev, NULL, copy->data, to->host_memory ? TFSDK_HEAP_HOST : TFSDK_HEAP_DEVICE,
          t->data, from->host_memory ? TFSDK_HEAP_HOST : TFSDK_HEAP_DEVICE, t->byte_size);
  }
  tfsdk_tensor_release(staged);
  if (s != NULL)
    tfsdk_tensor_release(copy);
  else
    *out = copy;
  return s;
}

tfsdk_status *tfsdk__tensor_on(tfsdk_tensor *t, tfsdk__device *d, tfsdk_tensor **out) {
  tfsdk__device *from = tfsdk__tensor_where(t);
  if (from == d || t->cell != NULL || t->byte_size == 0 || (t->flags & TFSDK__TENSOR_SHAPE_ONLY) ||
      (from->host_memory && d->host_memory) ||
      t->dtype == TFSDK_STRING) { /* strings never leave the host */
    *out = tfsdk_tensor_retain(t);
    return NULL;
  }
  return copy_to(t, d, out);
}

tfsdk_status *tfsdk_tensor_to_device(tfsdk_tensor *t, const char *device, tfsdk_tensor **out) {
  tfsdk__device *d;
  *out = NULL;
  TFSDK_TRY(tfsdk__device_find(t->rt, device, &d));
  if (t->dtype == TFSDK_STRING && !d->host_memory)
    return TFSDK_FAIL(t->rt, INVALID_ARGUMENT, "strings stay in host memory; they cannot go to %s",
                      d->name);
  return tfsdk__tensor_on(t, d, out);
}

tfsdk_status *tfsdk_tensor_view(tfsdk_tensor *t, tfsdk_view *out) {
  if (!tfsdk__tensor_where(t)->host_memory && t->byte_size > 0) {
    tfsdk_tensor *host = atomic_load(&t->host), *expected = NULL;
    if (host == NULL) {
      TFSDK_TRY(copy_to(t, tfsdk__device_host(t->rt), &host));
      if (!atomic_compare_exchange_strong(&t->host, &expected, host)) {
        tfsdk_tensor_release(host); /* another thread was first */
        host = expected;
      }
    }
    t = host;
  }
  tfsdk__tensor_fill_view(t, out);
  return NULL;
}

tfsdk_status *tfsdk_tensor_reshape(tfsdk_tensor *t, uint32_t rank, const int64_t *dim,
                                   tfsdk_tensor **out) {
  tfsdk_shape s = tfsdk_shape_scalar();
  int32_t unknown = -1;
  *out = NULL;
  TFSDK_REQUIRE(t->rt, rank <= TFSDK_MAX_RANK, "rank %u is more than a tensor can have (%d)", rank,
                TFSDK_MAX_RANK);
  s.rank = (int32_t)rank;
  for (uint32_t i = 0; i < rank; i++) {
    s.dim[i] = dim[i];
    TFSDK_REQUIRE(t->rt, dim[i] >= -1, "extent %lld of a shape is negative", (long long)dim[i]);
    TFSDK_REQUIRE(t->rt, dim[i] >= 0 || unknown < 0, "a shape may have only one -1");
    if (dim[i] < 0) {
      unknown = (int32_t)i;
      s.dim[i] = 1;
    }
  }
  int64_t rest = tfsdk_shape_elements(&s);
  if (unknown >= 0 && rest > 0 && t->n_elem % rest == 0) {
    s.dim[unknown] = t->n_elem / rest;
    rest = t->n_elem;
  }
  if (rest != t->n_elem || (unknown >= 0 && rest == 0 && t->n_elem == 0 && s.dim[unknown] == 1)) {
    if (unknown >= 0) s.dim[unknown] = -1;
    return TFSDK_FAIL(t->rt, INVALID_ARGUMENT, "%lld elements cannot take the shape %s",
                      (long long)t->n_elem, tfsdk_shape_text(&s).s);
  }
  return tfsdk__tensor_alias(t, rank, s.dim, out);
}
