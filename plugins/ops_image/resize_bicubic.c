/* ResizeBicubic: along each axis an output pixel is a weighted sum of the four input pixels round its place on the
 * grid (resize.h). The weights are Keys' cubic convolution (R. G. Keys, "Cubic convolution interpolation for digital
 * image processing", 1981) of the distance d,
 *
 *     |d| <= 1:  (a + 2) |d|^3 - (a + 3) |d|^2 + 1        1 < |d| < 2:  a |d|^3 - 5 a |d|^2 + 8 a |d| - 4 a
 *
 * with a = -3/4, beyond the border the nearest pixel; with half-pixel centres a = -1/2, pixels beyond the border left
 * out and the weights made to sum to 1. As in TensorFlow distances are rounded to 1/1024. The map is linear: the
 * gradient hands dy back with the same weights. */
#include "resize_linear.h"

typedef struct tap {
  int64_t at[4];
  double w[4];
} tap;

static double near_weight(double a, double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
static double far_weight(double a, double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

static void fill_taps(tap *taps, resize_grid g, int64_t n_in, int64_t n_out) {
  const double a = g.half ? -0.5 : -0.75;
  float scale =
      g.aligned && n_out > 1 ? (float)(n_in - 1) / (float)(n_out - 1) : (float)n_in / (float)n_out;
  for (int64_t i = 0; i < n_out; i++) {
    float place = g.half ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale;
    float below = floorf(place);
    double d = (double)lrintf((place - below) * 1024) / 1024, sum = 0;
    const double w[4] = {far_weight(a, 1 + d), near_weight(a, d), near_weight(a, 1 - d),
                         far_weight(a, 2 - d)};
    for (int k = 0; k < 4; k++) {
      int64_t at = (int64_t)below + k - 1, inside = at < 0 ? 0 : at < n_in ? at : n_in - 1;
      taps[i].at[k] = inside;
      taps[i].w[k] = g.half && inside != at ? 0 : w[k];
      sum += taps[i].w[k];
    }
    if (g.half && sum != 0)
      for (int k = 0; k < 4; k++) taps[i].w[k] /= sum;
  }
}

typedef struct job {
  const tfsdk_view *small; /* the images */
  const tfsdk_view *large; /* what they are resized to */
  const tap *row, *column;
  double *sum; /* gradient: the images' gradient */
} job;

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

/* Rows begin..end of the output, counted over all images. */
#define ROWS_(id, S, C, LOAD, STORE, unused)                                                       \
  case TFSDK_##id:                                                                                 \
    for (int64_t k = begin; k < end; k++) {                                                        \
      const tap *ty = &j->row[k % j->large->dim[1]];                                               \
      const S *image = (const S *)j->small->data +                                                 \
                       k / j->large->dim[1] * j->small->dim[1] * j->small->dim[2] * depth;         \
      float *y = (float *)j->large->data + k * columns * depth;                                    \
      for (int64_t x = 0; x < columns; x++) {                                                      \
        const tap *tx = &j->column[x];                                                             \
        for (int64_t z = 0; z < depth; z++) {                                                      \
          double sum = 0;                                                                          \
          for (int p = 0; p < 4; p++) {                                                            \
            const S *line = image + ty->at[p] * j->small->dim[2] * depth + z;                      \
            double part = 0;                                                                       \
            for (int q = 0; q < 4; q++)                                                            \
              part += tx->w[q] * (double)LOAD(C, line[tx->at[q] * depth]);                         \
            sum += ty->w[p] * part;                                                                \
          }                                                                                        \
          *y++ = (float)sum;                                                                       \
        }                                                                                          \
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
  r->api->par_for(r, r->out[0].dim[0] * r->out[0].dim[1], 1 + 4096 / (1 + r->out[0].dim[2]), rows,
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
    const tap *ty = &j->row[k % out_rows];
    double *image = j->sum + k / out_rows * height * width * depth;
    const float *dy = (const float *)j->large->data + k * columns * depth;
    for (int64_t x = 0; x < columns; x++) {
      const tap *tx = &j->column[x];
      for (int64_t z = 0; z < depth; z++) {
        const double g = (double)*dy++;
        for (int p = 0; p < 4; p++)
          for (int q = 0; q < 4; q++)
            image[(ty->at[p] * width + tx->at[q]) * depth + z] += g * ty->w[p] * tx->w[q];
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
  return resize_grad(c, g, "ResizeBicubicGrad");
}
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return resize_grad_grad(c, g, "ResizeBicubic");
}

static const char *const samples[] = {"T[2,3,4,2] ; int32{5,7}",
                                      "T[1,3,4,1] ; int32{6,8} | half_pixel_centers=true",
                                      "T[1,6,5,2] ; int32{4,2} | align_corners=true",
                                      "T[1,5,1,1] ; int32{1,3} | align_corners=true", NULL};
static const char *const grad_samples[] = {
    "float32[2,5,7,2] ; T[2,3,4,2]", "float32[1,6,8,1] ; T[1,3,4,1] | half_pixel_centers=true",
    "float32[1,4,2,2] ; T[1,6,5,2] | align_corners=true", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ResizeBicubic", "resizes images by cubic interpolation"), .in = resize_in,
     .n_in = TFSDK_COUNT(resize_in), .out = resize_out, .n_out = TFSDK_COUNT(resize_out),
     .attr = resize_attr, .n_attr = TFSDK_COUNT(resize_attr), .const_in = 2, .infer = resize_infer,
     .doc =
         "Along each axis a new pixel is a sum of the four old ones round its place, weighted by "
         "Keys' cubic convolution of their distance (a = -3/4, beyond the border the nearest "
         "pixel; with half_pixel_centers a = -1/2, pixels beyond the border left out). Places "
         "are those of ResizeBilinear, distances rounded to 1/1024. The result is float32, and "
         "may lie outside the images' range.\n\nSource: TensorFlow `ResizeBicubic`.",
     .reference = compute, .grad = grad, .grad_shape = 1, .samples = samples},
    {TFSDK_OP_HEAD("ResizeBicubicGrad", "the gradient of ResizeBicubic"), .in = resize_grad_in,
     .n_in = TFSDK_COUNT(resize_grad_in), .out = resize_grad_out,
     .n_out = TFSDK_COUNT(resize_grad_out), .attr = resize_grad_attr,
     .n_attr = TFSDK_COUNT(resize_grad_attr), .infer = resize_infer_grad,
     .doc = "Each member of `grads` goes to the sixteen pixels it came from, with their weights.",
     .reference = compute_grad, .grad = grad_grad, .grad_shape = 1, .samples = grad_samples},
};
TFSDK_UNIT_OPS(resize_bicubic, ops);
