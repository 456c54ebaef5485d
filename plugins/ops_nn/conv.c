/* conv.c - see conv.h. */
#include "conv.h"
#include "emit_nn.h"
#include "row.h"

#define ACC     double
#define LOAD    nn_load_f
#define STORE   nn_store_f
#define MUL_ADD nn_mul_add_f
#define NAME(x) x##_f
#include "conv_typed.h"

#define ACC     int64_t
#define LOAD    nn_load_i
#define STORE   nn_store_i
#define MUL_ADD nn_mul_add_i
#define NAME(x) x##_i
#include "conv_typed.h"

tfsdk_status *nn_conv_geometry(const nn_conv *f, const tfsdk_host *host, const tfsdk_attrs *attr,
                               const tfsdk_shape *x, const tfsdk_shape *filter, tfsdk_geometry *g) {
  if (f->depthwise) return tfsdk_geometry_depthwise(host, attr, x, filter, g);
  return tfsdk_geometry_conv(host, attr, f->n_axes, x, filter, g);
}

/* ---------------------------------------------------------------------------------- shape rules */

tfsdk_status *nn_conv_infer(const nn_conv *f, tfsdk_infer *c) {
  tfsdk_geometry g;
  TFSDK_TRY(nn_conv_geometry(f, c->host, &c->attr, &c->in[0].shape, &c->in[1].shape, &g));
  c->out[0].shape = tfsdk_geometry_out(&g);
  return NULL;
}

/* The shape that a sizes argument says, as far as it is known, and of that rank. */
static tfsdk_status *sizes(const nn_conv *f, tfsdk_infer *c, uint32_t i, tfsdk_shape *out) {
  const tfsdk_shape *s = &c->in[i].shape;
  int32_t rank = f->n_axes + 2;
  const char *name = c->op->in[i].name;
  TFSDK_REQUIRE(c, s->rank < 0 || (s->rank == 1 && (s->dim[0] < 0 || s->dim[0] == rank)),
                "'%s' must be a vector of %d extents, but its shape is %s", name, (int)rank,
                tfsdk_shape_text(s).s);
  *out = tfsdk_shape_of_rank(rank);
  if (c->value[i] == NULL) return NULL;
  TFSDK_TRY(tfsdk_value_shape(c, c->value[i], name, out));
  TFSDK_REQUIRE(c, out->rank == rank, "'%s' must have %d members, not %d", name, (int)rank,
                (int)out->rank);
  return NULL;
}

/* The upstream gradient must have the shape that the forward op gives: a transposed convolution
 * to a size from which no convolution leads back is refused here. */
static tfsdk_status *check(const nn_conv *f, tfsdk_infer *c, const tfsdk_shape *x,
                           const tfsdk_shape *filter) {
  tfsdk_geometry g;
  tfsdk_shape y, same;
  TFSDK_TRY(nn_conv_geometry(f, c->host, &c->attr, x, filter, &g));
  y = tfsdk_geometry_out(&g);
  return tfsdk_merge(c, &c->in[2].shape, &y,
                     "'out_backprop' must have the shape of the convolution's output", &same);
}

tfsdk_status *nn_conv_infer_input_grad(const nn_conv *f, tfsdk_infer *c) {
  tfsdk_shape x;
  TFSDK_TRY(sizes(f, c, 0, &x));
  if (c->value[0] == NULL && c->in[2].shape.rank == x.rank) x.dim[0] = c->in[2].shape.dim[0];
  c->out[0].shape = x;
  return check(f, c, &x, &c->in[1].shape);
}

tfsdk_status *nn_conv_infer_filter_grad(const nn_conv *f, tfsdk_infer *c) {
  tfsdk_shape filter;
  TFSDK_TRY(sizes(f, c, 1, &filter));
  c->out[0].shape = filter;
  return check(f, c, &c->in[0].shape, &filter);
}

/* -------------------------------------------------------------------------------------- kernels */

/* Scratch: `extra` elements, then rows of both sides, then (with_filter) the filter, unpacked. */
static tfsdk_status *scratch(tfsdk_run *r, const tfsdk_geometry *g, int64_t extra,
                             const tfsdk_view *filter, void **out_filter, void **out_row,
                             void **out_acc) {
  size_t rows = (size_t)g->in_c + (size_t)g->out_c + 1, n = filter ? (size_t)filter->n_elem : 0;
  void *work;
  TFSDK_TRY(r->api->workspace(r, ((size_t)extra + rows + n) * sizeof(double), &work));
  *out_acc = work;
  *out_row = (double *)work + extra;
  *out_filter = (double *)work + (size_t)extra + rows;
  if (filter == NULL) return NULL;
  if (nn_is_float(filter->dtype))
    nn_load_f(filter->dtype, filter->data, 0, 1, filter->n_elem, (double *)*out_filter);
  else
    nn_load_i(filter->dtype, filter->data, 0, 1, filter->n_elem, (int64_t *)*out_filter);
  return NULL;
}

static tfsdk_status *geometry_of_views(const nn_conv *f, const tfsdk_run *r, const tfsdk_view *x,
                                       const tfsdk_view *filter, tfsdk_geometry *g) {
  tfsdk_shape xs = tfsdk_shape_of_view(x), fs = tfsdk_shape_of_view(filter);
  return nn_conv_geometry(f, r->host, &r->attr, &xs, &fs, g);
}

/* Nothing to sum: no channels, no positions. The kernels' group arithmetic needs groups >= 1. */
static int trivial(tfsdk_run *r, const tfsdk_geometry *g, const tfsdk_view *out) {
  if (out->n_elem > 0 && g->groups > 0 && g->in_c > 0 && g->out_c > 0) return 0;
  if (out->n_elem > 0) memset(r->out[0].data, 0, out->byte_size);
  return 1;
}

tfsdk_status *nn_conv_compute(const nn_conv *f, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *filter = &r->in[1], *y = &r->out[0];
  tfsdk_geometry g;
  void *weights, *row, *acc;
  TFSDK_TRY(geometry_of_views(f, r, x, filter, &g));
  if (trivial(r, &g, y)) return NULL;
  TFSDK_TRY(scratch(r, &g, g.out_c, filter, &weights, &row, &acc));
  if (nn_is_float(y->dtype))
    forward_f(&g, x, weights, y, row, acc);
  else
    forward_i(&g, x, weights, y, row, acc);
  return NULL;
}

tfsdk_status *nn_conv_compute_input_grad(const nn_conv *f, tfsdk_run *r) {
  const tfsdk_view *filter = &r->in[1], *dy = &r->in[2], *dx = &r->out[0];
  tfsdk_geometry g;
  void *weights, *row, *acc;
  TFSDK_TRY(geometry_of_views(f, r, dx, filter, &g));
  if (trivial(r, &g, dx)) return NULL;
  TFSDK_TRY(scratch(r, &g, g.in_c, filter, &weights, &row, &acc));
  if (nn_is_float(dx->dtype))
    input_grad_f(&g, weights, dy, dx, row, acc);
  else
    input_grad_i(&g, weights, dy, dx, row, acc);
  return NULL;
}

tfsdk_status *nn_conv_compute_filter_grad(const nn_conv *f, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *dy = &r->in[2], *df = &r->out[0];
  tfsdk_geometry g;
  void *weights, *row, *acc;
  TFSDK_TRY(geometry_of_views(f, r, x, df, &g));
  if (trivial(r, &g, df)) return NULL;
  TFSDK_TRY(scratch(r, &g, g.in_c / g.groups * g.out_c, NULL, &weights, &row, &acc));
  if (nn_is_float(df->dtype))
    filter_grad_f(&g, x, dy, df, row, acc);
  else
    filter_grad_i(&g, x, dy, df, row, acc);
  return NULL;
}

/* ------------------------------------------------------------------------------------ gradients */

static tfsdk_val emit3(tfsdk_ctx *c, tfsdk_gradcall *g, const char *op, tfsdk_val a, tfsdk_val b,
                       tfsdk_val d) {
  tfsdk_val in[3] = {a, b, d};
  return nn_emit_like(c, g, op, in, 3);
}

tfsdk_status *nn_conv_grad(const nn_conv *f, tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), filter = tfsdk_input(g, 1), dy = tfsdk_dy(g, 0);
  if (tfsdk_wants(g, 0))
    TFSDK_TRY(tfsdk_set_dx(g, 0, emit3(c, g, f->input_grad, nn_shape_of(c, x), filter, dy)));
  if (tfsdk_wants(g, 1))
    TFSDK_TRY(tfsdk_set_dx(g, 1, emit3(c, g, f->filter_grad, x, nn_shape_of(c, filter), dy)));
  return NULL;
}

/* dx = A(filter, dy), v upstream:  <v, A(filter, dy)> = <C(v, filter), dy>. */
tfsdk_status *nn_conv_grad_input_grad(const nn_conv *f, tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val filter = tfsdk_input(g, 1), dy = tfsdk_input(g, 2), in[2] = {tfsdk_dy(g, 0), filter};
  if (tfsdk_wants(g, 1))
    TFSDK_TRY(tfsdk_set_dx(g, 1, emit3(c, g, f->filter_grad, in[0], nn_shape_of(c, filter), dy)));
  if (tfsdk_wants(g, 2)) TFSDK_TRY(tfsdk_set_dx(g, 2, nn_emit_like(c, g, f->forward, in, 2)));
  return NULL;
}

/* df = B(x, dy), v upstream:  <v, B(x, dy)> = <C(x, v), dy>. */
tfsdk_status *nn_conv_grad_filter_grad(const nn_conv *f, tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), dy = tfsdk_input(g, 2), in[2] = {x, tfsdk_dy(g, 0)};
  if (tfsdk_wants(g, 0))
    TFSDK_TRY(tfsdk_set_dx(g, 0, emit3(c, g, f->input_grad, nn_shape_of(c, x), in[1], dy)));
  if (tfsdk_wants(g, 2)) TFSDK_TRY(tfsdk_set_dx(g, 2, nn_emit_like(c, g, f->forward, in, 2)));
  return NULL;
}
