/* Dilation2D: grey-scale morphological dilation,
 *     y[n, i, j, c] = max over a, b of x[n, i s - p + a d, j s - p + b d, c] + f[a, b, c],
 * over the taps that lie in the image. A maximum has one winner (the first in row order), so the
 * gradients hand dy to the winners' places in the image or the filter, and their gradients read
 * those places. */
#include <math.h>
#include <tfsdk/unit.h>
#include <tfsdk/window.h>
#include "emit_nn.h"
#include "row.h"

/* `rates` is what elsewhere is called dilations. */
static tfsdk_status *geometry(const tfsdk_host *host, const tfsdk_attrs *attr, const tfsdk_shape *x,
                              const tfsdk_shape *f, tfsdk_geometry *g) {
  tfsdk_infer c = {.host = host};
  tfsdk_window_spec s;
  int64_t window[3] = {1, -1, -1};
  tfsdk_window_spec_read(attr, &s);
  s.dilations = tfsdk_attr_ints(attr, "rates", &s.n_dilations);
  TFSDK_REQUIRE(&c, f->rank < 0 || f->rank == 3, "'filter' must have rank 3, but its shape is %s",
                tfsdk_shape_text(f).s);
  if (f->rank >= 0) {
    window[1] = f->dim[0];
    window[2] = f->dim[1];
  }
  TFSDK_TRY(tfsdk_geometry_axes(&c, &s, 2, x, window, g));
  if (f->rank >= 0)
    TFSDK_TRY(
        tfsdk_merge_dim(&c, g->in_c, f->dim[2], "channels of 'input' and 'filter'", &g->in_c));
  g->out_c = g->in_c;
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_geometry g;
  TFSDK_TRY(geometry(c->host, &c->attr, &c->in[0].shape, &c->in[1].shape, &g));
  c->out[0].shape = tfsdk_geometry_out(&g);
  return NULL;
}

/* The backward ops take (input, filter, t) and give a tensor; `takes` and `gives` say of which
 * shapes. */
enum role { IMAGE, FILTER, OUTPUT };
static tfsdk_status *infer_back(tfsdk_infer *c, enum role takes, enum role gives) {
  tfsdk_geometry g;
  tfsdk_shape shape[3], same;
  TFSDK_TRY(geometry(c->host, &c->attr, &c->in[0].shape, &c->in[1].shape, &g));
  shape[IMAGE] = c->in[0].shape;
  shape[FILTER] = c->in[1].shape;
  shape[OUTPUT] = tfsdk_geometry_out(&g);
  TFSDK_TRY(tfsdk_merge(c, &c->in[2].shape, &shape[takes], "the third argument", &same));
  c->out[0].shape = shape[gives];
  return NULL;
}
static tfsdk_status *infer_input(tfsdk_infer *c) { return infer_back(c, OUTPUT, IMAGE); }
static tfsdk_status *infer_filter(tfsdk_infer *c) { return infer_back(c, OUTPUT, FILTER); }
static tfsdk_status *infer_input_grad(tfsdk_infer *c) { return infer_back(c, IMAGE, OUTPUT); }
static tfsdk_status *infer_filter_grad(tfsdk_infer *c) { return infer_back(c, FILTER, OUTPUT); }

static void load(const tfsdk_view *v, int64_t at, int64_t n, double *out) {
  int64_t whole = 0;
  if (nn_is_float(v->dtype))
    nn_load_f(v->dtype, v->data, at, 1, n, out);
  else
    for (int64_t i = 0; i < n; i++) { /* exact: the record allows integers up to 32 bits only */
      nn_load_i(v->dtype, v->data, at + i, 1, 1, &whole);
      out[i] = (double)whole;
    }
}
static void store(const tfsdk_view *v, int64_t at, int64_t n, const double *in) {
  if (nn_is_float(v->dtype))
    nn_store_f(v->dtype, v->data, at, 1, n, in);
  else
    for (int64_t i = 0; i < n; i++) {
      int64_t whole = isinf(in[i]) ? 0 : (int64_t)in[i];
      if (isinf(in[i]))
        nn_store_lowest(v, at + i);
      else
        nn_store_i(v->dtype, v->data, at + i, 1, 1, &whole);
    }
}

enum mode { MAXIMUM, TO_IMAGE, TO_FILTER, FROM_IMAGE, FROM_FILTER };

/* Finds the winners of a row of channels and does with them what `mode` says. */
static tfsdk_status *walk(tfsdk_run *r, enum mode mode) {
  const tfsdk_view *x = &r->in[0], *f = &r->in[1], *t = &r->in[2], *y = &r->out[0];
  tfsdk_shape xs = tfsdk_shape_of_view(x), fs = tfsdk_shape_of_view(f);
  tfsdk_geometry g;
  void *work;
  TFSDK_TRY(geometry(r->host, &r->attr, &xs, &fs, &g));
  const tfsdk_span *h = &g.axis[TFSDK_AXIS_H], *w = &g.axis[TFSDK_AXIS_W];
  tfsdk_layout in = tfsdk_layout_in(&g), out = tfsdk_layout_out(&g);
  size_t n_c = (size_t)g.in_c,
         n_sums = mode == TO_IMAGE || mode == TO_FILTER ? (size_t)y->n_elem : 0;
  TFSDK_TRY(r->api->workspace(r, (6 * n_c + n_sums + 1) * sizeof(double), &work));
  double *image = (double *)work, *weight = image + n_c, *best = weight + n_c, *row = best + n_c;
  int64_t *place = (int64_t *)(row + n_c),
          *tap = place + n_c; /* of the winner: in the image, in the filter */
  double *sums = (double *)(tap + n_c);
  memset(sums, 0, n_sums * sizeof(double));
  for (int64_t n = 0; n < g.batch; n++)
    for (int64_t oh = 0; oh < h->out; oh++)
      for (int64_t ow = 0; ow < w->out; ow++) {
        int64_t ah, aw, h0, h1, w0, w1, o = n * out.batch + oh * out.axis[1] + ow * out.axis[2];
        tfsdk_span_taps(h, oh, &ah, &h0, &h1);
        tfsdk_span_taps(w, ow, &aw, &w0, &w1);
        for (int64_t c = 0; c < g.in_c; c++) {
          best[c] = -HUGE_VAL;
          place[c] = tap[c] = -1;
        }
        for (int64_t th = h0; th < h1; th++)
          for (int64_t tw = w0; tw < w1; tw++) {
            int64_t at = n * in.batch + (ah + th * h->dilation) * in.axis[1] +
                         (aw + tw * w->dilation) * in.axis[2];
            int64_t at_f = (th * w->window + tw) * g.in_c;
            load(x, at, g.in_c, image);
            load(f, at_f, g.in_c, weight);
            for (int64_t c = 0; c < g.in_c; c++) {
              double v = image[c] + weight[c];
              if (place[c] >= 0 && !(v > best[c]) && !(isnan(v) && !isnan(best[c]))) continue;
              best[c] = v;
              place[c] = at + c;
              tap[c] = at_f + c;
            }
          }
        if (mode == TO_IMAGE || mode == TO_FILTER) load(t, o, g.in_c, row);
        for (int64_t c = 0; c < g.in_c; c++) {
          int64_t won = mode == TO_IMAGE || mode == FROM_IMAGE ? place[c] : tap[c];
          if (mode == FROM_IMAGE || mode == FROM_FILTER) {
            best[c] = 0;
            if (won >= 0) load(t, won, 1, &best[c]);
          } else if (mode != MAXIMUM && won >= 0)
            sums[won] += row[c];
        }
        if (n_sums == 0) store(y, o, g.in_c, best);
      }
  if (n_sums != 0) store(y, 0, y->n_elem, sums);
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return walk(r, MAXIMUM);
}
static tfsdk_status *compute_input(void *state, tfsdk_run *r) {
  (void)state;
  return walk(r, TO_IMAGE);
}
static tfsdk_status *compute_filter(void *state, tfsdk_run *r) {
  (void)state;
  return walk(r, TO_FILTER);
}
static tfsdk_status *compute_input_grad(void *state, tfsdk_run *r) {
  (void)state;
  return walk(r, FROM_IMAGE);
}
static tfsdk_status *compute_filter_grad(void *state, tfsdk_run *r) {
  (void)state;
  return walk(r, FROM_FILTER);
}

static tfsdk_val emit_back(tfsdk_ctx *c, tfsdk_gradcall *g, const char *op) {
  tfsdk_val in[3] = {tfsdk_input(g, 0), tfsdk_input(g, 1), tfsdk_dy(g, 0)};
  return nn_emit_like(c, g, op, in, 3);
}
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  if (tfsdk_wants(g, 0)) TFSDK_TRY(tfsdk_set_dx(g, 0, emit_back(c, g, "Dilation2DBackpropInput")));
  if (tfsdk_wants(g, 1)) TFSDK_TRY(tfsdk_set_dx(g, 1, emit_back(c, g, "Dilation2DBackpropFilter")));
  return NULL;
}
/* The winners do not change with small changes of image and filter: only the third argument has
 * a gradient. */
static tfsdk_status *grad_input(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 2, emit_back(c, g, "Dilation2DBackpropInputGrad"));
}
static tfsdk_status *grad_filter(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 2, emit_back(c, g, "Dilation2DBackpropFilterGrad"));
}
static tfsdk_status *grad_input_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 2, emit_back(c, g, "Dilation2DBackpropInput"));
}
static tfsdk_status *grad_filter_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 2, emit_back(c, g, "Dilation2DBackpropFilter"));
}

#define INPUTS                                                                                     \
  {"input", "T", "images [batch, height, width, channels]", 0, 0}, {                               \
    "filter", "T", "[height, width, channels]", 0, 0                                               \
  }
static const tfsdk_arg in[] = {INPUTS};
static const tfsdk_arg in_back[] = {INPUTS,
                                    {"out_backprop", "T", "the gradient of the dilation", 0, 0}};
static const tfsdk_arg in_image[] = {INPUTS, {"grad", "T", "of the shape of `input`", 0, 0}};
static const tfsdk_arg in_filter[] = {INPUTS, {"grad", "T", "of the shape of `filter`", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "images", 0, 0}};
static const tfsdk_arg out_input[] = {{"in_backprop", "T", "of the shape of `input`", 0, 0}};
static const tfsdk_arg out_filter[] = {{"filter_backprop", "T", "of the shape of `filter`", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64,int32,uint8,int16,int8,uint16,uint32}", NULL,
     "the elements' type", 0, 0},
    {"strides", "list(int)", NULL, "4 steps of the window; 1 for batch and channels", 0, 0},
    {"rates", "list(int)", NULL, "4 distances of the filter's taps; 1 for batch and channels", 0,
     0},
    {"padding", "string{SAME,VALID}", NULL, "as in Conv2D; padding never wins", 0, 0}};
static const char *const samples[] = {
    "T[1,5,6,2] ; T[2,3,2](0.1,0.93) | strides=[1,1,2,1] ; rates=[1,2,1,1] ; padding=SAME",
    "T[1,5,6,2] ; T[2,3,2](0.1,0.93) | strides=[1,1,1,1] ; rates=[1,1,1,1] ; padding=VALID",
    "T[0,5,6,2] ; T[2,3,2](0.1,0.93) | strides=[1,1,1,1] ; rates=[1,1,1,1] ; padding=SAME", NULL};
static const char *const samples_back[] = {"T[1,4,4,2] ; T[2,3,2](0.1,0.93) ; T[1,3,2,2] | "
                                           "strides=[1,1,1,1] ; rates=[1,1,1,1] ; padding=VALID",
                                           NULL};
static const char *const samples_image[] = {"T[1,4,4,2] ; T[2,3,2](0.1,0.93) ; T[1,4,4,2] | "
                                            "strides=[1,1,1,1] ; rates=[1,1,1,1] ; padding=VALID",
                                            NULL};
static const char *const samples_filter[] = {
    "T[1,4,4,2] ; T[2,3,2](0.1,0.93) ; T[2,3,2](0.1,0.93) | strides=[1,1,1,1] ; rates=[1,1,1,1] ; "
    "padding=VALID",
    NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Dilation2D", "grey-scale dilation of images"),
     .doc = "`output[n, i, j, c] = max over a, b of input[n, i * stride - before + a * rate, ..., "
            "c] + filter[a, b, c]` over the taps that lie in the image. The gradient goes to the "
            "first maximum in row order.",
     .in = in, .n_in = 2, .out = out, .n_out = 1, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = infer, .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
    {TFSDK_OP_HEAD("Dilation2DBackpropInput",
                   "the gradient of Dilation2D with respect to its input"),
     .doc = "Adds each element of `out_backprop` to the image's element that won there.",
     .in = in_back, .n_in = 3, .out = out_input, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer_input, .reference = compute_input,
     .grad = grad_input, .grad_in = 3, .samples = samples_back},
    {TFSDK_OP_HEAD("Dilation2DBackpropFilter",
                   "the gradient of Dilation2D with respect to its filter"),
     .doc = "Adds each element of `out_backprop` to the filter's element that won there.",
     .in = in_back, .n_in = 3, .out = out_filter, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer_filter, .reference = compute_filter,
     .grad = grad_filter, .grad_in = 3, .samples = samples_back},
    {TFSDK_OP_HEAD("Dilation2DBackpropInputGrad", "the gradient of Dilation2DBackpropInput"),
     .doc = "For each output position the element of `grad` that stands where the image's winner "
            "stands.",
     .in = in_image, .n_in = 3, .out = out, .n_out = 1, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = infer_input_grad, .reference = compute_input_grad, .grad = grad_input_grad,
     .grad_in = 3, .samples = samples_image},
    {TFSDK_OP_HEAD("Dilation2DBackpropFilterGrad", "the gradient of Dilation2DBackpropFilter"),
     .doc = "For each output position the element of `grad` that stands where the filter's winner "
            "stands.",
     .in = in_filter, .n_in = 3, .out = out, .n_out = 1, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = infer_filter_grad, .reference = compute_filter_grad, .grad = grad_filter_grad,
     .grad_in = 3, .samples = samples_filter}};
TFSDK_UNIT_OPS(dilation2d, ops);
