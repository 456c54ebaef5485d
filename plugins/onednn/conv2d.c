/* Conv2D and DepthwiseConv2dNative with their gradients, channels last. A unit is a few images. */
#include "onednn.h"

#include <tfsdk/window.h>

/* Each unit of a filter's gradient has one of its own to be added: memory. */
enum { FILTER_UNITS = 8 };

static tfsdk_status *supports(const tfsdk_kbuild *b, int32_t *yes, char *why, size_t why_n) {
  *yes = strcmp(tfsdk_attr_string(&b->attr, "data_format"), "NHWC") == 0;
  if (!*yes) snprintf(why, why_n, "only data_format NHWC");
  return NULL;
}

static tfsdk_status *supports_bfloat16(const tfsdk_kbuild *b, int32_t *yes, char *why,
                                       size_t why_n) {
  TFSDK_TRY(supports(b, yes, why, why_n));
  return *yes ? dn_supports_bfloat16(yes, why, why_n) : NULL;
}

static int kind_of(const tfsdk_run *r) {
  const char *name = r->op->name;
  if (strstr(name, "BackpropInput") != NULL) return DN_INPUT;
  return strstr(name, "BackpropFilter") != NULL ? DN_FILTER : DN_FORWARD;
}

/* The tensors in the roles of the forward map. */
typedef struct parts {
  const tfsdk_view *x, *f, *y;
  tfsdk_geometry g;
} parts;

static tfsdk_status *parts_of(const tfsdk_run *r, int kind, parts *out) {
  tfsdk_shape x, f;
  out->x = kind == DN_INPUT ? &r->out[0] : &r->in[0];
  out->f = kind == DN_FILTER ? &r->out[0] : &r->in[1];
  out->y = kind == DN_FORWARD ? &r->out[0] : &r->in[2];
  x = tfsdk_shape_of_view(out->x), f = tfsdk_shape_of_view(out->f);
  if (strncmp(r->op->name, "Depthwise", 9) == 0)
    return tfsdk_geometry_depthwise(r->host, &r->attr, &x, &f, &out->g);
  return tfsdk_geometry_conv(r->host, &r->attr, 2, &x, &f, &out->g);
}

/* Nothing to add up: zeros. */
static int trivial(const parts *t) {
  return t->x->n_elem == 0 || t->f->n_elem == 0 || t->y->n_elem == 0;
}

static tfsdk_status *describe(dn_plan *p, const tfsdk_run *r, const tfsdk_geometry *g, int kind,
                              int64_t images, int tail) {
  const tfsdk_span *h = &g->axis[TFSDK_AXIS_H], *w = &g->axis[TFSDK_AXIS_W];
  const int grouped = g->groups > 1;
  const int64_t in_c = g->in_c / g->groups, out_c = g->out_c / g->groups;
  const dnnl_dims_t x_dim = {images, g->in_c, h->in, w->in};
  const dnnl_dims_t y_dim = {images, g->out_c, h->out, w->out};
  const dnnl_dims_t f_all = {g->groups, out_c, in_c, h->window, w->window};
  const dnnl_dims_t f_step = {out_c, 1, g->out_c, w->window * in_c * g->out_c, in_c * g->out_c};
  const int64_t *f_dim = grouped ? f_all : f_all + 1;
  const int rank = grouped ? 5 : 4;
  const dn_window window = {
      .stride = {h->stride, w->stride},
      .dilate = {h->dilation - 1, w->dilation - 1},
      .before = {h->before, w->before},
      .after = {(h->out - 1) * h->stride + (h->window - 1) * h->dilation + 1 - h->in - h->before,
                (w->out - 1) * w->stride + (w->window - 1) * w->dilation + 1 - w->in - w->before}};
  dnnl_primitive_desc_t pd = NULL;
  dn_desc x, f = p->operand[1].md[0], y, forward_f; /* one filter for both */
  dnnl_status_t s;
  TFSDK_TRY(dn_layout(p, r, 4, x_dim, dnnl_nhwc, &x));
  TFSDK_TRY(dn_layout(p, r, 4, y_dim, dnnl_nhwc, &y));
  if (!tail) {
    const int32_t dtype = p->dtype;
    TFSDK_TRY(dn_strides(p, r, rank, f_dim, grouped ? f_step : f_step + 1, &p->operand[1].plain));
    if (kind == DN_FILTER) p->dtype = dnnl_f32; /* the units' gradients are added up in float */
    TFSDK_TRY(dn_layout(p, r, rank, f_dim, DN_ANY, &f));
    p->dtype = dtype;
  }
  forward_f = f;
  if (kind == DN_FILTER && p->dtype != dnnl_f32)
    TFSDK_TRY(dn_layout(p, r, rank, f_dim, DN_ANY, &forward_f));
  s = dn_describe_conv(p->lib, kind, x, f, y, forward_f, &window, &pd);
  return dn_make(p, r, s, pd, tail);
}

static tfsdk_status *prepare(void *state, tfsdk_run *r) {
  dn_plan *p = (dn_plan *)state;
  const int kind = kind_of(r);
  int64_t length;
  parts t;
  dn_reset(p);
  TFSDK_TRY(parts_of(r, kind, &t));
  if (trivial(&t)) return NULL;
  length = dn_unit_length(t.g.batch, kind == DN_FILTER ? FILTER_UNITS : DN_LANES, 1);
  p->units = p->slices = (t.g.batch + length - 1) / length;
  p->has_tail = t.g.batch % length != 0;
  p->n_operands = 3;
  p->operand[0].arg = kind == DN_INPUT ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC;
  p->operand[1].arg = kind == DN_FILTER ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS;
  p->operand[2].arg = kind == DN_FORWARD ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST;
  p->operand[0].step = length * (int64_t)t.x->byte_size / t.g.batch;
  p->operand[2].step = length * (int64_t)t.y->byte_size / t.g.batch;
  p->operand[1].shared = kind != DN_FILTER;
  if (kind == DN_FORWARD) {
    p->product_rows = t.y->n_elem / t.g.out_c;
    p->unit_rows = p->product_rows / t.g.batch * length;
  }
  TFSDK_TRY(describe(p, r, &t.g, kind, length, 0));
  if (p->has_tail) TFSDK_TRY(describe(p, r, &t.g, kind, t.g.batch % length, 1));
  if (kind == DN_FILTER) {
    dn_operand *o = &p->operand[1];
    o->step = (int64_t)((p->lib->memory_desc_get_size(o->md[0]) + 63) / 64 * 64);
    if (!p->lib->memory_desc_equal(o->plain, o->md[0])) TFSDK_TRY(dn_make_reorder(p, r, o, 0));
  }
  return dn_finish(p, r);
}

/* Begins a run: *done when there is nothing to compute. */
static tfsdk_status *begin(dn_plan *p, tfsdk_run *r, int kind, int *done) {
  parts t;
  *done = 0;
  if (!dn_ready(p, r)) {
    TFSDK_TRY(parts_of(r, kind, &t));
    *done = trivial(&t);
    if (*done) {
      if (r->out[0].n_elem > 0) memset(r->out[0].data, 0, r->out[0].byte_size);
      if (kind == DN_FORWARD) dn_finish_rows(r);
      return NULL;
    }
    TFSDK_TRY(prepare(p, r));
  }
  p->operand[0].base = (char *)(kind == DN_INPUT ? r->out[0].data : r->in[0].data);
  p->operand[1].base = (char *)(kind == DN_FILTER ? r->out[0].data : r->in[1].data);
  p->operand[2].base = (char *)(kind == DN_FORWARD ? r->out[0].data : r->in[2].data);
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  dn_plan *p = (dn_plan *)state;
  int done;
  TFSDK_TRY(begin(p, r, kind_of(r), &done));
  return done ? NULL : dn_run(p, r, r->in[1].stamp);
}

typedef struct sum_job {
  float *part;
  int64_t step, units;
} sum_job;

/* In the order of the units, whatever thread does it. */
static void sum(void *user, int64_t first, int64_t end) {
  const sum_job *j = (const sum_job *)user;
  for (int64_t u = 1; u < j->units; u++) {
    const float *from = j->part + u * j->step;
    for (int64_t i = first; i < end; i++) j->part[i] += from[i];
  }
}

static tfsdk_status *compute_filter(void *state, tfsdk_run *r) {
  dn_plan *p = (dn_plan *)state;
  dn_operand *o = &p->operand[1];
  void *parts_memory;
  sum_job j;
  int done;
  TFSDK_TRY(begin(p, r, DN_FILTER, &done));
  if (done) return NULL;
  if (p->units == 1 && p->reorder == NULL) return dn_run(p, r, 0);
  TFSDK_TRY(r->api->workspace(r, (size_t)(p->units * o->step), &parts_memory));
  o->base = (char *)parts_memory;
  TFSDK_TRY(dn_run(p, r, 0));
  j = (sum_job){(float *)parts_memory, o->step / (int64_t)sizeof(float), p->units};
  if (p->units > 1)
    r->api->par_for(r, (int64_t)p->lib->memory_desc_get_size(o->md[0]) / (int64_t)sizeof(float),
                    16384, sum, &j);
  if (p->reorder != NULL) return dn_reorder(p, r, (char *)r->out[0].data, (char *)parts_memory, 0);
  memcpy(r->out[0].data, parts_memory, r->out[0].byte_size);
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {
    {DN_KERNEL("Conv2D", DN_FINISHES, prepare, compute), .supports = supports},
    {DN_KERNEL("Conv2DBackpropInput", 0, prepare, compute), .supports = supports},
    {DN_KERNEL("Conv2DBackpropFilter", 0, prepare, compute_filter), .supports = supports},
    {DN_KERNEL("DepthwiseConv2dNative", DN_FINISHES, prepare, compute), .supports = supports},
    {DN_KERNEL("DepthwiseConv2dNativeBackpropInput", 0, prepare, compute), .supports = supports},
    {DN_KERNEL("DepthwiseConv2dNativeBackpropFilter", 0, prepare, compute_filter),
     .supports = supports},
    {DN_KERNEL_FASTER("Conv2D", DN_FINISHES, prepare, compute), .supports = dn_supports_faster},
    {DN_KERNEL_FASTER("Conv2DBackpropInput", 0, prepare, compute), .supports = dn_supports_faster},
    {DN_KERNEL_FASTER("DepthwiseConv2dNative", DN_FINISHES, prepare, compute),
     .supports = dn_supports_faster},
    {DN_KERNEL_FASTER("DepthwiseConv2dNativeBackpropFilter", 0, prepare, compute_filter),
     .supports = dn_supports_faster},
    {DN_KERNEL_BFLOAT16("Conv2D", DN_FINISHES, prepare, compute), .supports = supports_bfloat16},
    {DN_KERNEL_BFLOAT16("Conv2DBackpropInput", 0, prepare, compute), .supports = supports_bfloat16},
    {DN_KERNEL_BFLOAT16("Conv2DBackpropFilter", 0, prepare, compute_filter),
     .supports = supports_bfloat16}};
TFSDK_UNIT_KERNELS(conv2d, kernels);
