#include "depthwise.h"

tfsdk_status *depthwise_emit(tfsdk_ctx *c, const tfsdk_attrs *cfg, const conv_window *w,
                             const char *role, tfsdk_val x, int32_t *out_dtype,
                             int64_t *out_channels, tfsdk_val *out) {
  tfsdk_typed_shape t;
  int64_t kernel[4], channels, multiplier = tfsdk_attr_int(cfg, "depth_multiplier");
  int32_t rank = (int32_t)w->n + 2;
  TFSDK_TRY(layer_float_input(c, x, rank, rank, conv_axes_text(w->n, w->first), &t));
  TFSDK_TRY(layer_known_extent(c, &t, layer_channel_axis(cfg, rank), &channels));
  for (uint32_t i = 0; i < w->n; i++) kernel[i] = w->kernel[i];
  kernel[w->n] = channels;
  kernel[w->n + 1] = multiplier;
  tfsdk_val in[2] = {conv_widen(c, w, x), tfsdk_weight(c, role, t.dtype, w->n + 2, kernel, NULL)};
  if (w->n == 1) in[1] = layer_expand(c, in[1], 0);
  *out = tfsdk_emit(c, "DepthwiseConv2dNative", in, 2, w->attr, w->n_attr);
  *out_channels = channels * multiplier;
  *out_dtype = t.dtype;
  return NULL;
}

tfsdk_status *depthwise_build(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                              tfsdk_val *out) {
  conv_window w;
  int64_t channels;
  int32_t dtype;
  tfsdk_val y;
  TFSDK_TRY(conv_window_read(c, cfg, n, &w));
  TFSDK_TRY(depthwise_emit(c, cfg, &w, "kernel", x, &dtype, &channels, &y));
  *out = layer_finish(c, cfg, conv_narrow(c, &w, y), dtype, channels, w.first);
  return tfsdk_ctx_error(c);
}

tfsdk_status *separable_build(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                              tfsdk_val *out) {
  conv_window w;
  int64_t kernel[4], ones[4] = {1, 1, 1, 1}, filters = tfsdk_attr_int(cfg, "filters"), channels;
  int32_t dtype;
  tfsdk_val y;
  TFSDK_TRY(conv_window_read(c, cfg, n, &w));
  TFSDK_TRY(depthwise_emit(c, cfg, &w, "depthwise_kernel", x, &dtype, &channels, &y));
  for (uint32_t i = 0; i < n; i++) kernel[i] = 1;
  kernel[n] = channels;
  kernel[n + 1] = filters;
  tfsdk_val in[2] = {y, tfsdk_weight(c, "pointwise_kernel", dtype, n + 2, kernel, NULL)};
  if (n == 1) in[1] = layer_expand(c, in[1], 0);
  tfsdk_attrval attr[3] = {tfsdk_a_ints("strides", ones, 4), tfsdk_a_string("padding", "VALID"),
                           tfsdk_a_string("data_format", w.first ? "NCHW" : "NHWC")};
  y = tfsdk_emit(c, "Conv2D", in, 2, attr, 3);
  *out = layer_finish(c, cfg, conv_narrow(c, &w, y), dtype, filters, w.first);
  return tfsdk_ctx_error(c);
}
