/* ResizeBicubic: along each axis an output pixel is a weighted sum of the four input pixels round its place on the
 * grid (resize.h). The weights are Keys' cubic convolution (R. G. Keys, "Cubic convolution interpolation for digital
 * image processing", 1981) of the distance d,
 *
 *     |d| <= 1:  (a + 2) |d|^3 - (a + 3) |d|^2 + 1        1 < |d| < 2:  a |d|^3 - 5 a |d|^2 + 8 a |d| - 4 a
 *
 * with a = -3/4, beyond the border the nearest pixel; with half-pixel centres a = -1/2, pixels beyond the border left
 * out and the weights made to sum to 1. As in TensorFlow distances are rounded to 1/1024. The map is linear: the
 * gradient hands dy back with the same weights. */
#include "resize.h"

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

#define STORE_(id, S, C, LOAD, STORE, unused)                                                      \
  case TFSDK_##id:                                                                                 \
    for (int64_t i = 0; i < n; i++) ((S *)r->out[0].data)[i] = STORE(S, j.sum[i]);                 \
    break;
static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  const int64_t n = r->out[0].n_elem;
  job j = {.small = &r->out[0], .large = &r->in[0]};
  void *room;
  (void)state;
  if (n == 0) return NULL;
  TFSDK_TRY(begin(&j, r));
  TFSDK_TRY(r->api->workspace(r, (size_t)n * sizeof(double), &room));
  j.sum = (double *)room;
  memset(j.sum, 0, (size_t)n * sizeof(double));
  r->api->par_for(r, r->out[0].dim[0], 1, images, &j);
  switch (r->out[0].dtype) {
    TFSDK_EW_FLOATS(STORE_, 0)
  default: return tfsdk_ew_no_type(r);
  }
  return NULL;
}

static tfsdk_status *infer_grad(tfsdk_infer *c) {
  tfsdk_shape dy = tfsdk_shape_unknown(), images = tfsdk_shape_unknown();
  int64_t same;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 4, &dy));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 4, &images));
  TFSDK_TRY(tfsdk_merge_dim(c, dy.dim[0], images.dim[0], "the numbers of images", &same));
  TFSDK_TRY(tfsdk_merge_dim(c, dy.dim[3], images.dim[3], "the numbers of channels", &same));
  for (int i = 1; i <= 2; i++)
    TFSDK_REQUIRE(c, images.dim[i] != 0 && dy.dim[i] != 0, "images without pixels: %s and %s",
                  tfsdk_shape_text(&images).s, tfsdk_shape_text(&dy).s);
  c->out[0].shape = images;
  return NULL;
}

/* ------------------------------------------------------------------------------------ gradients */

static tfsdk_val emit_with_grid(tfsdk_ctx *c, tfsdk_gradcall *g, const char *op, tfsdk_val a,
                                tfsdk_val b) {
  tfsdk_val in[2] = {a, b};
  tfsdk_attrval attr[2] = {
      tfsdk_a_bool("align_corners", tfsdk_attr_int(&g->attr, "align_corners")),
      tfsdk_a_bool("half_pixel_centers", tfsdk_attr_int(&g->attr, "half_pixel_centers"))};
  return tfsdk_emit(c, op, in, 2, attr, 2);
}
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0);
  if (tfsdk_dtype_kind(tfsdk_type(c, x).dtype) != 'f') return tfsdk_ctx_error(c);
  return tfsdk_set_dx(g, 0, emit_with_grid(c, g, "ResizeBicubicGrad", tfsdk_dy(g, 0), x));
}
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  static const int64_t from[1] = {1}, count[1] = {2};
  tfsdk_val size = tfsdk_emit1(c, "Shape", tfsdk_input(g, 0));
  size = tfsdk_emit3(c, "Slice", size, tfsdk_int_vector(c, from, 1), tfsdk_int_vector(c, count, 1));
  return tfsdk_set_dx(g, 0, emit_with_grid(c, g, "ResizeBicubic", tfsdk_dy(g, 0), size));
}

static const tfsdk_arg in[] = {
    {"images", "T", "[batch, height, width, channels]", 0, 0},
    {"size", "int32", "new height and width", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {
    {"resized_images", "float32", "[batch, size[0], size[1], channels]", 0, 0}};
static const tfsdk_arg grad_in_args[] = {
    {"grads", "float32", "[batch, new height, new width, channels]", 0, 0},
    {"original_image", "T", "the images that were resized: their type and shape",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0}};
static const tfsdk_arg grad_out_args[] = {
    {"output", "T", "the gradient of the images, of their shape", 0, 0}};
#define GRID_ATTRS(types)                                                                          \
  {"T", types, NULL, "type of the images", 0, 0},                                                  \
      {"align_corners", "bool", "false", "first and last pixels stay where they are", 0, 0}, {     \
    "half_pixel_centers", "bool", "false", "pixels are squares: the grid of other libraries", 0, 0 \
  }
static const tfsdk_attrdef attr[] = {GRID_ATTRS(TFSDK_T_NUMBERS)};
static const tfsdk_attrdef grad_attr[] = {GRID_ATTRS(TFSDK_T_FLOATS)};
static const char *const samples[] = {"T[2,3,4,2] ; int32{5,7}",
                                      "T[1,3,4,1] ; int32{6,8} | half_pixel_centers=true",
                                      "T[1,6,5,2] ; int32{4,2} | align_corners=true",
                                      "T[1,5,1,1] ; int32{1,3} | align_corners=true", NULL};
static const char *const grad_samples[] = {
    "float32[2,5,7,2] ; T[2,3,4,2]", "float32[1,6,8,1] ; T[1,3,4,1] | half_pixel_centers=true",
    "float32[1,4,2,2] ; T[1,6,5,2] | align_corners=true", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ResizeBicubic", "resizes images by cubic interpolation"), .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .const_in = 2, .infer = resize_infer,
     .doc =
         "Along each axis a new pixel is a sum of the four old ones round its place, weighted by "
         "Keys' cubic convolution of their distance (a = -3/4, beyond the border the nearest "
         "pixel; with half_pixel_centers a = -1/2, pixels beyond the border left out). Places "
         "are those of ResizeBilinear, distances rounded to 1/1024. The result is float32, and "
         "may lie outside the images' range.\n\nSource: TensorFlow `ResizeBicubic`.",
     .reference = compute, .grad = grad, .grad_shape = 1, .samples = samples},
    {TFSDK_OP_HEAD("ResizeBicubicGrad", "the gradient of ResizeBicubic"), .in = grad_in_args,
     .n_in = TFSDK_COUNT(grad_in_args), .out = grad_out_args, .n_out = TFSDK_COUNT(grad_out_args),
     .attr = grad_attr, .n_attr = TFSDK_COUNT(grad_attr), .infer = infer_grad,
     .doc = "Each member of `grads` goes to the sixteen pixels it came from, with their weights.",
     .reference = compute_grad, .grad = grad_grad, .grad_shape = 1, .samples = grad_samples},
};
TFSDK_UNIT_OPS(resize_bicubic, ops);
