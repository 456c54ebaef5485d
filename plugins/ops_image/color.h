/* Colours of one pixel: red, green, blue in 0..1 to hue, saturation, value in 0..1 and back (A. R. Smith, "Color gamut
 * transform pairs", 1978), and the gradients of both. */
#ifndef OPS_IMAGE_COLOR_H
#define OPS_IMAGE_COLOR_H

#include <math.h>
#include <tfsdk/elementwise.h>

/* The largest and the smallest channel; of equal ones the first. */
static inline void color_extremes(const double x[3], int *most, int *least) {
  *most = x[0] >= x[1] && x[0] >= x[2] ? 0 : x[1] >= x[2] ? 1 : 2;
  *least = x[0] <= x[1] && x[0] <= x[2] ? 0 : x[1] <= x[2] ? 1 : 2;
}

/* Grey has the hue 0, black the saturation 0. */
static inline void color_to_hsv(const double x[3], double y[3]) {
  int most, least;
  color_extremes(x, &most, &least);
  double v = x[most], range = v - x[least];
  double h =
      range > 0 ? (x[(most + 1) % 3] - x[(most + 2) % 3]) / (6 * range) + (double)most / 3 : 0;
  y[0] = h < 0 ? h + 1 : h;
  y[1] = v > 0 ? range / v : 0;
  y[2] = v;
}
static inline void color_to_hsv_grad(const double x[3], const double dy[3], double dx[3]) {
  int most, least;
  color_extremes(x, &most, &least);
  double v = x[most], range = v - x[least];
  dx[0] = dx[1] = dx[2] = 0;
  dx[most] += dy[2];
  if (v > 0) { /* 1 - least / v */
    dx[most] += dy[1] * x[least] / (v * v);
    dx[least] -= dy[1] / v;
  }
  if (range > 0) {
    const int a = (most + 1) % 3, b = (most + 2) % 3;
    const double g = dy[0] / (6 * range), turn = g * (x[a] - x[b]) / range;
    dx[a] += g;
    dx[b] -= g;
    dx[most] -= turn;
    dx[least] += turn;
  }
}

/* How far channel i is in the colour circle at hue h: 0..1, and its slope. */
static inline double color_share(double h, int i, double *slope) {
  double d = i == 0 ? 6 * h - 3 : i == 1 ? 6 * h - 2 : 6 * h - 4;
  double w = i == 0 ? fabs(d) - 1 : 2 - fabs(d);
  *slope = w <= 0 || w >= 1 ? 0 : (i == 0) == (d > 0) ? 6 : -6;
  return w < 0 ? 0 : w > 1 ? 1 : w;
}
static inline void color_to_rgb(const double x[3], double y[3]) {
  double slope;
  for (int i = 0; i < 3; i++) y[i] = x[2] * (1 - x[1] + x[1] * color_share(x[0], i, &slope));
}
static inline void color_to_rgb_grad(const double x[3], const double dy[3], double dx[3]) {
  dx[0] = dx[1] = dx[2] = 0;
  for (int i = 0; i < 3; i++) {
    double slope, w = color_share(x[0], i, &slope);
    dx[0] += dy[i] * x[2] * x[1] * slope;
    dx[1] += dy[i] * x[2] * (w - 1);
    dx[2] += dy[i] * (1 - x[1] + x[1] * w);
  }
}

/* ------------------------------------------------------------------------------------------ kernels
 */

/* What a kernel does with one pixel; `b` is that of input 1 or NULL, `amount` a number of the op. */
typedef void color_pixel_fn(const double a[3], const double *b, double amount, double y[3]);

typedef struct color_job {
  const tfsdk_view *a, *b, *y;
  color_pixel_fn *fn;
  double amount;
} color_job;

#define COLOR_PIXELS_(id, S, C, LOAD, STORE, unused)                                               \
  case TFSDK_##id:                                                                                 \
    for (int64_t i = begin; i < end; i++) {                                                        \
      const S *pa = (const S *)j->a->data + 3 * i;                                                 \
      S *py = (S *)j->y->data + 3 * i;                                                             \
      double a[3], b[3] = {0, 0, 0}, y[3];                                                         \
      for (int k = 0; k < 3; k++) a[k] = (double)LOAD(C, pa[k]);                                   \
      if (j->b != NULL)                                                                            \
        for (int k = 0; k < 3; k++) b[k] = (double)LOAD(C, ((const S *)j->b->data)[3 * i + k]);    \
      j->fn(a, b, j->amount, y);                                                                   \
      for (int k = 0; k < 3; k++) py[k] = STORE(S, y[k]);                                          \
    }                                                                                              \
    break;
static inline void color_pixels(void *user, int64_t begin, int64_t end) {
  const color_job *j = (const color_job *)user;
  switch (j->y->dtype) {
    TFSDK_EW_FLOATS(COLOR_PIXELS_, 0)
  default: break;
  }
}
/* fn for each pixel of output 0, of inputs `a` and `b` (NULL: none). */
static inline tfsdk_status *color_run(tfsdk_run *r, const tfsdk_view *a, const tfsdk_view *b,
                                      double amount, color_pixel_fn *fn) {
  color_job j = {a, b, &r->out[0], fn, amount};
  if (r->out[0].n_elem > 0) r->api->par_for(r, r->out[0].n_elem / 3, 2048, color_pixels, &j);
  return NULL;
}

/* ------------------------------------------------------------------------------------------- shapes
 */

/* Input i must end in an axis of three channels. */
static inline tfsdk_status *color_infer_at(tfsdk_infer *c, uint32_t i) {
  tfsdk_shape *s = &c->out[0].shape;
  *s = c->in[i].shape;
  TFSDK_REQUIRE(c, s->rank != 0, "'%s' must end in an axis of 3 channels, but it is a scalar",
                c->op->in[i].name);
  if (s->rank < 0) return NULL;
  TFSDK_REQUIRE(c, s->dim[s->rank - 1] < 0 || s->dim[s->rank - 1] == 3,
                "'%s' must end in an axis of 3 channels, but its shape is %s", c->op->in[i].name,
                tfsdk_shape_text(s).s);
  s->dim[s->rank - 1] = 3;
  return NULL;
}
static inline tfsdk_status *color_infer(tfsdk_infer *c) { return color_infer_at(c, 0); }

/* ------------------------------------------------------------------- conversions and their gradients */

/* The shape rule of a gradient: of `grads` and `images`. */
static inline tfsdk_status *color_infer_grad(tfsdk_infer *c) {
  TFSDK_TRY(color_infer_at(c, 0));
  return tfsdk_merge(c, &c->in[0].shape, &c->in[1].shape, "'grads' and 'images'", &c->out[0].shape);
}

/* The records of conversion `name` and of its gradient; the file defines `in`, `out`, `compute`, `compute_grad`. */
#define COLOR_OPS(name, summary_, doc_, grad_doc)                                                  \
  static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {                                     \
    return tfsdk_set_dx(g, 0, tfsdk_emit2(c, name "Grad", tfsdk_dy(g, 0), tfsdk_input(g, 0)));     \
  }                                                                                                \
  static const tfsdk_arg grad_in[] = {{"grads", "T", "the gradient of the output", 0, 0},          \
                                      {"images", "T", "the input of " name, 0, 0}};                \
  static const tfsdk_arg grad_out[] = {{"output", "T", "the gradient of the images", 0, 0}};       \
  static const tfsdk_attrdef attr[] = {{"T", TFSDK_T_FLOATS, NULL, "type of the numbers", 0, 0}};  \
  static const char *const samples[] = {"T[2,3,3](0.1,0.9)", "float32[0,3]", NULL};                \
  static const char *const grad_samples[] = {"T[2,3,3] ; T[2,3,3](0.1,0.9)", NULL};                \
  static const tfsdk_opdef ops[] = {                                                               \
      {TFSDK_OP_HEAD(name, summary_), .in = in, .n_in = TFSDK_COUNT(in), .out = out,               \
       .n_out = TFSDK_COUNT(out), .attr = attr, .n_attr = TFSDK_COUNT(attr), .infer = color_infer, \
       .doc = doc_ "\n\nSource: TensorFlow `" name "`.", .reference = compute, .grad = grad,       \
       .grad_in = 1, .samples = samples},                                                          \
      {TFSDK_OP_HEAD(name "Grad", "the gradient of " name), .in = grad_in,                         \
       .n_in = TFSDK_COUNT(grad_in), .out = grad_out, .n_out = TFSDK_COUNT(grad_out),              \
       .attr = attr, .n_attr = TFSDK_COUNT(attr), .infer = color_infer_grad, .doc = grad_doc,      \
       .reference = compute_grad, .no_grad_reason = "second derivatives of colours are not there", \
       .samples = grad_samples},                                                                   \
  }

#endif
