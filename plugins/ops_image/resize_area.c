/* ResizeArea: an output pixel is the mean of the input over the rectangle that it covers: along an axis of n pixels
 * that becomes one of m, of [i n / m, (i + 1) n / m); pixels that are only touched count by how much. With aligned corners
 * the step is (n - 1) / (m - 1). */
#include "resize.h"

typedef struct span {
  int64_t first, last; /* pixels first..last - 1 */
  float from, to;      /* what is covered, in pixels */
} span;

typedef struct job {
  const tfsdk_view *x, *y;
  const span *row, *column;
  float scale[2];
} job;

/* One pixel that becomes several with aligned corners would have a step of 0: each is a copy of it. */
static float step_of(resize_grid g, int64_t n_in, int64_t n_out) {
  if (n_in == 1 && g.aligned && n_out > 1) return 1;
  return g.aligned && n_out > 1 ? (float)(n_in - 1) / (float)(n_out - 1)
                                : (float)n_in / (float)n_out;
}
static void fill_spans(span *s, float step, int64_t n_out) {
  for (int64_t i = 0; i < n_out; i++) {
    s[i].from = (float)i * step;
    s[i].to = (float)(i + 1) * step;
    s[i].first = (int64_t)floorf(s[i].from);
    s[i].last = (int64_t)ceilf(s[i].to);
  }
}
/* How much of pixel i is covered. */
static float share(const span *s, int64_t i, float step) {
  float low = (float)i, high = (float)(i + 1);
  if (low < s->from) return high > s->to ? step : high - s->from;
  return high > s->to ? s->to - low : 1.0f;
}
static int64_t bound(int64_t i, int64_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }

/* Rows begin..end of the output, counted over all images. */
#define ROWS_(id, S, C, LOAD, STORE, unused)                                                       \
  case TFSDK_##id:                                                                                 \
    for (int64_t k = begin; k < end; k++) {                                                        \
      const span *sy = &j->row[k % j->y->dim[1]];                                                  \
      const S *image = (const S *)j->x->data + k / j->y->dim[1] * height * width * depth;          \
      float *y = (float *)j->y->data + k * columns * depth;                                        \
      for (int64_t x = 0; x < columns; x++) {                                                      \
        const span *sx = &j->column[x];                                                            \
        for (int64_t z = 0; z < depth; z++) {                                                      \
          double sum = 0;                                                                          \
          for (int64_t p = sy->first; p < sy->last; p++) {                                         \
            const S *line = image + bound(p, height) * width * depth + z;                          \
            double part = 0;                                                                       \
            for (int64_t q = sx->first; q < sx->last; q++)                                         \
              part += (double)share(sx, q, j->scale[1]) *                                          \
                      (double)LOAD(C, line[bound(q, width) * depth]);                              \
            sum += (double)share(sy, p, j->scale[0]) * part;                                       \
          }                                                                                        \
          *y++ = (float)(sum / area);                                                              \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
    break;
static void rows(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t height = j->x->dim[1], width = j->x->dim[2], depth = j->x->dim[3];
  const int64_t columns = j->y->dim[2];
  const double area = (double)j->scale[0] * (double)j->scale[1];
  switch (j->x->dtype) {
    TFSDK_EW_NUMBERS(ROWS_, 0)
  default: break;
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  resize_grid g = resize_grid_of(&r->attr);
  const int64_t n_rows = r->out[0].dim[1], n_columns = r->out[0].dim[2];
  job j = {.x = &r->in[0], .y = &r->out[0]};
  void *room;
  span *spans;
  (void)state;
  if (r->out[0].n_elem == 0) return NULL;
  TFSDK_TRY(r->api->workspace(r, (size_t)(n_rows + n_columns) * sizeof(span), &room));
  spans = (span *)room;
  j.scale[0] = step_of(g, r->in[0].dim[1], n_rows);
  j.scale[1] = step_of(g, r->in[0].dim[2], n_columns);
  fill_spans(spans, j.scale[0], n_rows);
  fill_spans(spans + n_rows, j.scale[1], n_columns);
  j.row = spans;
  j.column = spans + n_rows;
  r->api->par_for(r, r->out[0].dim[0] * n_rows, 1 + 4096 / (1 + n_columns), rows, &j);
  return NULL;
}

static const tfsdk_arg in[] = {
    {"images", "T", "[batch, height, width, channels]", 0, 0},
    {"size", "int32", "new height and width", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {
    {"resized_images", "float32", "[batch, size[0], size[1], channels]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", TFSDK_T_NUMBERS, NULL, "type of the images", 0, 0},
    {"align_corners", "bool", "false", "first and last pixels stay where they are", 0, 0}};
static const char *const samples[] = {"T[2,3,4,2] ; int32{5,7}", "T[1,6,8,1] ; int32{2,4}",
                                      "T[1,6,5,2] ; int32{4,2} | align_corners=true", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ResizeArea", "resizes images by the mean over what a pixel covers"), .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .const_in = 2, .infer = resize_infer,
     .doc = "The right way to make images smaller: each new pixel is the mean of the old ones that "
            "it covers, "
            "those at its edges by how much of them it covers. The result is float32.\n\n"
            "Source: TensorFlow `ResizeArea`.",
     .reference = compute,
     .no_grad_reason =
         "TensorFlow's op has none either: use ResizeBilinear where images are trained",
     .samples = samples}};
TFSDK_UNIT_OPS(resize_area, ops);
