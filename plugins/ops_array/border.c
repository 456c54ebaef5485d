/* border.c - see border.h. */
#include "border.h"

tfsdk_status *array_pad_infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape, *p = &c->in[1].shape;
  const tfsdk_view *v = array_value(c, 1);
  int32_t rank = x->rank;
  if (p->rank >= 0 && (p->rank != 2 || (p->dim[1] >= 0 && p->dim[1] != 2)))
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'paddings' must have the shape [rank, 2], but it is %s",
                      tfsdk_shape_text(p).s);
  if (p->rank == 2 && p->dim[0] >= 0) {
    if ((rank >= 0 && p->dim[0] != rank) || p->dim[0] > TFSDK_MAX_RANK)
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "'paddings' has %lld rows, but the input's shape is %s",
                        (long long)p->dim[0], tfsdk_shape_text(x).s);
    rank = (int32_t)p->dim[0];
  }
  if (rank < 0) return NULL;
  c->out[0].shape = tfsdk_shape_of_rank(rank);
  if (v == NULL) return NULL;
  for (int32_t i = 0; i < rank; i++) {
    int64_t before = tfsdk_view_int(v, 2 * i), after = tfsdk_view_int(v, 2 * i + 1), n;
    if (before < 0 || after < 0)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "paddings[%d] = (%lld, %lld) must not be negative",
                        (int)i, (long long)before, (long long)after);
    if (x->rank < 0 || x->dim[i] < 0) continue;
    TFSDK_TRY(array_add(c, x->dim[i], before, "'paddings'", &n));
    TFSDK_TRY(array_add(c, n, after, "'paddings'", &c->out[0].shape.dim[i]));
  }
  return NULL;
}

typedef struct pad {
  const tfsdk_view *x, *paddings, *value;
  const int64_t *out_dim;
} pad;

static void border(array_sink *s, const pad *p, int64_t n) {
  if (p->value != NULL)
    array_put(s, p->value, 0, 0, n);
  else
    array_put_zeros(s, n);
}

/* Writes the part of the output below `axis`; x is read from element `from` on. */
static void write_axis(array_sink *s, const pad *p, int32_t axis, int64_t from) {
  int64_t n, inner_out, inner_in, before, after;
  if (axis == p->x->rank) {
    array_put(s, p->x, from, 1, 1);
    return;
  }
  n = p->x->dim[axis];
  before = tfsdk_view_int(p->paddings, 2 * axis);
  after = tfsdk_view_int(p->paddings, 2 * axis + 1);
  inner_out = array_extent(p->out_dim, axis + 1, p->x->rank);
  inner_in = array_extent(p->x->dim, axis + 1, p->x->rank);
  border(s, p, before * inner_out);
  if (inner_in == inner_out)
    array_put(s, p->x, from, 1, n * inner_in); /* nothing added below */
  else
    for (int64_t i = 0; i < n; i++) write_axis(s, p, axis + 1, from + i * inner_in);
  border(s, p, after * inner_out);
}

static void write(array_sink *s, const void *user) { write_axis(s, (const pad *)user, 0, 0); }

tfsdk_status *array_pad_compute(tfsdk_run *r, const tfsdk_view *value) {
  int64_t dim[TFSDK_MAX_RANK];
  pad p = {&r->in[0], &r->in[1], value, dim};
  for (uint32_t i = 0; i < r->out[0].rank; i++) dim[i] = r->out[0].dim[i];
  return array_write(r, 0, write, &p);
}

tfsdk_status *array_pad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), paddings = tfsdk_input(g, 1), begin, slice[3];
  int32_t type = tfsdk_type(c, paddings).dtype;
  int64_t list[TFSDK_MAX_RANK];
  tfsdk_view v;
  if (tfsdk_known(c, paddings, &v) && v.n_elem <= 2 * TFSDK_MAX_RANK) {
    for (int64_t i = 0; i < v.n_elem / 2; i++) list[i] = tfsdk_view_int(&v, 2 * i);
    begin = array_int_const(c, TFSDK_INT32, list, (uint32_t)(v.n_elem / 2));
    type = TFSDK_INT32;
  } else { /* the first column */
    tfsdk_attrval a[2];
    tfsdk_val column[2];
    a[0] = tfsdk_a_int("num", 2);
    a[1] = tfsdk_a_int("axis", 1);
    tfsdk_emit_n(c, "Unpack", &paddings, 1, a, 2, column, 2);
    begin = column[0];
  }
  slice[0] = tfsdk_dy(g, 0);
  slice[1] = begin;
  slice[2] = array_shape_of(c, x, type);
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, "Slice", slice, 3, NULL, 0));
}
