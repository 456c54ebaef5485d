#include "local.h"

#include <stdlib.h>

/* The element of each window that lies `at` elements behind its first one: [batch, places...,
 * channels], or channels first as the input has them. */
static tfsdk_val tap(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                     const int64_t *at, const int64_t *stride, const int64_t *places) {
  int64_t begin[4] = {0}, end[4] = {0}, step[4] = {1, 1, 1, 1}, open = (1 << (n + 2)) - 1;
  for (uint32_t i = 0; i < n; i++) {
    int32_t axis = keras_axis(cfg, i);
    begin[axis] = at[i];
    end[axis] = at[i] + (places[i] - 1) * stride[i] + 1;
    step[axis] = stride[i];
    open &= ~(1 << axis);
  }
  tfsdk_val in[4] = {x, tfsdk_int_vector(c, begin, n + 2), tfsdk_int_vector(c, end, n + 2),
                     tfsdk_int_vector(c, step, n + 2)};
  tfsdk_attrval mask[2] = {tfsdk_a_int("begin_mask", open), tfsdk_a_int("end_mask", open)};
  return tfsdk_emit(c, "StridedSlice", in, 4, mask, 2);
}

/* Windows as rows, [places, batch, window * channels]: the order in a window is that of its axes and
 * then the channels, or with channels first the channels and then the axes. */
static tfsdk_val windows(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                         const int64_t *size, const int64_t *stride, const int64_t *places,
                         int64_t total, int64_t features) {
  int first = keras_first(cfg);
  int64_t taps = n == 1 ? size[0] : size[0] * size[1];
  tfsdk_val *part = malloc((size_t)taps * sizeof *part), y;
  if (part == NULL) {
    c->api->stick(c, TFSDK_FAIL(c, RESOURCE_EXHAUSTED, "no memory for %lld taps", (long long)taps));
    return tfsdk_none();
  }
  for (int64_t i = 0; i < taps; i++) {
    int64_t at[2] = {n == 1 ? i : i / size[1], n == 1 ? 0 : i % size[1]};
    part[i] = tap(c, cfg, n, x, at, stride, places);
  }
  /* taps behind all axes; [batch, places, channels, taps] or [batch, channels, places, taps] */
  tfsdk_attrval axis = tfsdk_a_int("axis", (int64_t)n + 2);
  y = tfsdk_emit(c, "Pack", part, (size_t)taps, &axis, 1);
  free(part);
  int64_t perm[5], order[2][5] = {{1, 0, 3, 2, 0}, {2, 0, 1, 3, 0}};
  int64_t order2[2][5] = {{1, 2, 0, 4, 3}, {2, 3, 0, 1, 4}};
  memcpy(perm, n == 1 ? order[first] : order2[first], sizeof perm);
  y = keras_transpose(c, y, perm, n + 3);
  keras_dim dim[3] = {keras_dim_is(total), keras_dim_of(c, x, 0), keras_dim_is(features)};
  return keras_reshape(c, y, 3, dim);
}

tfsdk_status *local_build(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                          tfsdk_val *out) {
  tfsdk_typed_shape t;
  int64_t size[2], stride[2], places[2], total = 1, channels, extent;
  int64_t filters = tfsdk_attr_int(cfg, "filters");
  int first = keras_first(cfg);
  TFSDK_TRY(keras_images(c, cfg, x, n, &t));
  TFSDK_TRY(keras_ints(c, cfg, "kernel_size", n, 1, size));
  TFSDK_TRY(keras_ints(c, cfg, "strides", n, 1, stride));
  TFSDK_TRY(keras_known_extent(c, &t, first ? 1 : (int32_t)n + 1, &channels));
  for (uint32_t i = 0; i < n; i++) {
    TFSDK_TRY(keras_known_extent(c, &t, keras_axis(cfg, i), &extent));
    TFSDK_REQUIRE(c, size[i] <= extent,
                  "a window of %lld does not fit into the extent %lld of an "
                  "input of shape %s",
                  (long long)size[i], (long long)extent, tfsdk_shape_text(&t.shape).s);
    places[i] = (extent - size[i]) / stride[i] + 1;
    total *= places[i];
  }
  int64_t features = channels * size[0] * (n == 2 ? size[1] : 1);
  int64_t kernel[3] = {total, features, filters}, bias[3] = {places[0], filters, filters};
  tfsdk_val arg[2] = {windows(c, cfg, n, x, size, stride, places, total, features)};
  arg[1] = tfsdk_weight(c, "kernel", t.dtype, 3, kernel, NULL);
  tfsdk_val y = tfsdk_emit(c, "BatchMatMulV2", arg, 2, NULL, 0); /* [places, batch, filters] */
  int64_t to_last[3] = {1, 0, 2}, to_first[4] = {0, 2, 1, 3};
  if (n == 2) bias[1] = places[1];
  y = keras_transpose(c, y, to_last, 3);
  keras_dim dim[4] = {keras_dim_of(c, x, 0), keras_dim_is(places[0])};
  dim[n] = keras_dim_is(places[n - 1]);
  dim[n + 1] = keras_dim_is(filters);
  if (n == 2) y = keras_reshape(c, y, 4, dim);
  if (tfsdk_attr_int(cfg, "use_bias"))
    y = tfsdk_emit2(c, "AddV2", y, tfsdk_weight(c, "bias", t.dtype, n + 1, bias, "zeros"));
  if (n == 2) {
    to_first[1] = 3;
    to_first[2] = 1;
    to_first[3] = 2;
  }
  if (first) y = keras_transpose(c, y, to_first, n + 2);
  *out = keras_activation(c, cfg, y);
  return tfsdk_ctx_error(c);
}
