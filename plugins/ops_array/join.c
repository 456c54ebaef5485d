/* join.c - see join.h. */
#include "join.h"

tfsdk_status *array_join_infer(tfsdk_infer *c, uint32_t first, uint32_t n, uint32_t axis) {
  tfsdk_shape y = tfsdk_shape_unknown();
  int64_t total = 0;
  int32_t at = -1;
  for (uint32_t i = first; i < first + n; i++) {
    const tfsdk_shape *x = &c->in[i].shape;
    if (x->rank < 0) continue;
    if (y.rank < 0) y = tfsdk_shape_of_rank(x->rank);
    if (x->rank != y.rank)
      return TFSDK_FAIL(
          c, INVALID_ARGUMENT, "inputs of different rank: input %u has shape %s, input 0 %s",
          (unsigned)(i - first), tfsdk_shape_text(x).s, tfsdk_shape_text(&c->in[first].shape).s);
  }
  if (y.rank == 0)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "scalars have no axis to join along: use Pack");
  TFSDK_TRY(array_axis_arg(c, axis, y.rank, &at));
  c->out[0].shape = y;
  if (at < 0) return NULL;
  for (uint32_t i = first; i < first + n; i++) {
    const tfsdk_shape *x = &c->in[i].shape;
    if (x->rank < 0 || x->dim[at] < 0) total = -1;
    if (x->rank < 0) continue;
    if (total >= 0) TFSDK_TRY(array_add(c, total, x->dim[at], "the joined axis", &total));
    for (int32_t k = 0; k < y.rank; k++) {
      if (k == at || x->dim[k] < 0) continue;
      if (y.dim[k] >= 0 && y.dim[k] != x->dim[k])
        return TFSDK_FAIL(
            c, INVALID_ARGUMENT,
            "input %u has shape %s, but extent %lld is needed on axis %d (all axes but "
            "%d must agree)",
            (unsigned)(i - first), tfsdk_shape_text(x).s, (long long)y.dim[k], (int)k, (int)at);
      y.dim[k] = x->dim[k];
    }
  }
  y.dim[at] = total;
  c->out[0].shape = y;
  return NULL;
}

typedef struct join {
  const tfsdk_view *in;
  uint32_t n;
  int32_t axis;
} join;

static void write(array_sink *s, const void *user) {
  const join *j = (const join *)user;
  int64_t outer = array_extent(j->in[0].dim, 0, j->axis);
  for (int64_t o = 0; o < outer; o++) {
    for (uint32_t i = 0; i < j->n; i++) {
      int64_t row = array_extent(j->in[i].dim, j->axis, j->in[i].rank);
      array_put(s, &j->in[i], o * row, 1, row);
    }
  }
}

tfsdk_status *array_join_compute(tfsdk_run *r, uint32_t first, uint32_t n, uint32_t axis) {
  join j = {&r->in[first], n, 0};
  int64_t a = tfsdk_view_int(&r->in[axis], 0);
  j.axis = (int32_t)(a < 0 ? a + r->in[first].rank : a);
  return array_write(r, 0, write, &j);
}

tfsdk_status *array_join_grad(tfsdk_ctx *c, tfsdk_gradcall *g, uint32_t first, uint32_t n,
                              uint32_t axis) {
  tfsdk_val at = tfsdk_input(g, axis), sizes, split[3], *size, *piece;
  tfsdk_typed_shape t = tfsdk_type(c, tfsdk_dy(g, 0));
  tfsdk_attrval num = tfsdk_a_int("num_split", n);
  tfsdk_status *status = NULL;
  tfsdk_view v;
  int64_t *list, dim[1];
  int32_t k = -1, known = 1;
  size_t bytes = n * (2 * sizeof(tfsdk_val) + sizeof(int64_t));
  if (n == 1) return tfsdk_set_dx(g, first, tfsdk_dy(g, 0));
  if (tfsdk_known(c, at, &v) && t.shape.rank > 0) {
    k = (int32_t)tfsdk_view_int(&v, 0);
    if (k < 0) k += t.shape.rank;
  }
  size = (tfsdk_val *)g->host->realloc(g->host, NULL, 0, bytes);
  if (size == NULL)
    return TFSDK_FAIL(g, RESOURCE_EXHAUSTED, "no memory for %u inputs", (unsigned)n);
  piece = size + n;
  list = (int64_t *)(piece + n);
  for (uint32_t i = 0; i < n && k >= 0; i++) {
    tfsdk_typed_shape x = tfsdk_type(c, tfsdk_input(g, first + i));
    list[i] = x.shape.rank == t.shape.rank ? x.shape.dim[k] : -1;
    if (list[i] < 0) known = 0;
  }
  if (k >= 0 && known) {
    dim[0] = n;
    sizes = tfsdk_constant(c, TFSDK_INT64, 1, dim, list);
  } else { /* sizes[i] = Shape(x_i)[axis] */
    tfsdk_val rank = tfsdk_emit1(c, "Rank", tfsdk_dy(g, 0)), where;
    if (tfsdk_type(c, at).dtype != TFSDK_INT32) {
      tfsdk_attrval to = tfsdk_a_dtype("DstT", TFSDK_INT32);
      at = tfsdk_emit(c, "Cast", &at, 1, &to, 1);
    }
    where = tfsdk_emit2(c, "FloorMod", at, rank);
    for (uint32_t i = 0; i < n; i++)
      size[i] =
          tfsdk_emit3(c, "GatherV2", array_shape_of(c, tfsdk_input(g, first + i), TFSDK_INT32),
                      where, tfsdk_int_scalar(c, 0));
    sizes = tfsdk_emit(c, "Pack", size, n, NULL, 0);
    at = where;
  }
  split[0] = tfsdk_dy(g, 0);
  split[1] = sizes;
  split[2] = at;
  if (tfsdk_type(c, at).dtype == TFSDK_INT64) { /* SplitV takes its axis as int32 only */
    tfsdk_attrval to = tfsdk_a_dtype("DstT", TFSDK_INT32);
    split[2] = k >= 0 ? tfsdk_int_scalar(c, k) : tfsdk_emit(c, "Cast", &at, 1, &to, 1);
  }
  tfsdk_emit_n(c, "SplitV", split, 3, &num, 1, piece, n);
  for (uint32_t i = 0; i < n && status == NULL; i++) status = tfsdk_set_dx(g, first + i, piece[i]);
  g->host->realloc(g->host, size, bytes, 0);
  return status;
}
