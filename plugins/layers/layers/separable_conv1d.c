/* separable_conv1d: each channel on its own, then a mix of the channels at each place. */
#include "depthwise.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return separable_build(c, cfg, 1, in[0], &out[0]);
}

static const tfsdk_arg in[] = {
    {"inputs", "tensor", "batch, axes, channels; or channels behind the batch", 0, 0}};
static const tfsdk_arg weight[] = {
    {"depthwise_kernel", "trained", "kernel_size, then [channels, depth_multiplier]", 0, 0},
    {"pointwise_kernel", "trained", "ones, then [channels depth_multiplier, filters]", 0, 0},
    {"bias", "trained", "[filters], with use_bias", 0, 0}};
static const tfsdk_attrdef param[] = {CONV_FILTERS,         CONV_KERNEL,      CONV_STRIDES,
                                      DEPTHWISE_PADDING,    LAYER_FORMAT,     CONV_RATE,
                                      DEPTHWISE_MULTIPLIER, LAYER_ACTIVATION, LAYER_USE_BIAS};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("separable_conv1d",
                      "A convolution of each channel on its own, then a mix of the channels."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(separable_conv1d, layers);
