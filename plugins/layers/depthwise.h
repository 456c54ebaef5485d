/* Convolutions of each channel on its own, over one and two axes, and mixing the channels behind. */
#ifndef TFSDK_LAYERS_DEPTHWISE_H
#define TFSDK_LAYERS_DEPTHWISE_H

#include "conv.h"

/* The depthwise part: *out_channels of them, weighed by the weight `role`. */
tfsdk_status *depthwise_emit(tfsdk_ctx *c, const tfsdk_attrs *cfg, const conv_window *w,
                             const char *role, tfsdk_val x, int32_t *out_dtype,
                             int64_t *out_channels, tfsdk_val *out);
tfsdk_status *depthwise_build(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                              tfsdk_val *out);
tfsdk_status *separable_build(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                              tfsdk_val *out);

#define DEPTHWISE_MULTIPLIER                                                                       \
  { "depth_multiplier", "int", "1", "output channels for each input channel", 1, 2147483647.0 }
#define DEPTHWISE_PADDING                                                                          \
  {                                                                                                \
    "padding", "string{valid,same,causal}", "valid",                                               \
        "as of conv2d; causal (one axis): outputs see no later steps", 0, 0                        \
  }

#endif
