/* Transposed convolutions over one to three axes. */
#ifndef TFSDK_LAYERS_TRANSPOSE_H
#define TFSDK_LAYERS_TRANSPOSE_H

#include "conv.h"

tfsdk_status *transpose_build(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                              tfsdk_val *out);

/* The record, whose `build` stands before it. */
#define TRANSPOSE_LAYERS(name_)                                                                    \
  static const tfsdk_arg in[] = {                                                                  \
      {"inputs", "tensor", "batch, axes, channels; or channels behind the batch", 0, 0}};          \
  static const tfsdk_arg weight[] = {                                                              \
      {"kernel", "trained", "kernel_size, then [filters, channels]", 0, 0},                        \
      {"bias", "trained", "[filters], with use_bias", 0, 0}};                                      \
  static const tfsdk_attrdef param[] = {                                                           \
      CONV_FILTERS,                                                                                \
      CONV_KERNEL,                                                                                 \
      CONV_STRIDES,                                                                                \
      LAYER_PADDING,                                                                               \
      {"output_padding", "list(int)", "[]",                                                        \
       "added to one end of the output; empty: same gives extent * stride", 0, 0},                 \
      LAYER_FORMAT,                                                                                \
      CONV_RATE,                                                                                   \
      LAYER_ACTIVATION,                                                                            \
      LAYER_USE_BIAS};                                                                             \
  static const tfsdk_layerdef layers[] = {                                                         \
      {TFSDK_LAYER_HEAD(#name_, "Transposed convolution: the gradient of a convolution with "      \
                                "respect to its input, used forwards."),                           \
       .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,       \
       .n_weight = TFSDK_COUNT(weight), .build = build}}

#endif
