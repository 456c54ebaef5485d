/* Convolutions whose kernel is another one at each place. */
#ifndef TFSDK_KERAS_LOCAL_H
#define TFSDK_KERAS_LOCAL_H

#include "keras.h"

tfsdk_status *local_build(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                          tfsdk_val *out);

/* The record, whose `build` stands before it. */
#define LOCAL_LAYERS(name_)                                                                        \
  static const tfsdk_arg in[] = {KERAS_IMAGES};                                                    \
  static const tfsdk_arg weight[] = {                                                              \
      {"kernel", "trained", "[places, window * channels, filters]", 0, 0},                         \
      {"bias", "trained", "[places of each axis..., filters], with use_bias", 0, 0}};              \
  static const tfsdk_attrdef param[] = {                                                           \
      {"filters", "int", NULL, "the number of output channels", 1, 2147483647.0},                  \
      {"kernel_size", "list(int)", NULL, "the window: one number, or one per axis", 0, 0},         \
      {"strides", "list(int)", "[1]", "its steps: one number, or one per axis", 0, 0},             \
      KERAS_FORMAT,                                                                                \
      {"activation", "string", "linear", "a function of the result: see the layer `activation`",   \
       0, 0},                                                                                      \
      {"use_bias", "bool", "true", "adds a weight for each place and filter", 0, 0}};              \
  static const tfsdk_layerdef layers[] = {                                                         \
      {TFSDK_LAYER_HEAD(#name_, "A convolution without borders whose weights are not shared: "     \
                                "each place has a kernel of its own."),                            \
       .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,       \
       .n_weight = TFSDK_COUNT(weight), .build = build}}

#endif
