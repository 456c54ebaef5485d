/* DepthwiseConv2dNative and its gradients, float32, channels last: sums over the taps, with the
 * channels in the innermost loop. The fast case is one output channel for each input channel and
 * windows of up to 3 by 3 taps: depthwise.h.
 *
 * Pieces: rows of the output; for the filter's gradient a fixed number of parts of all rows, with
 * sums of their own. Sums along a row, or a few short ones, are in float, those of rows in double.
 */
#include "depthwise_images.h"

#define PIECE      32768 /* multiply-adds worth a piece */
#define MOST_PARTS 16

CPU_CLONES static void add_product(float *y, const float *a, const float *b, int64_t n) {
  _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) y[i] += a[i] * b[i];
}

/* y[c * m + k] += a[c] * b[c * m + k] */
static void forward_taps(const job *j, float *y, const float *a, const float *b) {
  if (j->m == 1) {
    add_product(y, a, b, j->c);
  } else {
    for (int64_t c = 0; c < j->c; c++)
      for (int64_t k = 0; k < j->m; k++) y[c * j->m + k] += a[c] * b[c * j->m + k];
  }
}
/* y[c] += sum over k of a[c * m + k] * b[c * m + k] */
static void input_taps(const job *j, float *y, const float *a, const float *b) {
  if (j->m == 1) {
    add_product(y, a, b, j->c);
  } else {
    for (int64_t c = 0; c < j->c; c++)
      for (int64_t k = 0; k < j->m; k++) y[c] += a[c * j->m + k] * b[c * j->m + k];
  }
}

/* ----------------------------------------------------------------------------------- in general */

static void forward_row(const job *j, int64_t i) {
  const int64_t n_out = j->c * j->m, width = j->w.in * j->c;
  const float *image = j->x + i / j->h.out * j->h.in * width;
  float *y = j->out + i * j->w.out * n_out;
  int64_t ah, aw, h0, h1, w0, w1;
  memset(y, 0, (size_t)(j->w.out * n_out) * sizeof *y);
  tfsdk_span_taps(&j->h, i % j->h.out, &ah, &h0, &h1);
  for (int64_t q = 0; q < j->w.out; q++, y += n_out) {
    tfsdk_span_taps(&j->w, q, &aw, &w0, &w1);
    for (int64_t s = h0; s < h1; s++)
      for (int64_t t = w0; t < w1; t++)
        forward_taps(j, y,
                     image + (ah + s * j->h.dilation) * width + (aw + t * j->w.dilation) * j->c,
                     j->filter + (s * j->w.window + t) * n_out);
  }
}

static void input_row(const job *j, int64_t i) {
  const int64_t n_out = j->c * j->m;
  const float *image = j->dy + i / j->h.in * j->h.out * j->w.out * n_out;
  float *dx = j->out + i * j->w.in * j->c;
  memset(dx, 0, (size_t)(j->w.in * j->c) * sizeof *dx);
  for (int64_t q = 0; q < j->w.in; q++, dx += j->c)
    for (int64_t s = 0; s < j->h.window; s++) {
      const int64_t o = tfsdk_span_output(&j->h, i % j->h.in, s);
      if (o < 0) continue;
      for (int64_t t = 0; t < j->w.window; t++) {
        const int64_t p = tfsdk_span_output(&j->w, q, t);
        if (p < 0) continue;
        input_taps(j, dx, image + (o * j->w.out + p) * n_out,
                   j->filter + (s * j->w.window + t) * n_out);
      }
    }
}

static void filter_row(const job *j, int64_t i, float *sums) {
  const int64_t n_out = j->c * j->m, width = j->w.in * j->c;
  const float *image = j->x + i / j->h.out * j->h.in * width;
  const float *dy = j->dy + i * j->w.out * n_out;
  int64_t ah, aw, h0, h1, w0, w1;
  tfsdk_span_taps(&j->h, i % j->h.out, &ah, &h0, &h1);
  for (int64_t q = 0; q < j->w.out; q++, dy += n_out) {
    tfsdk_span_taps(&j->w, q, &aw, &w0, &w1);
    for (int64_t s = h0; s < h1; s++)
      for (int64_t t = w0; t < w1; t++)
        forward_taps(j, sums + (s * j->w.window + t) * n_out,
                     image + (ah + s * j->h.dilation) * width + (aw + t * j->w.dilation) * j->c,
                     dy);
  }
}

static void forward_range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  for (int64_t i = begin; i < end; i++) {
    if (j->set)
      forward_fast(j, i);
    else
      forward_row(j, i);
    j->r->api->finish(j->r, i * j->w.out, (i + 1) * j->w.out);
  }
}

static void input_range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  for (int64_t i = begin; i < end; i++) {
    if (j->set)
      input_fast(j, i);
    else
      input_row(j, i);
  }
}

static void filter_range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t n = j->h.window * j->w.window * j->c * j->m, rows = j->batch * j->h.out;
  for (int64_t part = begin; part < end; part++) {
    double *sum = j->sums + part * n;
    float *row = j->rows + part * n;
    const int64_t first = rows * part / j->parts, last = rows * (part + 1) / j->parts;
    int64_t positions = 0;
    memset(sum, 0, (size_t)n * sizeof *sum);
    memset(row, 0, (size_t)n * sizeof *row);
    for (int64_t i = first; i < last; i++) {
      if (j->set)
        filter_fast(j, i, row);
      else
        filter_row(j, i, row);
      positions += j->w.out;
      if (positions + j->w.out > FLOAT_POSITIONS || i + 1 == last) {
        add_to_double(sum, row, n);
        positions = 0;
      }
    }
  }
}

CPU_CLONES static void join(const job *j, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    double s = 0;
    for (int64_t p = 0; p < j->parts; p++) s += j->sums[p * j->n + i];
    j->out[i] = (float)s;
  }
}
static void join_range(void *user, int64_t begin, int64_t end) {
  join((const job *)user, begin, end);
}

static int slides(const tfsdk_span *s) {
  if (s->window > CPU_DEPTHWISE_TAPS) return 0;
  /* taps of one phase must be a constant step apart */
  return s->stride == 1 || s->dilation == 1;
}

static tfsdk_status *open_job(tfsdk_run *r, const tfsdk_view *image, const tfsdk_view *filter,
                              job *j) {
  tfsdk_shape x = tfsdk_shape_of_view(image), f = tfsdk_shape_of_view(filter);
  tfsdk_geometry g;
  memset(j, 0, sizeof *j);
  TFSDK_TRY(tfsdk_geometry_depthwise(r->host, &r->attr, &x, &f, &g));
  j->batch = g.batch;
  j->c = g.in_c;
  j->m = filter->dim[3];
  j->h = g.axis[TFSDK_AXIS_H];
  j->w = g.axis[TFSDK_AXIS_W];
  j->out = (float *)r->out[0].data;
  j->r = r;
  if (j->m == 1 && slides(&j->h) && slides(&j->w)) j->set = cpu_depthwise_f32();
  return NULL;
}

static int64_t grain(const job *j, int64_t width) {
  return cpu_row_grain(width * j->c * j->m * j->h.window * j->w.window, PIECE);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  job j;
  (void)state;
  TFSDK_TRY(open_job(r, &r->in[0], &r->in[1], &j));
  j.x = (const float *)r->in[0].data;
  j.filter = (const float *)r->in[1].data;
  if (r->out[0].n_elem > 0)
    r->api->par_for(r, j.batch * j.h.out, grain(&j, j.w.out), forward_range, &j);
  return NULL;
}

static tfsdk_status *compute_input(void *state, tfsdk_run *r) {
  job j;
  (void)state;
  TFSDK_TRY(open_job(r, &r->out[0], &r->in[1], &j));
  j.filter = (const float *)r->in[1].data;
  j.dy = (const float *)r->in[2].data;
  if (r->out[0].n_elem > 0)
    r->api->par_for(r, j.batch * j.h.in, grain(&j, j.w.in), input_range, &j);
  return NULL;
}

static tfsdk_status *compute_filter(void *state, tfsdk_run *r) {
  const int64_t n = r->out[0].n_elem;
  int64_t positions;
  double work;
  slide h, w;
  images m;
  job j;
  void *room;
  (void)state;
  if (n == 0) return NULL;
  TFSDK_TRY(open_job(r, &r->in[0], &r->out[0], &j));
  j.x = (const float *)r->in[0].data;
  j.dy = (const float *)r->in[2].data;
  j.n = n;
  h = slide_forward(&j.h), w = slide_forward(&j.w);
  if (j.batch > 0 && images_begin(&m, &j, &h, &w, j.x)) {
    TFSDK_TRY(images_rooms(&m, r));
    r->api->par_for(r, m.blocks, 1, images_filter_range, &m);
    return NULL;
  }
  positions = j.batch * j.h.out * j.w.out;
  work = (double)positions * (double)n;
  j.parts = cpu_min(cpu_min((int64_t)(work / PIECE), positions / FLOAT_POSITIONS * 2), MOST_PARTS);
  j.parts = cpu_max(j.parts, 1);
  TFSDK_TRY(r->api->workspace(r, (size_t)(j.parts * n) * (sizeof(double) + sizeof(float)), &room));
  j.sums = (double *)room;
  j.rows = (float *)(j.sums + j.parts * n);
  r->api->par_for(r, j.parts, 1, filter_range, &j);
  r->api->par_for(r, n, PIECE / j.parts, join_range, &j);
  return NULL;
}

static tfsdk_status *supports(const tfsdk_kbuild *b, int32_t *yes, char *why, size_t why_n) {
  if (strcmp(tfsdk_attr_string(&b->attr, "data_format"), "NHWC") != 0)
    CPU_CANNOT("only data_format NHWC");
  *yes = 1;
  return NULL;
}

static const int32_t f32[] = {TFSDK_FLOAT32, 0};
static const tfsdk_where where[] = {{"T", f32}};
#define RECORD(op, fn, traits_)                                                                    \
  {                                                                                                \
    TFSDK_KERNEL_HEAD(op, "cpu", 100), .label = "vector", .where = where, .n_where = 1,            \
                                       .supports = supports, .compute = fn, .traits = traits_      \
  }
static const tfsdk_kerneldef kernels[] = {
    RECORD("DepthwiseConv2dNative", compute, TFSDK_KERNEL_FINISHES),
    RECORD("DepthwiseConv2dNativeBackpropInput", compute_input, 0),
    RECORD("DepthwiseConv2dNativeBackpropFilter", compute_filter, 0)};
TFSDK_UNIT_KERNELS(depthwise_conv2d_native, kernels);
