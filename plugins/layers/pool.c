#include "pool.h"

tfsdk_status *pool_build(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, const char *op,
                         tfsdk_val x, tfsdk_val *out) {
  conv_window w;
  tfsdk_typed_shape t;
  tfsdk_attrval own[4];
  uint32_t given;
  (void)tfsdk_attr_ints(cfg, "strides", &given);
  own[0] = *tfsdk_attr_find(cfg, "pool_size");
  own[0].name = "kernel_size";
  own[1] = given == 0 ? own[0] : *tfsdk_attr_find(cfg, "strides");
  own[1].name = "strides";
  own[2] = *tfsdk_attr_find(cfg, "padding");
  own[3] = *tfsdk_attr_find(cfg, "data_format");
  tfsdk_attrs view = {own, 4, 0};
  int64_t ksize[5];
  TFSDK_TRY(conv_window_read(c, &view, n, &w));
  int32_t rank = (int32_t)n + 2;
  TFSDK_TRY(layer_input(c, x, rank, rank, conv_axes_text(n, w.first), &t));
  uint32_t axes = w.axes + 2, at = w.first ? 2 : 1;
  for (uint32_t i = 0; i < axes; i++) ksize[i] = 1;
  for (uint32_t i = 0; i < n; i++) ksize[at + w.axes - n + i] = w.kernel[i];
  tfsdk_attrval attr[4] = {tfsdk_a_ints("ksize", ksize, axes), w.attr[0], w.attr[2], w.attr[3]};
  tfsdk_val wide = conv_widen(c, &w, x);
  *out = conv_narrow(c, &w, tfsdk_emit(c, op, &wide, 1, attr, 4));
  return tfsdk_ctx_error(c);
}
