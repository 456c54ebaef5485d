/* Pools over everything, and over as many windows as the output has places. */
#ifndef TFSDK_KERAS_POOL_H
#define TFSDK_KERAS_POOL_H

#include "keras.h"

/* `op` is Max or Mean. `mask`: of which steps the mean is; or none. */
tfsdk_status *pool_global(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, const char *op,
                          tfsdk_val x, tfsdk_val mask, tfsdk_val *out);
tfsdk_status *pool_adaptive(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, const char *op,
                            tfsdk_val x, tfsdk_val *out);

/* The records, whose `build` stands before them. */
#define POOL_GLOBAL_LAYERS(name_, doc_, ...)                                                       \
  static const tfsdk_arg in[] = {__VA_ARGS__};                                                     \
  static const tfsdk_attrdef param[] = {                                                           \
      KERAS_FORMAT, {"keepdims", "bool", "false", "the axes stay, of extent 1", 0, 0}};            \
  static const tfsdk_layerdef layers[] = {{TFSDK_LAYER_HEAD(#name_, doc_), .param = param,         \
                                           .n_param = TFSDK_COUNT(param), .in = in,                \
                                           .n_in = TFSDK_COUNT(in), .build = build}}
#define POOL_ADAPTIVE_LAYERS(name_, doc_)                                                          \
  static const tfsdk_arg in[] = {KERAS_IMAGES};                                                    \
  static const tfsdk_attrdef param[] = {{"output_size", "list(int)", NULL,                         \
                                         "places of the output: one number, or one per axis", 0,   \
                                         0},                                                       \
                                        KERAS_FORMAT};                                             \
  static const tfsdk_layerdef layers[] = {{TFSDK_LAYER_HEAD(#name_, doc_), .param = param,         \
                                           .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1,     \
                                           .build = build}}

#endif
