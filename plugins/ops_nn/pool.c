/* pool.c - see pool.h. */
#include "pool.h"
#include <math.h>
#include "emit_nn.h"
#include "row.h"

#define ACC       double
#define LOAD      nn_load_f
#define IS_NAN(v) isnan(v)
#define NAME      winners_f
#include "pool_typed.h"

#define ACC       int64_t
#define LOAD      nn_load_i
#define IS_NAN(v) 0
#define NAME      winners_i
#include "pool_typed.h"

/* ------------------------------------------------------------------------------------- geometry */

enum { LIST = 8 };

/* ksize and strides of V2 as lists. */
static tfsdk_status *spec_of_values(const nn_pool *f, const tfsdk_host *host,
                                    const tfsdk_attrs *attr, const tfsdk_view *ksize,
                                    const tfsdk_view *strides, int64_t *list,
                                    tfsdk_window_spec *s) {
  tfsdk_infer c = {.host = host};
  tfsdk_window_spec_read(attr, s);
  TFSDK_REQUIRE(&c, ksize->n_elem == f->n_axes + 2 && strides->n_elem == f->n_axes + 2,
                "'ksize' and 'strides' must have %d members, not %lld and %lld", (int)f->n_axes + 2,
                (long long)ksize->n_elem, (long long)strides->n_elem);
  for (int32_t i = 0; i < f->n_axes + 2; i++) {
    list[i] = tfsdk_view_int(ksize, i);
    list[LIST + i] = tfsdk_view_int(strides, i);
  }
  s->ksize = list;
  s->strides = list + LIST;
  s->n_ksize = s->n_strides = (uint32_t)f->n_axes + 2;
  return NULL;
}

/* `skip`: how many tensors stand before ksize that the forward op has not. *known = 0: V2, sizes
 * unknown. */
static tfsdk_status *geometry_infer(const nn_pool *f, tfsdk_infer *c, uint32_t skip,
                                    tfsdk_geometry *g, int *known) {
  const tfsdk_view *ksize, *strides;
  tfsdk_window_spec s;
  int64_t list[2 * LIST];
  *known = 1;
  if (f->sizes_at == 0)
    return tfsdk_geometry_pool(c->host, &c->attr, f->n_axes, &c->in[0].shape, g);
  ksize = c->value[f->sizes_at + skip];
  strides = c->value[f->sizes_at + skip + 1];
  if (ksize == NULL || strides == NULL) {
    *known = 0;
    return NULL;
  }
  TFSDK_TRY(spec_of_values(f, c->host, &c->attr, ksize, strides, list, &s));
  return tfsdk_geometry_pool_spec(c->host, &s, f->n_axes, &c->in[0].shape, g);
}

static tfsdk_status *geometry_run(const nn_pool *f, tfsdk_run *r, uint32_t skip,
                                  const tfsdk_view *x, tfsdk_geometry *g) {
  tfsdk_shape shape = tfsdk_shape_of_view(x);
  tfsdk_window_spec s;
  int64_t list[2 * LIST];
  if (f->sizes_at == 0) return tfsdk_geometry_pool(r->host, &r->attr, f->n_axes, &shape, g);
  TFSDK_TRY(spec_of_values(f, r->host, &r->attr, &r->in[f->sizes_at + skip],
                           &r->in[f->sizes_at + skip + 1], list, &s));
  return tfsdk_geometry_pool_spec(r->host, &s, f->n_axes, &shape, g);
}

/* ------------------------------------------------------------------------------ maximum: shapes */

tfsdk_status *nn_max_infer(const nn_pool *f, tfsdk_infer *c) {
  tfsdk_geometry g;
  int known;
  TFSDK_TRY(geometry_infer(f, c, 0, &g, &known));
  c->out[0].shape = known ? tfsdk_geometry_out(&g) : tfsdk_shape_of_rank(f->n_axes + 2);
  return NULL;
}

static tfsdk_status *infer_three(const nn_pool *f, tfsdk_infer *c, tfsdk_shape *y) {
  tfsdk_geometry g;
  int known;
  TFSDK_TRY(geometry_infer(f, c, 2, &g, &known));
  *y = tfsdk_shape_of_rank(f->n_axes + 2);
  if (known) *y = tfsdk_geometry_out(&g);
  return tfsdk_merge(c, &c->in[1].shape, y,
                     "'orig_output' must have the shape of the pooling's output", y);
}

tfsdk_status *nn_max_infer_grad(const nn_pool *f, tfsdk_infer *c) {
  tfsdk_shape y;
  TFSDK_TRY(infer_three(f, c, &y));
  c->out[0].shape = c->in[0].shape;
  return tfsdk_merge(c, &c->in[2].shape, &y, "'grad' must have the shape of the pooling's output",
                     &y);
}

tfsdk_status *nn_max_infer_grad_grad(const nn_pool *f, tfsdk_infer *c) {
  tfsdk_shape y, x;
  TFSDK_TRY(infer_three(f, c, &y));
  c->out[0].shape = y;
  return tfsdk_merge(c, &c->in[2].shape, &c->in[0].shape,
                     "'grad' must have the shape of 'orig_input'", &x);
}

/* ----------------------------------------------------------------------------- maximum: kernels */

tfsdk_status *nn_max_winners(tfsdk_run *r, const tfsdk_geometry *g, const tfsdk_view *x,
                             nn_winners_fn *fn, void *user) {
  tfsdk_layout out = tfsdk_layout_out(g);
  void *work;
  double *row, *best;
  int64_t *winner, o[3];
  TFSDK_TRY(
      r->api->workspace(r, ((size_t)g->in_c + 2 * (size_t)g->out_c + 1) * sizeof(double), &work));
  row = (double *)work;
  best = row + g->in_c;
  winner = (int64_t *)(best + g->out_c);
  for (int64_t n = 0; n < g->batch; n++)
    for (o[0] = 0; o[0] < g->axis[0].out; o[0]++)
      for (o[1] = 0; o[1] < g->axis[1].out; o[1]++)
        for (o[2] = 0; o[2] < g->axis[2].out; o[2]++) {
          if (nn_is_float(x->dtype))
            winners_f(g, x, n, o, row, best, winner);
          else
            winners_i(g, x, n, o, (int64_t *)work, (int64_t *)work + g->in_c, winner);
          fn(user, n * out.batch + o[0] * out.axis[0] + o[1] * out.axis[1] + o[2] * out.axis[2],
             out.channel, g->out_c, winner);
        }
  return NULL;
}

void nn_copy_winners(void *user, int64_t at, int64_t step, int64_t n, const int64_t *winner) {
  const nn_copy *c = (const nn_copy *)user;
  size_t size = tfsdk_dtype_size(c->src->dtype);
  for (int64_t i = 0; i < n; i++) {
    if (winner[i] < 0)
      nn_store_lowest(c->dst, at + i * step);
    else
      memcpy((char *)c->dst->data + (size_t)(at + i * step) * size,
             (const char *)c->src->data + (size_t)winner[i] * size, size);
  }
}

tfsdk_status *nn_scatter_open(tfsdk_run *r, const tfsdk_view *dy, const tfsdk_view *dx,
                              nn_scatter *out) {
  size_t bytes = ((size_t)dx->n_elem + 1) * sizeof(double);
  out->dy = dy;
  out->dx = dx;
  TFSDK_TRY(r->api->workspace(r, bytes, &out->sums));
  memset(out->sums, 0, bytes);
  return NULL;
}

void nn_scatter_winners(void *user, int64_t at, int64_t step, int64_t n, const int64_t *winner) {
  const nn_scatter *s = (const nn_scatter *)user;
  for (int64_t i = 0; i < n; i++) {
    if (winner[i] < 0) continue;
    if (nn_is_float(s->dy->dtype)) {
      double v = 0;
      nn_load_f(s->dy->dtype, s->dy->data, at + i * step, 1, 1, &v);
      ((double *)s->sums)[winner[i]] += v;
    } else {
      int64_t v = 0, *sum = (int64_t *)s->sums + winner[i];
      nn_load_i(s->dy->dtype, s->dy->data, at + i * step, 1, 1, &v);
      *sum = nn_mul_add_i(*sum, v, 1);
    }
  }
}

void nn_scatter_close(nn_scatter *s) {
  const tfsdk_view *dx = s->dx;
  if (nn_is_float(dx->dtype))
    nn_store_f(dx->dtype, dx->data, 0, 1, dx->n_elem, (double *)s->sums);
  else
    nn_store_i(dx->dtype, dx->data, 0, 1, dx->n_elem, (int64_t *)s->sums);
}

tfsdk_status *nn_max_compute(const nn_pool *f, tfsdk_run *r) {
  nn_copy copy = {&r->in[0], &r->out[0]};
  tfsdk_geometry g;
  TFSDK_TRY(geometry_run(f, r, 0, &r->in[0], &g));
  return nn_max_winners(r, &g, &r->in[0], nn_copy_winners, &copy);
}

tfsdk_status *nn_max_compute_grad(const nn_pool *f, tfsdk_run *r) {
  nn_scatter scatter;
  tfsdk_geometry g;
  TFSDK_TRY(geometry_run(f, r, 2, &r->in[0], &g));
  TFSDK_TRY(nn_scatter_open(r, &r->in[2], &r->out[0], &scatter));
  TFSDK_TRY(nn_max_winners(r, &g, &r->in[0], nn_scatter_winners, &scatter));
  nn_scatter_close(&scatter);
  return NULL;
}

/* As the forward op, but from the third input; a window of padding only has no gradient: 0. */
static void copy_gradient(void *user, int64_t at, int64_t step, int64_t n, const int64_t *winner) {
  const nn_copy *c = (const nn_copy *)user;
  size_t size = tfsdk_dtype_size(c->src->dtype);
  for (int64_t i = 0; i < n; i++) {
    char *dst = (char *)c->dst->data + (size_t)(at + i * step) * size;
    if (winner[i] < 0)
      memset(dst, 0, size);
    else
      memcpy(dst, (const char *)c->src->data + (size_t)winner[i] * size, size);
  }
}

tfsdk_status *nn_max_compute_grad_grad(const nn_pool *f, tfsdk_run *r) {
  nn_copy copy = {&r->in[2], &r->out[0]};
  tfsdk_geometry g;
  TFSDK_TRY(geometry_run(f, r, 2, &r->in[0], &g));
  return nn_max_winners(r, &g, &r->in[0], copy_gradient, &copy);
}

/* --------------------------------------------------------------------------- maximum: gradients */

/* Emits `op` on (a, b, d) and, in V2, ksize and strides, which stand at input `sizes` of this
 * node. */
static tfsdk_val emit_three(const nn_pool *f, tfsdk_ctx *c, tfsdk_gradcall *g, const char *op,
                            tfsdk_val a, tfsdk_val b, tfsdk_val d, uint32_t sizes) {
  tfsdk_val in[5] = {a, b, d};
  if (f->sizes_at == 0) return nn_emit_like(c, g, op, in, 3);
  in[3] = tfsdk_input(g, sizes);
  in[4] = tfsdk_input(g, sizes + 1);
  return nn_emit_like(c, g, op, in, 5);
}

tfsdk_status *nn_max_grad(const nn_pool *f, tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0,
                      emit_three(f, c, g, f->grad, tfsdk_input(g, 0), tfsdk_output(g, 0),
                                 tfsdk_dy(g, 0), f->sizes_at));
}
/* The winners do not change with x: only the third input has a gradient. */
tfsdk_status *nn_max_grad_grad(const nn_pool *f, tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 2,
                      emit_three(f, c, g, f->grad_grad, tfsdk_input(g, 0), tfsdk_input(g, 1),
                                 tfsdk_dy(g, 0), f->sizes_at + 2));
}
tfsdk_status *nn_max_grad_grad_grad(const nn_pool *f, tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 2,
                      emit_three(f, c, g, f->grad, tfsdk_input(g, 0), tfsdk_input(g, 1),
                                 tfsdk_dy(g, 0), f->sizes_at + 2));
}

/* -------------------------------------------------------------------------------------- average */

static tfsdk_status *avg_geometry(const nn_pool *f, const tfsdk_host *host, const tfsdk_attrs *attr,
                                  const tfsdk_shape *x, tfsdk_geometry *g) {
  tfsdk_infer c = {.host = host};
  TFSDK_TRY(tfsdk_geometry_pool(host, attr, f->n_axes, x, g));
  TFSDK_REQUIRE(&c, g->window_c == 1,
                "averages over channels are not there: 'ksize' of channels is %lld",
                (long long)g->window_c);
  return NULL;
}

tfsdk_status *nn_avg_infer(const nn_pool *f, tfsdk_infer *c) {
  tfsdk_geometry g;
  TFSDK_TRY(avg_geometry(f, c->host, &c->attr, &c->in[0].shape, &g));
  c->out[0].shape = tfsdk_geometry_out(&g);
  return NULL;
}

tfsdk_status *nn_avg_infer_grad(const nn_pool *f, tfsdk_infer *c) {
  tfsdk_geometry g;
  tfsdk_shape *x = &c->out[0].shape, y;
  *x = tfsdk_shape_of_rank(f->n_axes + 2);
  if (c->value[0] != NULL) TFSDK_TRY(tfsdk_value_shape(c, c->value[0], "'orig_input_shape'", x));
  TFSDK_TRY(avg_geometry(f, c->host, &c->attr, x, &g));
  y = tfsdk_geometry_out(&g);
  return tfsdk_merge(c, &c->in[1].shape, &y, "'grad' must have the shape of the pooling's output",
                     &y);
}

tfsdk_status *nn_avg_compute(const nn_pool *f, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *y = &r->out[0];
  tfsdk_shape shape = tfsdk_shape_of_view(x);
  tfsdk_geometry g;
  tfsdk_layout in, out;
  void *work;
  TFSDK_TRY(avg_geometry(f, r->host, &r->attr, &shape, &g));
  const tfsdk_span *d = &g.axis[0], *h = &g.axis[1], *w = &g.axis[2];
  in = tfsdk_layout_in(&g);
  out = tfsdk_layout_out(&g);
  TFSDK_TRY(r->api->workspace(r, (2 * (size_t)g.in_c + 1) * sizeof(double), &work));
  double *row = (double *)work, *sum = row + g.in_c;
  for (int64_t n = 0; n < g.batch; n++)
    for (int64_t od = 0; od < d->out; od++)
      for (int64_t oh = 0; oh < h->out; oh++)
        for (int64_t ow = 0; ow < w->out; ow++) {
          int64_t ad, ah, aw, d0, d1, h0, h1, w0, w1, count;
          tfsdk_span_taps(d, od, &ad, &d0, &d1);
          tfsdk_span_taps(h, oh, &ah, &h0, &h1);
          tfsdk_span_taps(w, ow, &aw, &w0, &w1);
          count = (d1 - d0) * (h1 - h0) * (w1 - w0);
          for (int64_t c = 0; c < g.in_c; c++) sum[c] = 0;
          for (int64_t td = d0; td < d1; td++)
            for (int64_t th = h0; th < h1; th++)
              for (int64_t tw = w0; tw < w1; tw++) {
                nn_load_f(x->dtype, x->data,
                          n * in.batch + (ad + td) * in.axis[0] + (ah + th) * in.axis[1] +
                              (aw + tw) * in.axis[2],
                          in.channel, g.in_c, row);
                for (int64_t c = 0; c < g.in_c; c++) sum[c] += row[c];
              }
          for (int64_t c = 0; c < g.in_c; c++) sum[c] = count > 0 ? sum[c] / (double)count : 0;
          nn_store_f(y->dtype, y->data,
                     n * out.batch + od * out.axis[0] + oh * out.axis[1] + ow * out.axis[2],
                     out.channel, g.out_c, sum);
        }
  return NULL;
}

/* The number of taps of output o that see the input. */
static int64_t taps(const tfsdk_span *p, int64_t o) {
  int64_t at, first, end;
  tfsdk_span_taps(p, o, &at, &first, &end);
  return end - first;
}

tfsdk_status *nn_avg_compute_grad(const nn_pool *f, tfsdk_run *r) {
  const tfsdk_view *dy = &r->in[1], *dx = &r->out[0];
  tfsdk_shape shape = tfsdk_shape_of_view(dx);
  tfsdk_geometry g;
  tfsdk_layout in, out;
  void *work;
  TFSDK_TRY(avg_geometry(f, r->host, &r->attr, &shape, &g));
  const tfsdk_span *d = &g.axis[0], *h = &g.axis[1], *w = &g.axis[2];
  in = tfsdk_layout_in(&g);
  out = tfsdk_layout_out(&g);
  TFSDK_TRY(r->api->workspace(r, (2 * (size_t)g.in_c + 1) * sizeof(double), &work));
  double *row = (double *)work, *sum = row + g.in_c;
  for (int64_t n = 0; n < g.batch; n++)
    for (int64_t id = 0; id < d->in; id++)
      for (int64_t ih = 0; ih < h->in; ih++)
        for (int64_t iw = 0; iw < w->in; iw++) {
          for (int64_t c = 0; c < g.in_c; c++) sum[c] = 0;
          for (int64_t td = 0; td < d->window; td++)
            for (int64_t th = 0; th < h->window; th++)
              for (int64_t tw = 0; tw < w->window; tw++) {
                int64_t od = tfsdk_span_output(d, id, td), oh = tfsdk_span_output(h, ih, th);
                int64_t ow = tfsdk_span_output(w, iw, tw);
                if (od < 0 || oh < 0 || ow < 0) continue;
                double count = (double)(taps(d, od) * taps(h, oh) * taps(w, ow));
                nn_load_f(dy->dtype, dy->data,
                          n * out.batch + od * out.axis[0] + oh * out.axis[1] + ow * out.axis[2],
                          out.channel, g.out_c, row);
                for (int64_t c = 0; c < g.in_c; c++) sum[c] += row[c] / count;
              }
          nn_store_f(dx->dtype, dx->data,
                     n * in.batch + id * in.axis[0] + ih * in.axis[1] + iw * in.axis[2], in.channel,
                     g.in_c, sum);
        }
  return NULL;
}

tfsdk_status *nn_avg_grad(const nn_pool *f, tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val in[2] = {nn_shape_of(c, tfsdk_input(g, 0)), tfsdk_dy(g, 0)};
  return tfsdk_set_dx(g, 0, nn_emit_like(c, g, f->grad, in, 2));
}
tfsdk_status *nn_avg_grad_grad(const nn_pool *f, tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val dy = tfsdk_dy(g, 0);
  return tfsdk_set_dx(g, 1, nn_emit_like(c, g, f->forward, &dy, 1));
}
