/* Conv2D, Conv2DBackpropInput and Conv2DBackpropFilter for channels-last images, on conv.h.
 *
 * The gradient with respect to the image: position (y, x) of the image is met by tap (a, b) of
 * output (i, j) where  y = i s - p + a d.  All y of one residue class modulo s have the same taps
 * a, those with (y + p - a d) divisible by s; their outputs are neighbours. So each pair of
 * residues is a convolution of the upstream gradient without a stride, with every s-th tap or so,
 * in reversed order.
 */
#include "common.h"
#include "conv.h"

#include <tfsdk/window.h>

static tfsdk_status *supports(const tfsdk_kbuild *b, int32_t *yes, char *why, size_t why_n) {
  if (strcmp(tfsdk_attr_string(&b->attr, "data_format"), "NHWC") != 0)
    CPU_CANNOT("only data_format NHWC");
  *yes = 1;
  return NULL;
}

static tfsdk_status *geometry(const tfsdk_run *r, const tfsdk_view *image, const tfsdk_view *filter,
                              tfsdk_geometry *g) {
  tfsdk_shape x = tfsdk_shape_of_view(image), f = tfsdk_shape_of_view(filter);
  return tfsdk_geometry_conv(r->host, &r->attr, 2, &x, &f, g);
}

/* An output without elements, or one whose every sum is empty: zeros. */
static int trivial(const tfsdk_geometry *g, const tfsdk_view *out) {
  const tfsdk_span *h = &g->axis[TFSDK_AXIS_H], *w = &g->axis[TFSDK_AXIS_W];
  if (out->n_elem > 0 && g->batch > 0 && g->in_c > 0 && g->out_c > 0 && h->in > 0 && w->in > 0 &&
      h->out > 0 && w->out > 0 && h->window > 0 && w->window > 0)
    return 0;
  if (out->n_elem > 0) memset(out->data, 0, out->byte_size);
  return 1;
}

static int one_by_one(const tfsdk_geometry *g) {
  const tfsdk_span *h = &g->axis[TFSDK_AXIS_H], *w = &g->axis[TFSDK_AXIS_W];
  return g->groups == 1 && h->window == 1 && w->window == 1 && h->stride == 1 && w->stride == 1 &&
         h->before == 0 && w->before == 0 && h->in == h->out && w->in == w->out;
}

static cpu_conv_axis axis_of(const tfsdk_span *s) {
  cpu_conv_axis a = {s->in, s->out, s->window, s->stride, -s->before, s->dilation};
  return a;
}

/* The forward map of the first group; the gradient of the filter is its adjoint. */
static cpu_conv forward_map(const tfsdk_geometry *g, const tfsdk_view *x, const void *filter,
                            const tfsdk_view *y) {
  cpu_conv v = {.dtype = x->dtype, .batch = g->batch};
  v.h = axis_of(&g->axis[TFSDK_AXIS_H]);
  v.w = axis_of(&g->axis[TFSDK_AXIS_W]);
  v.src = x->data;
  v.src_pixel = g->in_c;
  v.channels = g->in_c / g->groups;
  v.filter = filter;
  v.f_o = 1;
  v.f_c = g->out_c;
  v.f_w = v.channels * v.f_c;
  v.f_h = v.w.taps * v.f_w;
  v.dst = y->data;
  v.dst_pixel = g->out_c;
  v.dst_row = v.w.out * v.dst_pixel;
  v.dst_image = v.h.out * v.dst_row;
  v.n = g->out_c / g->groups;
  return v;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *f = &r->in[1], *y = &r->out[0];
  const size_t size = tfsdk_dtype_size(y->dtype);
  const uint32_t threads = cpu_run_threads(r);
  tfsdk_geometry g;
  cpu_conv v;
  void *scratch;
  (void)state;
  TFSDK_TRY(geometry(r, x, f, &g));
  if (trivial(&g, y)) {
    if (y->n_elem > 0) cpu_finish_rows(r, 0, y->n_elem / g.out_c, g.out_c);
    return NULL;
  }
  if (one_by_one(&g)) {
    cpu_gemm m = {.dtype = y->dtype,
                  .finish = 1,
                  .n = g.out_c,
                  .k = g.in_c,
                  .a = x->data,
                  .b = f->data,
                  .c = y->data,
                  .a_row = g.in_c,
                  .a_col = 1,
                  .b_row = g.out_c,
                  .b_col = 1,
                  .b_stamp = f->stamp,
                  .c_row = g.out_c};
    m.m = y->n_elem / g.out_c;
    return cpu_gemm_run(r, &m);
  }
  v = forward_map(&g, x, f->data, y);
  if (g.groups == 1) v.finish = r;
  TFSDK_TRY(r->api->workspace(r, cpu_conv_scratch(&v, threads), &scratch));
  for (int64_t i = 0; i < g.groups; i++) {
    cpu_conv one = v;
    one.src = (const char *)v.src + (size_t)(i * v.channels) * size;
    one.filter = (const char *)v.filter + (size_t)(i * v.n) * size;
    one.dst = (char *)v.dst + (size_t)(i * v.n) * size;
    cpu_conv_run(r, &one, threads, scratch);
  }
  if (g.groups > 1) cpu_finish_rows(r, 0, y->n_elem / g.out_c, g.out_c);
  return NULL;
}

/* Residue class `phase` of an axis of the image: which taps it meets. 0 if none. *tap is the first
 * of them in the order of the convolution, the others are `tap_step` apart. */
static int phase_axis(const tfsdk_span *s, int64_t phase, cpu_conv_axis *a, int64_t *tap,
                      int64_t *tap_step) {
  int64_t count = 0, lowest = -1, second = -1, highest = -1;
  for (int64_t k = 0; k < s->window; k++) {
    if ((phase + s->before - k * s->dilation) % s->stride != 0) continue;
    if (count == 0) lowest = k;
    if (count == 1) second = k;
    highest = k;
    count++;
  }
  a->in = s->out;
  a->out = (s->in - phase + s->stride - 1) / s->stride;
  a->taps = count;
  a->stride = 1;
  a->first = count ? (phase + s->before - highest * s->dilation) / s->stride : 0;
  a->step = count > 1 ? (second - lowest) * s->dilation / s->stride : 1;
  *tap = highest;
  *tap_step = count > 1 ? lowest - second : 0;
  return count > 0 && a->out > 0;
}

/* The convolution that gives the image's gradient at phase (ph, pw) for the first group. */
static int phase_map(const tfsdk_geometry *g, const tfsdk_view *dx, const tfsdk_view *filter,
                     const tfsdk_view *dy, int64_t ph, int64_t pw, cpu_conv *v) {
  const tfsdk_span *h = &g->axis[TFSDK_AXIS_H], *w = &g->axis[TFSDK_AXIS_W];
  const int64_t in_c = g->in_c / g->groups, pixel = in_c * g->out_c;
  const size_t size = tfsdk_dtype_size(dx->dtype);
  int64_t tap_h, tap_w, step_h, step_w;
  memset(v, 0, sizeof *v);
  if (!phase_axis(h, ph, &v->h, &tap_h, &step_h) || !phase_axis(w, pw, &v->w, &tap_w, &step_w))
    return 0;
  v->dtype = dx->dtype;
  v->batch = g->batch;
  v->src = dy->data;
  v->src_pixel = g->out_c;
  v->channels = g->out_c / g->groups;
  v->filter = (const char *)filter->data + (size_t)((tap_h * w->window + tap_w) * pixel) * size;
  v->f_h = step_h * w->window * pixel;
  v->f_w = step_w * pixel;
  v->f_c = 1;
  v->f_o = g->out_c;
  v->dst = (char *)dx->data + (size_t)((ph * w->in + pw) * g->in_c) * size;
  v->dst_image = h->in * w->in * g->in_c;
  v->dst_row = h->stride * w->in * g->in_c;
  v->dst_pixel = w->stride * g->in_c;
  v->n = in_c;
  return 1;
}

static tfsdk_status *compute_input(void *state, tfsdk_run *r) {
  const tfsdk_view *f = &r->in[1], *dy = &r->in[2], *dx = &r->out[0];
  const size_t size = tfsdk_dtype_size(dx->dtype);
  const uint32_t threads = cpu_run_threads(r);
  const tfsdk_span *h, *w;
  tfsdk_geometry g;
  cpu_conv v;
  size_t bytes = 0;
  int missing = 0;
  void *scratch;
  (void)state;
  TFSDK_TRY(geometry(r, dx, f, &g));
  if (trivial(&g, dx)) return NULL;
  if (one_by_one(&g)) {
    cpu_gemm m = {.dtype = dx->dtype,
                  .n = g.in_c,
                  .k = g.out_c,
                  .a = dy->data,
                  .b = f->data,
                  .c = dx->data,
                  .a_row = g.out_c,
                  .a_col = 1,
                  .b_row = 1,
                  .b_col = g.out_c,
                  .b_stamp = f->stamp,
                  .c_row = g.in_c};
    m.m = dx->n_elem / g.in_c;
    return cpu_gemm_run(r, &m);
  }
  h = &g.axis[TFSDK_AXIS_H], w = &g.axis[TFSDK_AXIS_W];
  for (int64_t ph = 0; ph < h->stride; ph++)
    for (int64_t pw = 0; pw < w->stride; pw++) {
      if (!phase_map(&g, dx, f, dy, ph, pw, &v))
        missing = 1;
      else if (cpu_conv_scratch(&v, threads) > bytes)
        bytes = cpu_conv_scratch(&v, threads);
    }
  if (missing) memset(dx->data, 0, dx->byte_size);
  TFSDK_TRY(r->api->workspace(r, bytes, &scratch));
  for (int64_t ph = 0; ph < h->stride; ph++)
    for (int64_t pw = 0; pw < w->stride; pw++) {
      if (!phase_map(&g, dx, f, dy, ph, pw, &v)) continue;
      for (int64_t i = 0; i < g.groups; i++) {
        cpu_conv one = v;
        one.src = (const char *)v.src + (size_t)(i * v.channels) * size;
        one.filter = (const char *)v.filter + (size_t)(i * v.channels) * size;
        one.dst = (char *)v.dst + (size_t)(i * v.n) * size;
        cpu_conv_run(r, &one, threads, scratch);
      }
    }
  return NULL;
}

/* Every stride-th pixel of an image, for a filter of one tap. */
typedef struct thin_job {
  const char *x;
  char *to;
  int64_t rows, cols;         /* of positions of an image */
  int64_t image, row, column; /* bytes from position to position in x */
  int64_t pixel;              /* bytes */
} thin_job;
static void thin_range(void *user, int64_t begin, int64_t end) {
  const thin_job *j = (const thin_job *)user;
  for (int64_t i = begin; i < end; i++) {
    const char *from = j->x + i / j->rows * j->image + i % j->rows * j->row;
    char *to = j->to + i * j->cols * j->pixel;
    for (int64_t q = 0; q < j->cols; q++)
      memcpy(to + q * j->pixel, from + q * j->column, (size_t)j->pixel);
  }
}

/* The gradient of a filter of one tap is a plain product: pixels^T dy. */
static tfsdk_status *filter_of_one_tap(tfsdk_run *r, const tfsdk_geometry *g) {
  const tfsdk_view *x = &r->in[0], *dy = &r->in[2], *df = &r->out[0];
  const tfsdk_span *h = &g->axis[TFSDK_AXIS_H], *w = &g->axis[TFSDK_AXIS_W];
  const int64_t size = (int64_t)tfsdk_dtype_size(df->dtype);
  cpu_gemm m = {.dtype = df->dtype, .m = g->in_c, .n = g->out_c, .a = x->data, .b = dy->data};
  m.k = g->batch * h->out * w->out;
  m.c = df->data;
  m.a_row = 1, m.a_col = g->in_c, m.b_row = g->out_c, m.b_col = 1, m.c_row = g->out_c;
  if (h->stride != 1 || w->stride != 1) {
    thin_job j = {.x = (const char *)x->data, .rows = h->out, .cols = w->out};
    void *to;
    TFSDK_TRY(r->api->workspace(r, (size_t)(m.k * g->in_c * size), &to));
    j.to = (char *)to;
    j.pixel = g->in_c * size;
    j.column = w->stride * j.pixel;
    j.row = h->stride * w->in * j.pixel;
    j.image = h->in * w->in * j.pixel;
    r->api->par_for(r, g->batch * h->out, cpu_row_grain(w->out * g->in_c, CPU_GRAIN_COPY),
                    thin_range, &j);
    m.a = to;
  }
  return cpu_gemm_run(r, &m);
}

/* Measured: it is the better way for many channels, while few profit from images in the cache. */
static int product_pays(const tfsdk_geometry *g) {
  const tfsdk_span *h = &g->axis[TFSDK_AXIS_H], *w = &g->axis[TFSDK_AXIS_W];
  const int64_t positions = g->batch * h->out * w->out;
  const int one_tap = g->groups == 1 && h->window == 1 && w->window == 1 && h->before == 0 &&
                      w->before == 0 && (h->out - 1) * h->stride < h->in &&
                      (w->out - 1) * w->stride < w->in;
  return one_tap &&
         (g->in_c >= 512 ||
          (g->in_c >= 256 && (h->stride > 1 || (positions <= 2048 && g->out_c >= 1024))));
}

static tfsdk_status *compute_filter(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *dy = &r->in[2], *df = &r->out[0];
  const size_t size = tfsdk_dtype_size(df->dtype);
  const uint32_t threads = cpu_run_threads(r);
  tfsdk_geometry g;
  cpu_conv v;
  void *scratch;
  (void)state;
  TFSDK_TRY(geometry(r, x, df, &g));
  if (trivial(&g, df)) return NULL;
  if (product_pays(&g)) return filter_of_one_tap(r, &g);
  v = forward_map(&g, x, NULL, dy);
  TFSDK_TRY(r->api->workspace(r, cpu_conv_filter_scratch(&v, threads), &scratch));
  for (int64_t i = 0; i < g.groups; i++) {
    cpu_conv one = v;
    one.src = (const char *)v.src + (size_t)(i * v.channels) * size;
    one.dst = (char *)v.dst + (size_t)(i * v.n) * size;
    cpu_conv_filter_run(r, &one, threads, (char *)df->data + (size_t)(i * v.n) * size, scratch);
  }
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Conv2D", "gemm", compute), .supports = supports, .traits = TFSDK_KERNEL_FINISHES},
    {CPU_KERNEL("Conv2DBackpropInput", "gemm", compute_input), .supports = supports},
    {CPU_KERNEL("Conv2DBackpropFilter", "gemm", compute_filter), .supports = supports}};
TFSDK_UNIT_KERNELS(conv2d, kernels);
