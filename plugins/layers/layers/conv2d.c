/* conv2d: activation(convolution + bias) over 2 axes. */
#include "conv.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return conv_build(c, cfg, 2, in[0], &out[0]);
}

static const tfsdk_arg in[] = {
    {"inputs", "tensor", "[batch, height, width, channels], or channels first", 0, 0}};
static const tfsdk_arg weight[] = {
    {"kernel", "trained", "kernel_size, then [channels / groups, filters]", 0, 0},
    {"bias", "trained", "[filters], with use_bias", 0, 0}};
static const tfsdk_attrdef param[] = {CONV_FILTERS,  CONV_KERNEL,      CONV_STRIDES,
                                      LAYER_PADDING, LAYER_FORMAT,     CONV_RATE,
                                      CONV_GROUPS,   LAYER_ACTIVATION, LAYER_USE_BIAS};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("conv2d", "Convolution: each output channel sees all input channels (of its "
                                "group) in a window."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(conv2d, layers);
