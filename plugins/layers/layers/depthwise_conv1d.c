/* depthwise_conv1d: a convolution of each channel on its own. */
#include "depthwise.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return depthwise_build(c, cfg, 1, in[0], &out[0]);
}

static const tfsdk_arg in[] = {
    {"inputs", "tensor", "batch, axes, channels; or channels behind the batch", 0, 0}};
static const tfsdk_arg weight[] = {
    {"kernel", "trained", "kernel_size, then [channels, depth_multiplier]", 0, 0},
    {"bias", "trained", "[channels depth_multiplier], with use_bias", 0, 0}};
static const tfsdk_attrdef param[] = {CONV_KERNEL,          CONV_STRIDES,  DEPTHWISE_PADDING,
                                      DEPTHWISE_MULTIPLIER, LAYER_FORMAT,  CONV_RATE,
                                      LAYER_ACTIVATION,     LAYER_USE_BIAS};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("depthwise_conv1d", "A convolution of each channel on its own."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(depthwise_conv1d, layers);
