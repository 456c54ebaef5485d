/* Pooling over one to three axes. */
#ifndef TFSDK_LAYERS_POOL_H
#define TFSDK_LAYERS_POOL_H

#include "conv.h"

tfsdk_status *pool_build(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, const char *op,
                         tfsdk_val x, tfsdk_val *out);

/* The record, whose `build` stands before it. */
#define POOL_LAYERS(name_, doc_)                                                                   \
  static const tfsdk_arg in[] = {                                                                  \
      {"inputs", "tensor", "batch, axes, channels; or channels behind the batch", 0, 0}};          \
  static const tfsdk_attrdef param[] = {                                                           \
      {"pool_size", "list(int)", "[2]", "the window: one number, or one per axis", 0, 0},          \
      {"strides", "list(int)", "[]", "its steps; empty: as pool_size", 0, 0},                      \
      LAYER_PADDING,                                                                               \
      LAYER_FORMAT};                                                                               \
  static const tfsdk_layerdef layers[] = {{TFSDK_LAYER_HEAD(#name_, doc_), .param = param,         \
                                           .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1,     \
                                           .build = build}}

#endif
