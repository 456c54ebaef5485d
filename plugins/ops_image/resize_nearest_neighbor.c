/* ResizeNearestNeighbor: each output pixel is the input pixel that its place on the grid (resize.h) falls into;
 * with aligned corners the nearest one. The gradient adds up what each input pixel was copied to. */
#include "resize.h"

/* Places are computed in float, as TensorFlow does: which pixel one falls into hangs on the last bit. */
static int64_t source(resize_grid g, int64_t i, int64_t n_in, int64_t n_out) {
  float scale =
      g.aligned && n_out > 1 ? (float)(n_in - 1) / (float)(n_out - 1) : (float)n_in / (float)n_out;
  float place = g.half ? ((float)i + 0.5f) * scale : (float)i * scale;
  int64_t k = (int64_t)(g.aligned ? roundf(place) : floorf(place));
  return k < 0 ? 0 : k < n_in ? k : n_in - 1;
}

typedef struct job {
  const tfsdk_view *small; /* the images */
  const tfsdk_view *large; /* what they are resized to */
  const int64_t *row, *column;
  double *sum; /* gradient: the images' gradient */
} job;

static tfsdk_status *begin(job *j, tfsdk_run *r) {
  resize_grid g = resize_grid_of(&r->attr);
  int64_t rows = j->large->dim[1], columns = j->large->dim[2], *at;
  void *room;
  TFSDK_TRY(r->api->workspace(r, (size_t)(rows + columns) * sizeof(int64_t), &room));
  at = (int64_t *)room;
  for (int64_t i = 0; i < rows; i++) at[i] = source(g, i, j->small->dim[1], rows);
  for (int64_t i = 0; i < columns; i++) at[rows + i] = source(g, i, j->small->dim[2], columns);
  j->row = at;
  j->column = at + rows;
  return NULL;
}

/* Rows begin..end of the output, counted over all images. */
static void rows(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t columns = j->large->dim[2];
  const size_t pixel = (size_t)j->large->dim[3] * tfsdk_dtype_size(j->large->dtype);
  for (int64_t k = begin; k < end; k++) {
    int64_t from = k / j->large->dim[1] * j->small->dim[1] + j->row[k % j->large->dim[1]];
    const char *x = (const char *)j->small->data + (size_t)(from * j->small->dim[2]) * pixel;
    char *y = (char *)j->large->data + (size_t)(k * columns) * pixel;
    for (int64_t i = 0; i < columns; i++, y += pixel)
      memcpy(y, x + (size_t)j->column[i] * pixel, pixel);
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
#define ADD_(id, S, C, LOAD, STORE, unused)                                                        \
  case TFSDK_##id:                                                                                 \
    for (int64_t k = begin * out_rows; k < end * out_rows; k++) {                                  \
      int64_t to = k / out_rows * j->small->dim[1] + j->row[k % out_rows];                         \
      double *row = j->sum + to * j->small->dim[2] * depth;                                        \
      const S *dy = (const S *)j->large->data + k * columns * depth;                               \
      for (int64_t x = 0; x < columns; x++)                                                        \
        for (int64_t z = 0; z < depth; z++)                                                        \
          row[j->column[x] * depth + z] += (double)LOAD(C, *dy++);                                 \
    }                                                                                              \
    break;
static void images(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t out_rows = j->large->dim[1], columns = j->large->dim[2], depth = j->large->dim[3];
  switch (j->large->dtype) {
    TFSDK_EW_FLOATS(ADD_, 0)
  default: break;
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

/* ------------------------------------------------------------------------------------ gradients */

/* `op` with this op's grid, of dy and the height and width of input 0. */
static tfsdk_status *grad_with(tfsdk_ctx *c, tfsdk_gradcall *g, const char *op) {
  static const int64_t from[1] = {1}, count[1] = {2};
  tfsdk_val size, x = tfsdk_input(g, 0), in[2];
  tfsdk_attrval attr[2] = {
      tfsdk_a_bool("align_corners", tfsdk_attr_int(&g->attr, "align_corners")),
      tfsdk_a_bool("half_pixel_centers", tfsdk_attr_int(&g->attr, "half_pixel_centers"))};
  if (tfsdk_dtype_kind(tfsdk_type(c, x).dtype) != 'f') return tfsdk_ctx_error(c);
  size = tfsdk_emit1(c, "Shape", x);
  in[0] = tfsdk_dy(g, 0);
  in[1] =
      tfsdk_emit3(c, "Slice", size, tfsdk_int_vector(c, from, 1), tfsdk_int_vector(c, count, 1));
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, op, in, 2, attr, 2));
}
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return grad_with(c, g, "ResizeNearestNeighborGrad");
}
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return grad_with(c, g, "ResizeNearestNeighbor");
}

static const tfsdk_arg in[] = {
    {"images", "T", "[batch, height, width, channels]", 0, 0},
    {"size", "int32", "new height and width", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {
    {"resized_images", "T", "[batch, size[0], size[1], channels]", 0, 0}};
static const tfsdk_arg grad_in_args[] = {
    {"grads", "T", "[batch, new height, new width, channels]", 0, 0},
    {"size", "int32", "height and width of the images that were resized",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg grad_out_args[] = {
    {"output", "T", "[batch, size[0], size[1], channels]: the gradient of the images", 0, 0}};
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
static const char *const grad_samples[] = {"T[2,5,7,2] ; int32{3,4}",
                                           "T[1,6,8,1] ; int32{3,4} | half_pixel_centers=true",
                                           "T[1,4,2,2] ; int32{6,5} | align_corners=true", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ResizeNearestNeighbor", "resizes images by copying the nearest pixels"),
     .in = in, .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .const_in = 2, .infer = resize_infer,
     .doc =
         "Along an axis of n pixels that becomes one of m, pixel i is a copy of pixel "
         "`floor(i n / m)`; with half_pixel_centers `floor((i + 1/2) n / m)`, with align_corners "
         "`round(i (n - 1) / (m - 1))`.\n\nSource: TensorFlow `ResizeNearestNeighbor`.",
     .reference = compute, .grad = grad, .grad_shape = 1, .samples = samples},
    {TFSDK_OP_HEAD("ResizeNearestNeighborGrad", "the gradient of ResizeNearestNeighbor"),
     .in = grad_in_args, .n_in = TFSDK_COUNT(grad_in_args), .out = grad_out_args,
     .n_out = TFSDK_COUNT(grad_out_args), .attr = grad_attr, .n_attr = TFSDK_COUNT(grad_attr),
     .const_in = 2, .infer = resize_infer,
     .doc = "Each pixel gets the sum of `grads` over its copies.", .reference = compute_grad,
     .grad = grad_grad, .grad_shape = 1, .samples = grad_samples},
};
TFSDK_UNIT_OPS(resize_nearest_neighbor, ops);
