/* MaxPool and AvgPool, channels last. A unit is a few images. */
#include "onednn.h"

#include <tfsdk/window.h>

static tfsdk_status *supports(const tfsdk_kbuild *b, int32_t *yes, char *why, size_t why_n) {
  uint32_t n;
  const int64_t *window = tfsdk_attr_ints(&b->attr, "ksize", &n);
  *yes = 0;
  if (strcmp(tfsdk_attr_string(&b->attr, "data_format"), "NHWC") != 0)
    snprintf(why, why_n, "only data_format NHWC");
  else if (n != 4 || window[3] != 1)
    snprintf(why, why_n, "no windows over channels");
  else
    *yes = 1;
  return NULL;
}

static tfsdk_status *describe(dn_plan *p, const tfsdk_run *r, const tfsdk_geometry *g,
                              int64_t images, int tail) {
  const tfsdk_span *h = &g->axis[TFSDK_AXIS_H], *w = &g->axis[TFSDK_AXIS_W];
  const dnnl_alg_kind_t kind =
      strcmp(r->op->name, "MaxPool") == 0 ? dnnl_pooling_max : dnnl_pooling_avg_exclude_padding;
  const dnnl_dims_t x_dim = {images, g->in_c, h->in, w->in};
  const dnnl_dims_t y_dim = {images, g->in_c, h->out, w->out};
  const dn_window window = {.window = {h->window, w->window},
                            .stride = {h->stride, w->stride},
                            .before = {h->before, w->before},
                            .after = {(h->out - 1) * h->stride + h->window - h->in - h->before,
                                      (w->out - 1) * w->stride + w->window - w->in - w->before}};
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t s;
  dn_desc x, y;
  TFSDK_TRY(dn_layout(p, r, 4, x_dim, dnnl_nhwc, &x));
  TFSDK_TRY(dn_layout(p, r, 4, y_dim, dnnl_nhwc, &y));
  s = dn_describe_pool(p->lib, kind, x, y, &window, &pd);
  return dn_make(p, r, s, pd, tail);
}

static tfsdk_status *prepare(void *state, tfsdk_run *r) {
  dn_plan *p = (dn_plan *)state;
  const tfsdk_view *x = &r->in[0], *y = &r->out[0];
  const tfsdk_shape in = tfsdk_shape_of_view(x);
  tfsdk_geometry g;
  int64_t length;
  dn_reset(p);
  if (x->n_elem == 0 || y->n_elem == 0) return NULL;
  TFSDK_TRY(tfsdk_geometry_pool(r->host, &r->attr, 2, &in, &g));
  length = dn_unit_length(g.batch, DN_LANES, 16384 / (x->n_elem / g.batch) + 1);
  p->units = p->slices = (g.batch + length - 1) / length;
  p->has_tail = g.batch % length != 0;
  p->n_operands = 2;
  p->operand[0].arg = DNNL_ARG_SRC;
  p->operand[1].arg = DNNL_ARG_DST;
  p->operand[0].step = length * (int64_t)x->byte_size / g.batch;
  p->operand[1].step = length * (int64_t)y->byte_size / g.batch;
  TFSDK_TRY(describe(p, r, &g, length, 0));
  if (p->has_tail) TFSDK_TRY(describe(p, r, &g, g.batch % length, 1));
  return dn_finish(p, r);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  dn_plan *p = (dn_plan *)state;
  if (r->out[0].n_elem == 0) return NULL;
  if (!dn_ready(p, r)) TFSDK_TRY(prepare(p, r));
  if (!p->ready)
    return TFSDK_FAIL(r, INVALID_ARGUMENT, "the images are empty, but there are outputs");
  p->operand[0].base = (char *)r->in[0].data;
  p->operand[1].base = (char *)r->out[0].data;
  return dn_run(p, r, 0);
}

static const tfsdk_kerneldef kernels[] = {
    {DN_KERNEL("MaxPool", 0, prepare, compute), .supports = supports},
    {DN_KERNEL("AvgPool", 0, prepare, compute), .supports = supports}};
TFSDK_UNIT_KERNELS(pool, kernels);
