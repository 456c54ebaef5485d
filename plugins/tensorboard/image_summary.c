/* ImageSummary: pictures for the images dashboard, as PNG.
 *
 *     uint8: as they are. Floating: x * 255 / max where no element is negative, else
 *     x * 127 / max|x| + 128; pixels that are not finite get bad_color   (TensorFlow's ImageSummary)
 *
 * Image{height 1, width 2, colorspace 3, encoded_image_string 4}. */
#include <math.h>

#include "png_image.h"
#include "summary.h"

typedef struct picture {
  int64_t pixels, depth; /* of one image */
  const int64_t *bad;    /* the colour of pixels that are not finite */
} picture;

static bool finite_pixel(const tfsdk_view *v, int64_t at, int64_t depth) {
  for (int64_t k = 0; k < depth; k++)
    if (!isfinite(tfsdk_view_number(v, at + k))) return false;
  return true;
}

/* x * scale + offset as TensorFlow computes it: in the tensor's own type. */
static uint8_t shade(const tfsdk_view *v, int64_t at, double scale, double offset) {
  double x = tfsdk_view_number(v, at);
  if (v->dtype == TFSDK_FLOAT16) {
    float product = tfsdk_from_half(tfsdk_to_half((float)x * (float)scale));
    x = (double)tfsdk_from_half(tfsdk_to_half(product + (float)offset));
  } else if (v->dtype == TFSDK_FLOAT32) {
    float product = (float)x * (float)scale;
    x = (double)(product + (float)offset);
  } else {
    double product = x * scale;
    x = product + offset;
  }
  return x >= 255 ? 255 : x <= 0 ? 0 : (uint8_t)x;
}

/* The image that begins at element `at` as bytes. */
static void to_bytes(const tfsdk_view *v, int64_t at, const picture *p, uint8_t *to) {
  float low = INFINITY, high = -INFINITY, most;
  double scale, offset = 0;
  for (int64_t i = 0; i < p->pixels; i++) {
    if (!finite_pixel(v, at + i * p->depth, p->depth)) continue;
    for (int64_t k = 0; k < p->depth; k++) {
      float x = (float)tfsdk_view_number(v, at + i * p->depth + k);
      low = x < low ? x : low;
      high = x > high ? x : high;
    }
  }
  if (low < 0) {
    most = fabsf(low) > fabsf(high) ? fabsf(low) : fabsf(high);
    scale = most < 1e-6f ? 0 : (double)(127.0f / most);
    offset = 128;
  } else {
    scale = high < 1e-6f ? 0 : (double)(255.0f / high);
  }
  if (v->dtype == TFSDK_FLOAT16) scale = (double)tfsdk_from_half(tfsdk_to_half((float)scale));
  for (int64_t i = 0; i < p->pixels; i++) {
    bool finite = finite_pixel(v, at + i * p->depth, p->depth);
    for (int64_t k = 0; k < p->depth; k++)
      to[i * p->depth + k] =
          finite ? shade(v, at + i * p->depth + k, scale, offset) : (uint8_t)p->bad[k];
  }
}

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape images;
  int64_t depth, max = tfsdk_attr_int(&c->attr, "max_images");
  TFSDK_REQUIRE(c, max >= 1, "max_images is %lld; at least 1 is needed", (long long)max);
  TFSDK_TRY(tfsdk_with_rank(c, 1, 4, &images));
  depth = images.dim[3];
  TFSDK_REQUIRE(c, depth == -1 || depth == 1 || depth == 3 || depth == 4,
                "images have 1, 3 or 4 channels on their last axis, not %lld", (long long)depth);
  return tfsdk_infer_scalar(c);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *v = &r->in[1];
  int64_t max = tfsdk_attr_int(&r->attr, "max_images"), height = v->dim[1], width = v->dim[2];
  uint32_t n_bad;
  uint64_t n = 0;
  const char *tag = NULL;
  void *room = NULL;
  picture p = {height * width, v->dim[3], tfsdk_attr_ints(&r->attr, "bad_color", &n_bad)};
  (void)state;
  TFSDK_TRY(summary_scalar(r, 0, "tag", &tag, &n));
  TFSDK_REQUIRE(r, (int64_t)n_bad >= p.depth, "bad_color has %u members for %lld channels", n_bad,
                (long long)p.depth);
  for (uint32_t k = 0; k < n_bad; k++)
    TFSDK_REQUIRE(r, p.bad[k] >= 0 && p.bad[k] <= 255, "bad_color has the member %lld; 0 to 255",
                  (long long)p.bad[k]);
  TFSDK_REQUIRE(r, height <= INT32_MAX && width <= INT32_MAX && p.pixels <= INT32_MAX,
                "images of %lld x %lld are too large for PNG", (long long)height, (long long)width);
  TFSDK_REQUIRE(r, p.pixels > 0, "images of %lld x %lld have no pixels", (long long)height,
                (long long)width);
  TFSDK_TRY(r->api->workspace(r, (size_t)(p.pixels * p.depth), &room));
  pb b = pb_new(r->host);
  for (int64_t i = 0; i < v->dim[0] && i < max; i++) {
    const uint8_t *bytes = (const uint8_t *)room;
    int64_t at = i * p.pixels * p.depth;
    if (v->dtype == TFSDK_UINT8)
      bytes = (const uint8_t *)v->data + at;
    else
      to_bytes(v, at, &p, (uint8_t *)room);
    size_t value = pb_begin(&b, 1), image, encoded;
    summary_numbered_tag(&b, tag, n, "/image", i, max);
    image = pb_begin(&b, 4);
    pb_put_int(&b, 1, height);
    pb_put_int(&b, 2, width);
    pb_put_int(&b, 3, p.depth);
    encoded = pb_begin(&b, 4);
    if (!png_encode(&b, bytes, (uint32_t)width, (uint32_t)height, (uint32_t)p.depth)) {
      pb_free(&b);
      return TFSDK_FAIL(r, RESOURCE_EXHAUSTED, "no memory for the PNG of %lld x %lld x %lld",
                        (long long)height, (long long)width, (long long)p.depth);
    }
    pb_end(&b, encoded);
    pb_end(&b, image);
    pb_end(&b, value);
  }
  return summary_finish(r, &b);
}

static const tfsdk_arg in[] = {
    {"tag", "string", "a scalar: the beginning of the tags", 0, 0},
    {"tensor", "T", "[batch, height, width, channels] with 1, 3 or 4 channels",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg out[] = {{"summary", "string", "a serialized Summary", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"max_images", "int", "3", "how many images of the batch", 1, 1e9},
    {"T", "dtype{uint8,float32,float16,float64}", "float32", "the type of `tensor`", 0, 0},
    {"bad_color", "list(int)", "[255,0,0,255]", "of pixels that are not finite", 0, 0},
};
static const char *const samples[] = {"string(\"x\") ; float32[2,3,4,3] | max_images=1",
                                      "string(\"x\") ; T[2,3,4,1](0,1)",
                                      "string(\"x\") ; float64[1,2,2,4]", NULL};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ImageSummary", "pictures for TensorBoard"),
    .doc = "A serialized Summary message with the first `max_images` images of a batch as PNG, "
           "tagged `tag/image/0` and so on, or `tag/image` if `max_images` is 1. Floating images "
           "are scaled, each by itself: the largest element becomes 255; with negative elements "
           "the largest magnitude becomes 127 and zero 128.",
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = infer,
    .reference = compute,
    .no_grad_reason = "the output is a string",
    .samples = samples,
}};
TFSDK_UNIT_OPS(image_summary, ops);
