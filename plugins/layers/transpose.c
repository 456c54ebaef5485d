#include "transpose.h"

/* extent * stride + more, of which the extent may be unknown */
typedef struct extent {
  int64_t stride, more;
} extent;

/* How long the output is along axis i of the window: Keras' rule. */
static extent output_extent(const conv_window *w, uint32_t i, int same, const int64_t *padding) {
  int64_t k = (w->kernel[i] - 1) * w->rate[i] + 1, s = w->stride[i];
  extent e = {s, same ? 0 : k > s ? k - s : 0};
  if (padding != NULL) e.more = k - s - (same ? 2 * (k / 2) : 0) + padding[i];
  return e;
}

static tfsdk_val extent_val(tfsdk_ctx *c, tfsdk_val x, int32_t axis, extent e) {
  tfsdk_val v = layer_extent(c, x, axis);
  if (e.stride != 1) v = tfsdk_emit2(c, "Mul", v, tfsdk_int_scalar(c, (int32_t)e.stride));
  return e.more ? tfsdk_emit2(c, "AddV2", v, tfsdk_int_scalar(c, (int32_t)e.more)) : v;
}

tfsdk_status *transpose_build(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                              tfsdk_val *out) {
  conv_window w;
  tfsdk_typed_shape t;
  int64_t channels, filters = tfsdk_attr_int(cfg, "filters"), kernel[5], given[3], dim[5];
  uint32_t n_given, unknown = 0;
  tfsdk_val part[5];
  int same = strcmp(tfsdk_attr_string(cfg, "padding"), "same") == 0;
  TFSDK_TRY(conv_window_read(c, cfg, n, &w));
  (void)tfsdk_attr_ints(cfg, "output_padding", &n_given);
  if (n_given > 0) TFSDK_TRY(layer_ints(c, cfg, "output_padding", n, 0, given));
  for (uint32_t i = 0; i < n && n_given > 0; i++)
    TFSDK_REQUIRE(c, given[i] < w.stride[i],
                  "'output_padding' (%lld) must be below the stride (%lld)", (long long)given[i],
                  (long long)w.stride[i]);
  int32_t rank = (int32_t)n + 2;
  TFSDK_TRY(layer_float_input(c, x, rank, rank, conv_axes_text(n, w.first), &t));
  TFSDK_TRY(layer_known_extent(c, &t, layer_channel_axis(cfg, rank), &channels));
  for (uint32_t i = 0; i < n; i++) kernel[i] = w.kernel[i];
  kernel[n] = filters;
  kernel[n + 1] = channels;
  tfsdk_val weights = tfsdk_weight(c, "kernel", t.dtype, n + 2, kernel, NULL);
  tfsdk_val wide = conv_widen(c, &w, x);
  if (n == 1) weights = layer_expand(c, weights, 0);
  tfsdk_typed_shape from = tfsdk_type(c, wide);
  uint32_t axes = w.axes + 2, at = w.first ? 2 : 1, skip = w.axes - n;
  for (uint32_t i = 0; i < axes; i++) {
    int window = i >= at + skip && i < at + w.axes;
    extent e = {1, 0};
    if (window) e = output_extent(&w, i - at - skip, same, n_given ? given : NULL);
    if (i == (w.first ? 1 : axes - 1)) {
      dim[i] = filters;
      part[i] = tfsdk_int_scalar(c, (int32_t)filters);
      continue;
    }
    dim[i] =
        from.shape.rank < 0 || from.shape.dim[i] < 0 ? -1 : from.shape.dim[i] * e.stride + e.more;
    unknown += dim[i] < 0;
    part[i] =
        dim[i] < 0 ? extent_val(c, wide, (int32_t)i, e) : tfsdk_int_scalar(c, (int32_t)dim[i]);
  }
  tfsdk_attrval zero = tfsdk_a_int("axis", 0);
  tfsdk_val sizes =
      unknown ? tfsdk_emit(c, "Pack", part, axes, &zero, 1) : tfsdk_int_vector(c, dim, axes);
  tfsdk_val in[3] = {sizes, weights, wide};
  tfsdk_val y = tfsdk_emit(c, n == 3 ? "Conv3DBackpropInputV2" : "Conv2DBackpropInput", in, 3,
                           w.attr, w.n_attr);
  if (unknown) { /* the extents that are known all the same */
    tfsdk_attrval shape = tfsdk_a_shape("shape", dim, axes);
    y = tfsdk_emit(c, "EnsureShape", &y, 1, &shape, 1);
  }
  *out = layer_finish(c, cfg, conv_narrow(c, &w, y), t.dtype, filters, w.first);
  return tfsdk_ctx_error(c);
}
