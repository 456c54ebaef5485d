#include "border.h"

tfsdk_status *border_add(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                         tfsdk_val *out) {
  tfsdk_typed_shape t;
  int64_t side[3][2], rows[2] = {(int64_t)n + 2, 2};
  int32_t pads[5][2] = {{0}};
  TFSDK_TRY(keras_images(c, cfg, x, n, &t));
  TFSDK_TRY(keras_sides(c, cfg, "padding", n, side));
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < 2; k++) {
      TFSDK_REQUIRE(c, side[i][k] <= INT32_MAX, "'padding' is too large: %lld",
                    (long long)side[i][k]);
      pads[keras_axis(cfg, i)][k] = (int32_t)side[i][k];
    }
  *out = tfsdk_emit2(c, "Pad", x, tfsdk_constant(c, TFSDK_INT32, 2, rows, pads));
  return tfsdk_ctx_error(c);
}

tfsdk_status *border_cut(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                         tfsdk_val *out) {
  tfsdk_typed_shape t;
  int64_t side[3][2], begin[5] = {0}, end[5] = {0}, step[5] = {1, 1, 1, 1, 1}, open = 0;
  TFSDK_TRY(keras_images(c, cfg, x, n, &t));
  TFSDK_TRY(keras_sides(c, cfg, "cropping", n, side));
  for (uint32_t i = 0; i < n + 2; i++) open |= (int64_t)1 << i;
  for (uint32_t i = 0; i < n; i++) {
    int32_t axis = keras_axis(cfg, i);
    int64_t extent = t.shape.dim[axis];
    TFSDK_REQUIRE(c, extent < 0 || side[i][0] + side[i][1] < extent,
                  "cropping %lld and %lld leaves nothing of axis %d; the input's shape is %s",
                  (long long)side[i][0], (long long)side[i][1], axis, tfsdk_shape_text(&t.shape).s);
    begin[axis] = side[i][0];
    end[axis] = -side[i][1]; /* counted from the end, so the extent may be unknown */
    if (side[i][1] > 0) open &= ~((int64_t)1 << axis);
  }
  tfsdk_val arg[4] = {x, tfsdk_int_vector(c, begin, n + 2), tfsdk_int_vector(c, end, n + 2),
                      tfsdk_int_vector(c, step, n + 2)};
  tfsdk_attrval mask = tfsdk_a_int("end_mask", open);
  *out = tfsdk_emit(c, "StridedSlice", arg, 4, &mask, 1);
  return tfsdk_ctx_error(c);
}
