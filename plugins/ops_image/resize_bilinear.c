/* ResizeBilinear: each output pixel is the mean of the four input pixels round its place on the
 * grid (resize.h), weighted by nearness: along an axis at lo + t the pixels lo and lo + 1 count 1 -
 * t and t. The gradient hands dy to the same four with the same weights; the map is linear, so the
 * gradient of the gradient is the map itself. */
#include "resize_linear.h"

typedef struct tap {
  int64_t lo, hi;
  double t;
} tap;

static void fill_taps(tap *taps, resize_grid g, int64_t n_in, int64_t n_out) {
  for (int64_t i = 0; i < n_out; i++) {
    double x = resize_place(g, i, n_in, n_out), below = floor(x);
    int64_t lo = (int64_t)below, hi = (int64_t)ceil(x);
    taps[i].t = x - below;
    taps[i].lo = lo < 0 ? 0 : lo < n_in ? lo : n_in - 1;
    taps[i].hi = hi < 0 ? 0 : hi < n_in ? hi : n_in - 1;
  }
}

typedef struct job {
  const tfsdk_view *small; /* the images */
  const tfsdk_view *large; /* what they are resized to */
  const tap *row, *column;
  double *sum; /* gradient: the images' gradient */
} job;

/* Fills in the taps of both axes. */
static tfsdk_status *begin(job *j, tfsdk_run *r) {
  resize_grid g = resize_grid_of(&r->attr);
  int64_t rows = j->large->dim[1], columns = j->large->dim[2];
  void *room;
  TFSDK_TRY(r->api->workspace(r, (size_t)(rows + columns) * sizeof(tap), &room));
  tap *taps = (tap *)room;
  fill_taps(taps, g, j->small->dim[1], rows);
  fill_taps(taps + rows, g, j->small->dim[2], columns);
  j->row = taps;
  j->column = taps + rows;
  return NULL;
}

/* Exact at t = 0 and between equal values, infinities too. */
static inline double between(double a, double b, double t) {
  return t == 0 || a == b ? a : a + (b - a) * t;
}

/* Rows begin..end of the output, counted over all images. */
#define ROWS_(id, S, C, LOAD, STORE, unused)                                                       \
  case TFSDK_##id:                                                                                 \
    for (int64_t k = begin; k < end; k++) {                                                        \
      const tap ty = j->row[k % j->large->dim[1]];                                                 \
      const int64_t image = k / j->large->dim[1] * j->small->dim[1];                               \
      const S *top = (const S *)j->small->data + (image + ty.lo) * j->small->dim[2] * depth;       \
      const S *low = (const S *)j->small->data + (image + ty.hi) * j->small->dim[2] * depth;       \
      float *y = (float *)j->large->data + k * columns * depth;                                    \
      for (int64_t x = 0; x < columns; x++) {                                                      \
        const tap tx = j->column[x];                                                               \
        const S *a = top + tx.lo * depth, *b = top + tx.hi * depth;                                \
        const S *c = low + tx.lo * depth, *d = low + tx.hi * depth;                                \
        for (int64_t z = 0; z < depth; z++)                                                        \
          *y++ =                                                                                   \
              (float)between(between((double)LOAD(C, a[z]), (double)LOAD(C, b[z]), tx.t),          \
                             between((double)LOAD(C, c[z]), (double)LOAD(C, d[z]), tx.t), ty.t);   \
      }                                                                                            \
    }                                                                                              \
    break;
static void rows(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t columns = j->large->dim[2], depth = j->large->dim[3];
  switch (j->small->dtype) {
    TFSDK_EW_NUMBERS(ROWS_, 0)
  default: break;
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  job j = {.small = &r->in[0], .large = &r->out[0]};
  (void)state;
  if (r->out[0].n_elem == 0) return NULL;
  TFSDK_TRY(begin(&j, r));
  r->api->par_for(r, r->out[0].dim[0] * r->out[0].dim[1], 1 + 16384 / (1 + r->out[0].dim[2]), rows,
                  &j);
  return NULL;
}

/* ------------------------------------------------------------------------------------ backwards */

/* Images begin..end: adds up in double. */
static void images(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t height = j->small->dim[1], width = j->small->dim[2], depth = j->small->dim[3];
  const int64_t out_rows = j->large->dim[1], columns = j->large->dim[2];
  for (int64_t k = begin * out_rows; k < end * out_rows; k++) {
    const tap ty = j->row[k % out_rows];
    double *image = j->sum + k / out_rows * height * width * depth;
    const float *dy = (const float *)j->large->data + k * columns * depth;
    for (int64_t x = 0; x < columns; x++) {
      const tap tx = j->column[x];
      double *top = image + ty.lo * width * depth, *low = image + ty.hi * width * depth;
      for (int64_t z = 0; z < depth; z++) {
        const double g = (double)*dy++;
        top[tx.lo * depth + z] += g * (1 - ty.t) * (1 - tx.t);
        top[tx.hi * depth + z] += g * (1 - ty.t) * tx.t;
        low[tx.lo * depth + z] += g * ty.t * (1 - tx.t);
        low[tx.hi * depth + z] += g * ty.t * tx.t;
      }
    }
  }
}

static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  job j = {.small = &r->out[0], .large = &r->in[0]};
  (void)state;
  if (r->out[0].n_elem == 0) return NULL;
  TFSDK_TRY(begin(&j, r));
  return resize_add_up(r, images, &j, &j.sum);
}
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return resize_grad(c, g, "ResizeBilinearGrad");
}
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return resize_grad_grad(c, g, "ResizeBilinear");
}

static const char *const samples[] = {"T[2,3,4,2] ; int32{5,7}",
                                      "T[1,3,4,1] ; int32{6,8} | half_pixel_centers=true",
                                      "T[1,6,5,2] ; int32{4,2} | align_corners=true",
                                      "T[1,5,6,1] ; int32{5,6} | half_pixel_centers=true",
                                      "T[1,5,1,1] ; int32{1,3} | align_corners=true",
                                      NULL};
static const char *const grad_samples[] = {
    "float32[2,5,7,2] ; T[2,3,4,2]", "float32[1,6,8,1] ; T[1,3,4,1] | half_pixel_centers=true",
    "float32[1,4,2,2] ; T[1,6,5,2] | align_corners=true", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ResizeBilinear", "resizes images by bilinear interpolation"), .in = resize_in,
     .n_in = TFSDK_COUNT(resize_in), .out = resize_out, .n_out = TFSDK_COUNT(resize_out),
     .attr = resize_attr, .n_attr = TFSDK_COUNT(resize_attr), .const_in = 2, .infer = resize_infer,
     .doc =
         "Each new pixel is the mean of the four old ones round its place, weighted by nearness. "
         "Its place along an axis of n pixels that becomes one of m is i n / m; with "
         "half_pixel_centers (i + 1/2) n / m - 1/2, as other libraries have it; with "
         "align_corners i (n - 1) / (m - 1). Beyond the border counts the nearest pixel. No "
         "smoothing when an image becomes smaller. The result is float32.",
     .reference = compute, .grad = grad, .grad_shape = 1, .samples = samples},
    {TFSDK_OP_HEAD("ResizeBilinearGrad", "the gradient of ResizeBilinear"), .in = resize_grad_in,
     .n_in = TFSDK_COUNT(resize_grad_in), .out = resize_grad_out,
     .n_out = TFSDK_COUNT(resize_grad_out), .attr = resize_grad_attr,
     .n_attr = TFSDK_COUNT(resize_grad_attr), .infer = resize_infer_grad,
     .doc = "Each member of `grads` goes to the four pixels it came from, with their weights.",
     .reference = compute_grad, .grad = grad_grad, .grad_shape = 1, .samples = grad_samples},
};
TFSDK_UNIT_OPS(resize_bilinear, ops);
