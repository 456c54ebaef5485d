/* array.c - the helpers of array.h. */
#include "array.h"

/* ---------------------------------------------------------------------------------- shape rules */

tfsdk_status *array_mul(const tfsdk_infer *c, int64_t a, int64_t b, const char *what,
                        int64_t *out) {
  if (a > 0 && b > INT64_MAX / a)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "%s: %lld * %lld passes 2^63 - 1", what, (long long)a,
                      (long long)b);
  *out = a * b;
  return NULL;
}

tfsdk_status *array_add(const tfsdk_infer *c, int64_t a, int64_t b, const char *what,
                        int64_t *out) {
  if (b > INT64_MAX - a)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "%s: %lld + %lld passes 2^63 - 1", what, (long long)a,
                      (long long)b);
  *out = a + b;
  return NULL;
}

tfsdk_status *array_shape_arg(const tfsdk_infer *c, uint32_t i, const char *what,
                              tfsdk_shape *out) {
  const tfsdk_view *v = array_value(c, i);
  const tfsdk_shape *s = &c->in[i].shape;
  if (s->rank > 1)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "%s must be a vector of extents, but its shape is %s",
                      what, tfsdk_shape_text(s).s);
  if (v != NULL) {
    TFSDK_TRY(tfsdk_value_shape(c, v, what, out));
    for (int32_t k = 0; k < out->rank; k++)
      if (out->dim[k] < 0)
        return TFSDK_FAIL(c, INVALID_ARGUMENT, "%s: extent %lld at position %d is negative", what,
                          (long long)out->dim[k], (int)k);
    return NULL;
  }
  *out = tfsdk_shape_unknown();
  if (s->rank == 1 && s->dim[0] >= 0) {
    if (s->dim[0] > TFSDK_MAX_RANK)
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "%s has %lld members, but tensors have at most rank %d", what,
                        (long long)s->dim[0], TFSDK_MAX_RANK);
    *out = tfsdk_shape_of_rank((int32_t)s->dim[0]);
  }
  return NULL;
}

tfsdk_status *array_ints_arg(const tfsdk_infer *c, uint32_t i, const char *what, int64_t n,
                             int64_t *out, int *known) {
  const tfsdk_view *v = array_value(c, i);
  const tfsdk_shape *s = &c->in[i].shape;
  *known = 0;
  if (s->rank > 1 || (s->rank == 1 && s->dim[0] >= 0 && s->dim[0] != n) || (s->rank == 0 && n != 1))
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "%s must be a vector of %lld integers, but its shape is %s", what,
                      (long long)n, tfsdk_shape_text(s).s);
  if (v == NULL) return NULL;
  for (int64_t k = 0; k < n; k++) out[k] = tfsdk_view_int(v, k);
  *known = 1;
  return NULL;
}

tfsdk_status *array_scalar_arg(const tfsdk_infer *c, uint32_t i) {
  const tfsdk_shape *s = &c->in[i].shape;
  const char *name = c->op->in[i < c->op->n_in ? i : (uint32_t)c->op->n_in - 1].name;
  if (s->rank > 1 || (s->rank == 1 && s->dim[0] >= 0 && s->dim[0] != 1))
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'%s' must be a scalar, but its shape is %s", name,
                      tfsdk_shape_text(s).s);
  return NULL;
}

tfsdk_status *array_axis_arg(const tfsdk_infer *c, uint32_t i, int32_t rank, int32_t *out) {
  const tfsdk_view *v = array_value(c, i);
  TFSDK_TRY(array_scalar_arg(c, i));
  *out = -1;
  if (v == NULL || rank < 0) return NULL;
  return tfsdk_axis(c, tfsdk_view_int(v, 0), rank, out);
}

int64_t array_extent(const int64_t *dim, int32_t from, int32_t to) {
  int64_t n = 1;
  for (int32_t i = from; i < to; i++) {
    if (dim[i] < 0) return -1;
    n = (int64_t)((uint64_t)n * (uint64_t)dim[i]); /* only an empty tensor's can pass 2^63 - 1 */
  }
  return n;
}

/* ------------------------------------------------------------------------------- moving elements
 */

#define MOVE(type)                                                                                 \
  do {                                                                                             \
    type *d = (type *)(void *)dst;                                                                 \
    const type *s = (const type *)(const void *)src;                                               \
    for (int64_t i = 0; i < n; i++) d[i * dst_stride] = s[i * src_stride];                         \
  } while (0)

typedef struct pair {
  uint64_t a, b;
} pair;

void array_move(char *dst, int64_t dst_stride, const char *src, int64_t src_stride, size_t size,
                int64_t n) {
  if (n <= 0) return;
  if (dst_stride == 1 && src_stride == 1) {
    memcpy(dst, src, (size_t)n * size);
    return;
  }
  switch (size) {
  case 1: MOVE(uint8_t); break;
  case 2: MOVE(uint16_t); break;
  case 4: MOVE(uint32_t); break;
  case 8: MOVE(uint64_t); break;
  case 16: MOVE(pair); break;
  default: break;
  }
}

void array_put(array_sink *s, const tfsdk_view *from, int64_t first, int64_t stride, int64_t n) {
  if (n <= 0) return;
  if (s->size != 0) {
    array_move(s->at, 1, (const char *)from->data + (size_t)first * s->size, stride, s->size, n);
    s->at += (size_t)n * s->size;
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    uint64_t bytes;
    const char *text = tfsdk_view_string(from, first + i * stride, &bytes);
    if (s->at != NULL) {
      memcpy(s->at, text, bytes);
      s->at += bytes;
      *s->offset++ = s->bytes;
    }
    s->bytes += bytes;
  }
}

void array_put_zeros(array_sink *s, int64_t n) {
  if (n <= 0) return;
  if (s->size != 0) {
    memset(s->at, 0, (size_t)n * s->size);
    s->at += (size_t)n * s->size;
  } else if (s->at != NULL) {
    for (int64_t i = 0; i < n; i++) *s->offset++ = s->bytes;
  }
}

tfsdk_status *array_alloc(tfsdk_run *r, uint32_t o, uint32_t rank, const int64_t *dim) {
  const tfsdk_view *out = &r->out[o];
  int same = out->rank == rank && (out->data != NULL || (out->dim != NULL && out->n_elem == 0));
  for (uint32_t i = 0; same && i < rank; i++) same = out->dim[i] == dim[i];
  return same ? NULL : r->api->alloc_out(r, o, rank, dim);
}

tfsdk_status *array_write_as(tfsdk_run *r, uint32_t o, uint32_t rank, const int64_t *dim,
                             array_write_fn *fn, const void *user) {
  tfsdk_view *out = &r->out[o];
  array_sink s = {0};
  int empty = 0;
  if (out->dtype != TFSDK_STRING) {
    TFSDK_TRY(array_alloc(r, o, rank, dim));
    return array_write(r, o, fn, user);
  }
  for (uint32_t i = 0; i < rank; i++) empty |= dim[i] == 0;
  if (!empty) fn(&s, user);
  TFSDK_TRY(r->api->alloc_strings(r, o, rank, dim, s.bytes));
  if (empty) {
    *(uint64_t *)out->data = 0;
    return NULL;
  }
  s.bytes = 0;
  s.offset = (uint64_t *)out->data;
  s.at = (char *)(s.offset + out->n_elem + 1);
  fn(&s, user);
  *s.offset = s.bytes;
  return NULL;
}

tfsdk_status *array_write(tfsdk_run *r, uint32_t o, array_write_fn *fn, const void *user) {
  const tfsdk_view *out = &r->out[o];
  if (out->dtype == TFSDK_STRING) {
    int64_t dim[TFSDK_MAX_RANK]; /* alloc_strings may move what out->dim points to */
    for (uint32_t i = 0; i < out->rank; i++) dim[i] = out->dim[i];
    return array_write_as(r, o, out->rank, dim, fn, user);
  }
  if (out->n_elem > 0) {
    array_sink s = {tfsdk_dtype_size(out->dtype), (char *)out->data, NULL, 0};
    fn(&s, user);
  }
  return NULL;
}

void array_strides(const int64_t *dim, int32_t rank, int64_t *out) {
  int64_t n = 1;
  for (int32_t i = rank; i-- > 0;) {
    out[i] = n;
    n = (int64_t)((uint64_t)n * (uint64_t)dim[i]); /* only an empty tensor's can pass 2^63 - 1 */
  }
}

void array_walk_rows(const array_walk *w, array_row_fn *fn, void *user) {
  int64_t dim[2 * TFSDK_MAX_RANK], stride[2 * TFSDK_MAX_RANK], at[2 * TFSDK_MAX_RANK];
  int64_t first = w->first;
  int32_t rank = 0;
  for (int32_t i = 0; i < w->rank; i++) {
    if (w->dim[i] <= 0) return;
    if (w->dim[i] == 1) continue;
    if (rank > 0 && stride[rank - 1] == w->stride[i] * w->dim[i]) {
      dim[rank - 1] *= w->dim[i];
      stride[rank - 1] = w->stride[i];
      continue;
    }
    dim[rank] = w->dim[i];
    stride[rank] = w->stride[i];
    at[rank++] = 0;
  }
  if (rank == 0) {
    fn(user, first, 1, 1);
    return;
  }
  for (rank--;;) {
    int32_t k = rank;
    fn(user, first, stride[rank], dim[rank]);
    for (;;) {
      if (k-- == 0) return;
      first += stride[k];
      if (++at[k] < dim[k]) break;
      first -= stride[k] * dim[k];
      at[k] = 0;
    }
  }
}

typedef struct put_state {
  array_sink *sink;
  const tfsdk_view *from;
} put_state;

static void put_row(void *user, int64_t first, int64_t stride, int64_t n) {
  const put_state *p = (const put_state *)user;
  array_put(p->sink, p->from, first, stride, n);
}

void array_put_walk(array_sink *s, const tfsdk_view *from, const array_walk *w) {
  put_state p = {s, from};
  array_walk_rows(w, put_row, &p);
}

typedef struct copy_state {
  const tfsdk_view *from;
  const array_walk *walk;
} copy_state;

static void copy_write(array_sink *s, const void *user) {
  const copy_state *c = (const copy_state *)user;
  array_put_walk(s, c->from, c->walk);
}

tfsdk_status *array_copy_walk(tfsdk_run *r, uint32_t i, uint32_t o, const array_walk *w) {
  copy_state c = {&r->in[i], w};
  return array_write(r, o, copy_write, &c);
}

tfsdk_status *array_reverse(tfsdk_run *r, uint32_t axes) {
  const tfsdk_view *x = &r->in[0];
  int64_t stride[TFSDK_MAX_RANK];
  array_walk w = {0};
  array_strides(x->dim, x->rank, stride);
  for (int32_t i = 0; i < x->rank; i++) {
    int turned = axes >> i & 1 && x->n_elem > 0;
    if (turned) w.first += (x->dim[i] - 1) * stride[i];
    array_walk_axis(&w, x->dim[i], turned ? -stride[i] : stride[i]);
  }
  return array_copy_walk(r, 0, 0, &w);
}

typedef struct scatter_state {
  char *dst;
  const char *src;
  size_t size;
} scatter_state;

static void scatter_row(void *user, int64_t first, int64_t stride, int64_t n) {
  scatter_state *s = (scatter_state *)user;
  array_move(s->dst + first * (int64_t)s->size, stride, s->src, 1, s->size, n);
  s->src += (size_t)n * s->size;
}

void array_scatter_walk(void *dst, size_t size, const array_walk *w, const void *src) {
  scatter_state s = {(char *)dst, (const char *)src, size};
  array_walk_rows(w, scatter_row, &s);
}

/* One element of that type with the given value; returns its size. */
static size_t one_element(int32_t dtype, double value, char out[16]) {
  union {
    float f[2];
    double d[2];
    int64_t i;
    uint64_t u;
    uint16_t h;
    uint8_t b;
  } x;
  memset(&x, 0, sizeof x);
  switch (dtype) {
  case TFSDK_FLOAT32:
  case TFSDK_COMPLEX64: x.f[0] = (float)value; break;
  case TFSDK_FLOAT64:
  case TFSDK_COMPLEX128: x.d[0] = value; break;
  case TFSDK_FLOAT16: x.h = tfsdk_to_half(tfsdk_round_to_odd(value)); break;
  case TFSDK_BFLOAT16: x.h = tfsdk_to_bfloat16(tfsdk_round_to_odd(value)); break;
  case TFSDK_BOOL: x.b = value != 0; break;
  default: /* integers: the low bytes of a 64-bit number, whatever the machine's byte order */
    switch (tfsdk_dtype_size(dtype)) {
    case 1: x.b = (uint8_t)(int64_t)value; break;
    case 2: x.h = (uint16_t)(int64_t)value; break;
    case 4: {
      uint32_t u = (uint32_t)(int64_t)value;
      memcpy(&x, &u, 4);
      break;
    }
    default: x.i = (int64_t)value; break;
    }
  }
  memcpy(out, &x, 16);
  return tfsdk_dtype_size(dtype);
}

void array_fill(void *data, int32_t dtype, double value, int64_t n) {
  _Alignas(16) char element[16];
  size_t size = one_element(dtype, value, element);
  if (n > 0) array_move((char *)data, 1, element, 0, size, n);
}

tfsdk_status *array_write_shape(const tfsdk_run *r, const tfsdk_view *v, const tfsdk_view *out) {
  for (uint32_t i = 0; i < v->rank; i++) {
    if (out->dtype != TFSDK_INT64 && v->dim[i] > INT32_MAX)
      return TFSDK_FAIL(r, INVALID_ARGUMENT,
                        "extent %lld does not fit int32: ask for out_type int64",
                        (long long)v->dim[i]);
    array_set_index(out, i, v->dim[i]);
  }
  return NULL;
}

/* ------------------------------------------------------------------------------------ index checks
 */

tfsdk_status *array_bad_index(const tfsdk_run *r, const char *what, int64_t index, int64_t position,
                              int64_t limit) {
  return TFSDK_FAIL(r, INVALID_ARGUMENT, "%s[%lld] = %lld is out of range [0, %lld)", what,
                    (long long)position, (long long)index, (long long)limit);
}

tfsdk_status *array_check_indices(const tfsdk_run *r, uint32_t i, const char *what, int64_t limit) {
  const tfsdk_view *v = &r->in[i];
  for (int64_t k = 0; k < v->n_elem; k++) {
    int64_t x = array_index(v, k);
    if (x < 0 || x >= limit) return array_bad_index(r, what, x, k, limit);
  }
  return NULL;
}

/* ---------------------------------------------------------------------------------- for gradients
 */

tfsdk_val array_int_const(tfsdk_ctx *c, int32_t dtype, const int64_t *values, uint32_t n) {
  int64_t dim[1];
  dim[0] = n;
  if (dtype == TFSDK_INT64) return tfsdk_constant(c, dtype, 1, dim, values);
  return tfsdk_int_vector(c, values, n);
}

tfsdk_val array_shape_of(tfsdk_ctx *c, tfsdk_val v, int32_t dtype) {
  tfsdk_typed_shape t = tfsdk_type(c, v);
  if (tfsdk_shape_whole(&t.shape)) {
    for (int32_t i = 0; i < t.shape.rank; i++)
      if (t.shape.dim[i] > INT32_MAX) dtype = TFSDK_INT64;
    return array_int_const(c, dtype, t.shape.dim, (uint32_t)t.shape.rank);
  }
  return array_emit_shape(c, v, dtype);
}

tfsdk_val array_emit_shape(tfsdk_ctx *c, tfsdk_val v, int32_t dtype) {
  tfsdk_attrval a = tfsdk_a_dtype("out_type", dtype);
  return tfsdk_emit(c, "Shape", &v, 1, &a, 1);
}

tfsdk_val array_reshape_like(tfsdk_ctx *c, tfsdk_val dy, tfsdk_val x) {
  tfsdk_typed_shape a = tfsdk_type(c, dy), b = tfsdk_type(c, x);
  if (tfsdk_same_shape(&a.shape, &b.shape)) return dy;
  return tfsdk_emit2(c, "Reshape", dy, array_shape_of(c, x, TFSDK_INT32));
}

tfsdk_status *array_grad_reshape(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, array_reshape_like(c, tfsdk_dy(g, 0), tfsdk_input(g, 0)));
}

tfsdk_status *array_grad_pieces(tfsdk_ctx *c, tfsdk_gradcall *g, uint32_t i, const char *op,
                                tfsdk_val axis) {
  uint32_t n = g->n_out;
  size_t bytes = ((size_t)n + 1) * sizeof(tfsdk_val);
  tfsdk_val *join = (tfsdk_val *)g->host->realloc(g->host, NULL, 0, bytes);
  tfsdk_val zero = tfsdk_none(), dx;
  tfsdk_attrval a = tfsdk_a_int("axis", tfsdk_attr_int(&g->attr, "axis"));
  if (join == NULL)
    return TFSDK_FAIL(g, RESOURCE_EXHAUSTED, "no memory for %u pieces", (unsigned)n);
  for (uint32_t k = 0; k < n && zero.id == 0; k++)
    if (tfsdk_has_dy(g, k)) zero = tfsdk_dy(g, k); /* what a missing piece is like */
  for (uint32_t k = 0; k < n; k++)
    join[k] = tfsdk_has_dy(g, k) ? tfsdk_dy(g, k) : tfsdk_emit1(c, "ZerosLike", zero);
  join[n] = axis;
  dx = axis.id != 0 ? tfsdk_emit(c, op, join, n + 1, NULL, 0) : tfsdk_emit(c, op, join, n, &a, 1);
  g->host->realloc(g->host, join, bytes, 0);
  return tfsdk_set_dx(g, i, dx);
}
