/* stitch.c - see stitch.h. */
#include "stitch.h"

tfsdk_status *array_stitch_infer(tfsdk_infer *c) {
  uint32_t n = c->n_in / 2;
  tfsdk_shape rest = tfsdk_shape_unknown(), y = tfsdk_shape_vector(-1);
  int64_t rows = 0;
  for (uint32_t i = 0; i < n; i++) {
    const tfsdk_shape *p = &c->in[i].shape, *x = &c->in[n + i].shape;
    const tfsdk_view *v = array_value(c, i);
    tfsdk_shape inner = tfsdk_shape_scalar();
    int64_t same;
    for (int64_t k = 0; v != NULL && rows >= 0 && k < v->n_elem; k++)
      if (tfsdk_view_int(v, k) >= rows) rows = tfsdk_view_int(v, k) + 1;
    if (v == NULL) rows = -1;
    if (p->rank < 0 || x->rank < 0) continue;
    if (p->rank > x->rank)
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "the shape of indices %s must begin the shape of data %s",
                        tfsdk_shape_text(p).s, tfsdk_shape_text(x).s);
    for (int32_t k = 0; k < p->rank; k++)
      TFSDK_TRY(tfsdk_merge_dim(c, p->dim[k], x->dim[k],
                                "the shape of indices must begin the shape of data", &same));
    for (int32_t k = p->rank; k < x->rank; k++) inner.dim[inner.rank++] = x->dim[k];
    TFSDK_TRY(tfsdk_merge(c, &rest, &inner, "the rows of all data must have one shape", &rest));
  }
  if (rest.rank < 0) return NULL;
  if (rest.rank == TFSDK_MAX_RANK)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "the result would have a rank above %d", TFSDK_MAX_RANK);
  y.dim[0] = rows;
  for (int32_t k = 0; k < rest.rank; k++) y.dim[y.rank++] = rest.dim[k];
  c->out[0].shape = y;
  return NULL;
}

/* For each row of the result, where it comes from; input -1: no index names it. */
typedef struct source {
  int32_t input;
  int64_t row;
} source;

typedef struct job {
  const tfsdk_run *r;
  const source *from;
  int64_t rows, inner;
} job;

static void write(array_sink *s, const void *user) {
  const job *j = (const job *)user;
  for (int64_t k = 0; k < j->rows; k++) {
    const source *f = &j->from[k];
    if (f->input < 0)
      array_put_zeros(s, j->inner);
    else
      array_put(s, &j->r->in[j->r->n_in / 2 + (uint32_t)f->input], f->row * j->inner, 1, j->inner);
  }
}

tfsdk_status *array_stitch_run(tfsdk_run *r) {
  uint32_t n = r->n_in / 2, rank = 1;
  const tfsdk_view *x = &r->in[n];
  int64_t dim[TFSDK_MAX_RANK + 1], rows = 0;
  source *from;
  void *room;
  job j;
  for (uint32_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < r->in[i].n_elem; k++) {
      int64_t at = array_index(&r->in[i], k);
      TFSDK_REQUIRE(r, at >= 0, "indices[%u][%lld] = %lld is negative", (unsigned)i, (long long)k,
                    (long long)at);
      if (at >= rows) rows = at + 1;
    }
  }
  for (int32_t k = r->in[0].rank; k < x->rank; k++) dim[rank++] = x->dim[k];
  dim[0] = rows;
  TFSDK_TRY(r->api->workspace(r, ((size_t)rows + 1) * sizeof *from, &room));
  from = (source *)room;
  for (int64_t k = 0; k < rows; k++) from[k].input = -1;
  for (uint32_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < r->in[i].n_elem; k++) {
      source *f = &from[array_index(&r->in[i], k)];
      f->input = (int32_t)i;
      f->row = k;
    }
  }
  j.r = r;
  j.from = from;
  j.rows = rows;
  j.inner = array_extent(dim, 1, (int32_t)rank);
  return array_write_as(r, 0, rank, dim, write, &j);
}

/* As TensorFlow: every input gets the gradient of the row that it names, also where another one
 * won. */
tfsdk_status *array_stitch_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  uint32_t n = g->n_in / 2;
  tfsdk_val zero = tfsdk_int_scalar(c, 0);
  for (uint32_t i = 0; i < n; i++)
    if (tfsdk_wants(g, n + i))
      TFSDK_TRY(tfsdk_set_dx(g, n + i,
                             tfsdk_emit3(c, "GatherV2", tfsdk_dy(g, 0), tfsdk_input(g, i), zero)));
  return NULL;
}
