/* SampleDistortedBoundingBox: a random rectangle of an image that covers enough of one of its objects (C. Szegedy et
 * al., "Going deeper with convolutions", 2014, train on such crops). Up to max_attempts times: an aspect ratio, uniform
 * in its range; a height, uniform among those for which the area is in its range; a place, uniform. The first one
 * that covers min_object_covered of a box is taken; the whole image if there is none. */
#include <math.h>
#include <tfsdk/philox.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

typedef struct rectangle {
  int64_t top, left, bottom, right;
} rectangle;

static double area_of(rectangle a) {
  return a.bottom > a.top && a.right > a.left
             ? (double)(a.bottom - a.top) * (double)(a.right - a.left)
             : 0;
}
static rectangle common(rectangle a, rectangle b) {
  rectangle c = {a.top > b.top ? a.top : b.top, a.left > b.left ? a.left : b.left,
                 a.bottom < b.bottom ? a.bottom : b.bottom, a.right < b.right ? a.right : b.right};
  return c;
}
/* 0..n - 1 from a random word; n is an extent of an image. */
static int64_t below(uint32_t word, int64_t n) {
  return (int64_t)((uint64_t)word * (uint64_t)n >> 32);
}

/* A rectangle of that aspect ratio whose area is in low..high (pixels), by three random words. */
static int draw(int64_t height, int64_t width, double low, double high, double ratio,
                const uint32_t w[3], rectangle *out) {
  int64_t rows, most, columns;
  if (!(high > 0) || !(ratio > 0) || height <= 0 || width <= 0 || low > high) return 0;
  rows = llrint(sqrt(low / ratio));
  most = llrint(sqrt(high / ratio));
  if (llrint((double)most * ratio) > width) {
    most = (int64_t)(((double)width + 0.5 - 1e-7) / ratio);
    if (llrint((double)most * ratio) > width) most--;
  }
  if (most > height) most = height;
  if (rows >= most) rows = most;
  if (rows < most) rows += below(w[0], most - rows + 1);
  columns = llrint((double)rows * ratio);
  if ((double)(rows * columns) < low) /* rounding alone is no reason to fail */
    columns = llrint((double)++rows * ratio);
  if ((double)(rows * columns) > high) columns = llrint((double)--rows * ratio);
  if ((double)(rows * columns) < low || (double)(rows * columns) > high || columns > width ||
      rows > height || columns <= 0 || rows <= 0)
    return 0;
  out->top = rows < height ? below(w[1], height - rows) : 0;
  out->left = columns < width ? below(w[2], width - columns) : 0;
  out->bottom = out->top + rows;
  out->right = out->left + columns;
  return 1;
}

static tfsdk_status *boxes_of(tfsdk_run *r, int64_t height, int64_t width, rectangle **out,
                              int64_t *n) {
  const float *b = (const float *)r->in[1].data;
  void *room;
  *n = r->in[1].n_elem / 4;
  if (*n == 0) {
    TFSDK_REQUIRE(r, tfsdk_attr_int(&r->attr, "use_image_if_no_bounding_boxes") != 0,
                  "there are no bounding boxes: give some, or set use_image_if_no_bounding_boxes");
    TFSDK_TRY(r->api->workspace(r, sizeof(rectangle), &room));
    *out = (rectangle *)room;
    **out = (rectangle){0, 0, height, width};
    *n = 1;
    return NULL;
  }
  TFSDK_TRY(r->api->workspace(r, (size_t)*n * sizeof(rectangle), &room));
  *out = (rectangle *)room;
  for (int64_t i = 0; i < *n; i++, b += 4) {
    for (int k = 0; k < 4; k++)
      TFSDK_REQUIRE(r, b[k] >= 0 && b[k] <= 1, "member %d of bounding box %lld is %g, not in 0..1",
                    k, (long long)i, (double)b[k]);
    TFSDK_REQUIRE(r, b[0] < b[2] && b[1] < b[3],
                  "bounding box %lld is [%g, %g, %g, %g]: top, left, bottom, right, the first two "
                  "must be the smaller ones",
                  (long long)i, (double)b[0], (double)b[1], (double)b[2], (double)b[3]);
    (*out)[i] = (rectangle){(int64_t)(b[0] * (float)height), (int64_t)(b[1] * (float)width),
                            (int64_t)(b[2] * (float)height), (int64_t)(b[3] * (float)width)};
  }
  return NULL;
}

static void store(const tfsdk_view *v, int64_t i, int64_t x) {
  switch (v->dtype) {
  case TFSDK_UINT8: ((uint8_t *)v->data)[i] = (uint8_t)x; break;
  case TFSDK_INT8: ((int8_t *)v->data)[i] = (int8_t)x; break;
  case TFSDK_INT16: ((int16_t *)v->data)[i] = (int16_t)x; break;
  case TFSDK_INT32: ((int32_t *)v->data)[i] = (int32_t)x; break;
  default: ((int64_t *)v->data)[i] = x; break;
  }
}

static tfsdk_status *sample(tfsdk_run *r, double covered) {
  const int64_t height = tfsdk_view_int(&r->in[0], 0), width = tfsdk_view_int(&r->in[0], 1);
  const int64_t attempts = tfsdk_attr_int(&r->attr, "max_attempts");
  const tfsdk_attrval *ratios = tfsdk_attr_find(&r->attr, "aspect_ratio_range");
  const tfsdk_attrval *areas = tfsdk_attr_find(&r->attr, "area_range");
  rectangle *box = NULL, crop = {0, 0, height, width};
  uint32_t key[2], w[4];
  uint64_t counter;
  int64_t n;
  float *corners = (float *)r->out[2].data;
  TFSDK_REQUIRE(r, height > 0 && width > 0, "'image_size' says %lld rows and %lld columns",
                (long long)height, (long long)width);
  TFSDK_REQUIRE(r, height <= INT32_MAX && width <= INT32_MAX, "'image_size' is too large");
  TFSDK_REQUIRE(r, covered >= 0 && covered <= 1, "'min_object_covered' must be in 0..1, not %g",
                covered);
  TFSDK_TRY(boxes_of(r, height, width, &box, &n));
  TFSDK_TRY(r->api->rng(r, (uint64_t)attempts, key, &counter));
  for (int64_t i = 0, found = 0; i < attempts && !found; i++) {
    rectangle a;
    tfsdk_philox(key, counter + (uint64_t)i, w);
    double ratio = ratios->v.floats[0] +
                   (double)tfsdk_uniform_float(w[3]) * (ratios->v.floats[1] - ratios->v.floats[0]);
    double all = (double)height * (double)width;
    if (!draw(height, width, areas->v.floats[0] * all, areas->v.floats[1] * all, ratio, w, &a))
      continue;
    for (int64_t k = 0; k < n && !found; k++) {
      double object = area_of(box[k]);
      found = object >= 1 && area_of(common(a, box[k])) / object >= covered;
    }
    if (found) crop = a;
  }
  store(&r->out[0], 0, crop.top);
  store(&r->out[0], 1, crop.left);
  store(&r->out[0], 2, 0);
  store(&r->out[1], 0, crop.bottom - crop.top);
  store(&r->out[1], 1, crop.right - crop.left);
  store(&r->out[1], 2, -1);
  corners[0] = (float)crop.top / (float)height;
  corners[1] = (float)crop.left / (float)width;
  corners[2] = (float)crop.bottom / (float)height;
  corners[3] = (float)crop.right / (float)width;
  return NULL;
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return sample(r, tfsdk_attr_float(&r->attr, "min_object_covered"));
}
static tfsdk_status *compute_v2(void *state, tfsdk_run *r) {
  (void)state;
  return sample(r, (double)((const float *)r->in[2].data)[0]);
}

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape size, boxes;
  const char *const ranges[2] = {"aspect_ratio_range", "area_range"};
  TFSDK_TRY(tfsdk_with_rank(c, 0, 1, &size));
  TFSDK_REQUIRE(c, size.dim[0] < 0 || size.dim[0] == 3,
                "'image_size' is height, width, channels, not %lld numbers",
                (long long)size.dim[0]);
  TFSDK_TRY(tfsdk_with_rank(c, 1, 3, &boxes));
  TFSDK_REQUIRE(c, boxes.dim[2] < 0 || boxes.dim[2] == 4,
                "'bounding_boxes' must have the shape [batch, boxes, 4], but it is %s",
                tfsdk_shape_text(&boxes).s);
  for (int i = 0; i < 2; i++) {
    const tfsdk_attrval *a = tfsdk_attr_find(&c->attr, ranges[i]);
    TFSDK_REQUIRE(c, a->n == 2 && a->v.floats[0] > 0 && a->v.floats[0] <= a->v.floats[1],
                  "'%s' must be two numbers above 0, the smaller one first", ranges[i]);
    TFSDK_REQUIRE(c, i == 0 || a->v.floats[1] <= 1,
                  "'%s' is a part of the image: at most 1, not %g", ranges[i], a->v.floats[1]);
  }
  c->out[0].shape = c->out[1].shape = tfsdk_shape_of_rank(1);
  c->out[0].shape.dim[0] = c->out[1].shape.dim[0] = 3;
  c->out[2].shape = tfsdk_shape_of_rank(3);
  c->out[2].shape.dim[0] = c->out[2].shape.dim[1] = 1;
  c->out[2].shape.dim[2] = 4;
  return NULL;
}
static tfsdk_status *infer_v2(tfsdk_infer *c) {
  tfsdk_shape s;
  TFSDK_TRY(tfsdk_with_rank(c, 2, 0, &s));
  return infer(c);
}

#define INPUTS                                                                                     \
  {"image_size", "T", "height, width, channels", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}, {         \
    "bounding_boxes", "float32",                                                                   \
        "[batch, boxes, 4]: top, left, bottom, right of the objects, in 0..1",                     \
        TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0                                                      \
  }
static const tfsdk_arg in[] = {INPUTS};
static const tfsdk_arg in_v2[] = {INPUTS,
                                  {"min_object_covered", "float32",
                                   "scalar: how much of an object must be seen",
                                   TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {
    {"begin", "T", "[top, left, 0]: for Slice", TFSDK_ARG_HOST, 0},
    {"size", "T", "[height, width, -1]: for Slice", TFSDK_ARG_HOST, 0},
    {"bboxes", "float32", "[1, 1, 4]: the rectangle, in 0..1", TFSDK_ARG_HOST, 0}};
#define ATTRS                                                                                      \
  {"seed", "int", "0", "seed of this op; 0 in both: the graph's, else a random one", 0, 0},        \
      {"seed2", "int", "0", "second seed, which keeps ops of one seed apart", 0, 0},               \
      {"aspect_ratio_range", "list(float)", "[0.75,1.33]", "width / height", 0, 0},                \
      {"area_range", "list(float)", "[0.05,1]", "part of the image's area", 0, 0},                 \
      {"max_attempts", "int", "100", "how often to try; then the whole image", 1, 1000000},        \
      {"use_image_if_no_bounding_boxes",                                                           \
       "bool",                                                                                     \
       "false",                                                                                    \
       "the whole image is the object where no box is given; else that is an error",               \
       0,                                                                                          \
       0},                                                                                         \
  {                                                                                                \
    "T", "dtype{uint8,int8,int16,int32,int64}", NULL, "type of image_size", 0, 0                   \
  }
static const tfsdk_attrdef attr[] = {
    ATTRS, {"min_object_covered", "float", "0.1", "how much of an object must be seen", 0, 1}};
static const tfsdk_attrdef attr_v2[] = {ATTRS};
static const char *const samples[] = {
    "int32{40,30,3} ; float32{{{0.1,0.1,0.9,0.9}}} | seed=1; seed2=2",
    "int64{40,30,3} ; float32[1,0,4] | seed=1; seed2=2; use_image_if_no_bounding_boxes=true", NULL};
static const char *const samples_v2[] = {
    "int32{40,30,3} ; float32{{{0.1,0.1,0.9,0.9}}} ; float32(0.5) | seed=1; seed2=2", NULL};
#define DOC                                                                                        \
  "A random rectangle whose aspect ratio and area are in their ranges and which covers at least "  \
  "`min_object_covered` of one of the boxes (boxes of less than a pixel do not count); the whole " \
  "image when max_attempts of them did not. The same seeds give the same rectangles in graph and " \
  "eager mode.\n\nSource: TensorFlow `SampleDistortedBoundingBox`; its own random numbers differ."
#define REST                                                                                       \
  .out = out, .n_out = TFSDK_COUNT(out), .doc = DOC, .flags = TFSDK_OP_RANDOM | TFSDK_OP_STATEFUL, \
  .no_grad_reason = "whole numbers"
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SampleDistortedBoundingBox", "a random rectangle of an image"), .in = in,
     .n_in = TFSDK_COUNT(in), .attr = attr, .n_attr = TFSDK_COUNT(attr), .infer = infer,
     .reference = compute, .samples = samples, REST},
    {TFSDK_OP_HEAD("SampleDistortedBoundingBoxV2", "a random rectangle of an image"), .in = in_v2,
     .n_in = TFSDK_COUNT(in_v2), .attr = attr_v2, .n_attr = TFSDK_COUNT(attr_v2), .infer = infer_v2,
     .reference = compute_v2, .samples = samples_v2, REST},
};
TFSDK_UNIT_OPS(sample_distorted_bounding_box, ops);
