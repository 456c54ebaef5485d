/* Random numbers of a value's shape, for layers that act in training only. */
#ifndef TFSDK_KERAS_NOISE_H
#define TFSDK_KERAS_NOISE_H

#include "keras.h"

/* `op` is RandomStandardNormal or RandomUniform. `shape`: n extents, -1 for x's own; n = 0: all are. */
tfsdk_val noise_like(tfsdk_ctx *c, const tfsdk_attrs *cfg, const char *op, tfsdk_val x,
                     const int64_t *shape, uint32_t n);
/* Dropout with one draw for all elements of a channel. */
tfsdk_status *noise_spatial(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, const tfsdk_val *in,
                            tfsdk_val *out);

#define NOISE_RATE(doc_)                                                                           \
  { "rate", "float", NULL, doc_, 0, 1 }
/* The records, whose `build` stands before them. */
#define NOISE_LAYERS(name_, doc_, ...)                                                             \
  static const tfsdk_arg in[] = {KERAS_ANY, KERAS_TRAINING_INPUT};                                 \
  static const tfsdk_attrdef param[] = {__VA_ARGS__, KERAS_SEED, KERAS_TRAINING};                  \
  static const tfsdk_layerdef layers[] = {{TFSDK_LAYER_HEAD(#name_, doc_), .param = param,         \
                                           .n_param = TFSDK_COUNT(param), .in = in, .n_in = 2,     \
                                           .build = build}}

#endif
