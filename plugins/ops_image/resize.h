/* Where the pixels of a resized axis come from: the three grids of TensorFlow.
 *
 *     half-pixel       x = (i + 1/2) n_in / n_out - 1/2      pixels are squares
 *     aligned corners  x = i (n_in - 1) / (n_out - 1)        first and last pixel stay where they
 * are plain            x = i n_in / n_out                    TensorFlow 1's default
 *
 * A place outside the image counts as the nearest pixel inside. */
#ifndef OPS_IMAGE_RESIZE_H
#define OPS_IMAGE_RESIZE_H

#include <math.h>
#include <tfsdk/elementwise.h>

typedef struct resize_grid {
  int aligned, half;
} resize_grid;

static inline resize_grid resize_grid_of(const tfsdk_attrs *a) {
  resize_grid g = {tfsdk_attr_int(a, "align_corners") != 0,
                   tfsdk_attr_int(a, "half_pixel_centers") != 0};
  return g;
}

/* The place on the input's axis of output pixel i; not yet brought inside. */
static inline double resize_place(resize_grid g, int64_t i, int64_t n_in, int64_t n_out) {
  double scale = g.aligned && n_out > 1 ? (double)(n_in - 1) / (double)(n_out - 1)
                                        : (double)n_in / (double)n_out;
  return g.half ? ((double)i + 0.5) * scale - 0.5 : (double)i * scale;
}

/* The shape rule: images [batch, height, width, channels] and a size of two numbers. */
static inline tfsdk_status *resize_infer(tfsdk_infer *c) {
  resize_grid g = resize_grid_of(&c->attr);
  tfsdk_shape s, size = tfsdk_shape_unknown();
  TFSDK_REQUIRE(c, !(g.aligned && g.half),
                "align_corners and half_pixel_centers are two different grids: set at most one");
  TFSDK_TRY(tfsdk_with_rank(c, 0, 4, &s));
  TFSDK_TRY(tfsdk_with_rank(c, 1, 1, &size));
  TFSDK_REQUIRE(c, size.dim[0] < 0 || size.dim[0] == 2, "'size' needs two numbers, not %lld",
                (long long)size.dim[0]);
  for (int32_t i = 0; i < 2; i++) {
    TFSDK_REQUIRE(c, s.dim[1 + i] != 0, "the images of shape %s have no pixels",
                  tfsdk_shape_text(&s).s);
    s.dim[1 + i] = c->value[1] != NULL ? tfsdk_view_int(c->value[1], i) : -1;
    TFSDK_REQUIRE(c, c->value[1] == NULL || s.dim[1 + i] > 0,
                  "'size' must be positive, but member %d is %lld", (int)i,
                  (long long)s.dim[1 + i]);
  }
  c->out[0].shape = s;
  return NULL;
}

#endif
