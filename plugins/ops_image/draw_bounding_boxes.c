/* DrawBoundingBoxes: the outlines of boxes on images, each in the next colour of a table. */
#include <math.h>
#include <tfsdk/elementwise.h>

/* TensorFlow's table: yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia. */
static const float table[10][4] = {
    {1, 1, 0, 1},     {0, 0, 1, 1},   {1, 0, 0, 1},   {0, 1, 0, 1}, {.5f, 0, .5f, 1},
    {.5f, .5f, 0, 1}, {.5f, 0, 0, 1}, {0, 0, .5f, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

/* The colour of box k: from input 2, n colours of `width` channels, or from the table, in which one channel is white. */
static void color_of(const tfsdk_run *r, int64_t k, int64_t depth, double out[4]) {
  for (int64_t i = 0; i < depth && i < 4; i++) {
    out[i] = depth == 1 ? 1 : (double)table[k % 10][i];
    if (r->n_in > 2 && r->in[2].n_elem > 0) {
      const int64_t width = r->in[2].dim[1];
      out[i] = (double)((const float *)r->in[2].data)[k % r->in[2].dim[0] * width + i];
    }
  }
}

#define DRAW_(id, S, C, LOAD, STORE, unused)                                                       \
  case TFSDK_##id: {                                                                               \
    S *p = (S *)r->out[0].data + ((image * height + y) * width + x) * depth;                       \
    for (int64_t z = 0; z < depth; z++) p[z] = STORE(S, color[z]);                                 \
    break;                                                                                         \
  }
static void pixel(tfsdk_run *r, int64_t image, int64_t y, int64_t x, const double color[4]) {
  const int64_t height = r->out[0].dim[1], width = r->out[0].dim[2], depth = r->out[0].dim[3];
  switch (r->out[0].dtype) {
    TFSDK_EW_FLOATS(DRAW_, 0)
  default: break;
  }
}

/* A row or column of a box from its part of the image; what is far outside stays there. */
static int64_t line_of(float part, int64_t n) {
  float at = part * (float)(n - 1);
  return at != at ? INT32_MIN : at < -1e9f ? -1000000000 : at > 1e9f ? 1000000000 : (int64_t)at;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *boxes = &r->in[1];
  const int64_t height = r->out[0].dim[1], width = r->out[0].dim[2], depth = r->out[0].dim[3];
  (void)state;
  if (r->out[0].n_elem == 0) return NULL;
  if (r->out[0].data != r->in[0].data)
    memcpy(r->out[0].data, r->in[0].data,
           (size_t)r->in[0].n_elem * tfsdk_dtype_size(r->in[0].dtype));
  for (int64_t i = 0; i < boxes->n_elem / 4; i++) {
    const int64_t image = i / boxes->dim[1];
    const float *b = (const float *)boxes->data + 4 * i;
    int64_t top = line_of(b[0], height), left = line_of(b[1], width);
    int64_t bottom = line_of(b[2], height), right = line_of(b[3], width);
    double color[4] = {0, 0, 0, 0};
    if (top > bottom || left > right || top >= height || left >= width || bottom < 0 || right < 0)
      continue; /* empty, or nothing of it is seen */
    color_of(r, i % boxes->dim[1], depth, color);
    for (int64_t x = left < 0 ? 0 : left; x <= right && x < width; x++) {
      if (top >= 0) pixel(r, image, top, x, color);
      if (bottom < height) pixel(r, image, bottom, x, color);
    }
    for (int64_t y = top < 0 ? 0 : top; y <= bottom && y < height; y++) {
      if (left >= 0) pixel(r, image, y, left, color);
      if (right < width) pixel(r, image, y, right, color);
    }
  }
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s, boxes;
  int64_t same;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 4, &s));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 3, &boxes));
  TFSDK_REQUIRE(c, s.dim[3] < 0 || s.dim[3] == 1 || s.dim[3] == 3 || s.dim[3] == 4,
                "'images' must have 1, 3 or 4 channels, but their shape is %s",
                tfsdk_shape_text(&s).s);
  TFSDK_REQUIRE(c, boxes.dim[2] < 0 || boxes.dim[2] == 4,
                "'boxes' must have the shape [batch, boxes, 4], but it is %s",
                tfsdk_shape_text(&boxes).s);
  TFSDK_TRY(tfsdk_merge_dim(c, s.dim[0], boxes.dim[0], "the numbers of images", &same));
  c->out[0].shape = s;
  return NULL;
}
static tfsdk_status *infer_v2(tfsdk_infer *c) {
  tfsdk_shape colors;
  TFSDK_TRY(infer(c));
  TFSDK_TRY(tfsdk_with_rank(c, 2, 2, &colors));
  TFSDK_REQUIRE(c,
                colors.dim[0] == 0 || colors.dim[1] < 0 || c->out[0].shape.dim[3] < 0 ||
                    colors.dim[1] >= c->out[0].shape.dim[3],
                "'colors' has %lld channels, the images %lld", (long long)colors.dim[1],
                (long long)c->out[0].shape.dim[3]);
  return NULL;
}

#define INPUTS                                                                                     \
  {"images", "T", "[batch, height, width, channels]", 0, 0}, {                                     \
    "boxes", "float32", "[batch, boxes, 4]: top, left, bottom, right, in 0..1", 0, 0               \
  }
static const tfsdk_arg in[] = {INPUTS};
static const tfsdk_arg in_v2[] = {
    INPUTS, {"colors", "float32", "[n, channels]: colours, taken in turn", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "the images with the outlines", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", TFSDK_T_FLOATS, "float32", "type of the images", 0, 0}};
static const int8_t alias[1] = {0};
static const char *const samples[] = {"T[2,6,5,3] ; float32[2,3,4](-0.2,1.2)",
                                      "T[1,6,5,1] ; float32{{{0.1,0.2,0.7,0.9}}}",
                                      "float32[1,4,4,3] ; float32[1,0,4]", NULL};
static const char *const samples_v2[] = {"T[2,6,5,3] ; float32[2,3,4](0,1) ; float32[2,3]",
                                         "T[1,6,5,4] ; float32[1,2,4](0,1) ; float32[0,4]", NULL};
#define REST                                                                                       \
  .out = out, .n_out = TFSDK_COUNT(out), .attr = attr, .n_attr = TFSDK_COUNT(attr),                \
  .may_alias = alias, .reference = compute,                                                        \
  .no_grad_reason = "pictures for people: TensorFlow's op has none either"
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("DrawBoundingBoxes", "draws the outlines of boxes"), .in = in,
     .n_in = TFSDK_COUNT(in), .infer = infer,
     .doc = "Lines of one pixel, in ten colours in turn (images of one channel: 1). Box edges lie "
            "on pixel "
            "`floor(part (n - 1))`; what lies outside is not drawn.\n\nSource: TensorFlow "
            "`DrawBoundingBoxes`.",
     .samples = samples, REST},
    {TFSDK_OP_HEAD("DrawBoundingBoxesV2", "draws the outlines of boxes in given colours"),
     .in = in_v2, .n_in = TFSDK_COUNT(in_v2), .infer = infer_v2,
     .doc = "DrawBoundingBoxes with a table of colours; without any that op's own.\n\nSource: "
            "TensorFlow `DrawBoundingBoxesV2`.",
     .samples = samples_v2, REST},
};
TFSDK_UNIT_OPS(draw_bounding_boxes, ops);
