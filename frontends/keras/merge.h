/* Element-wise layers of several inputs. */
#ifndef TFSDK_KERAS_MERGE_H
#define TFSDK_KERAS_MERGE_H

#include "keras.h"

/* Folds the inputs with a binary op from the left. Inputs of fewer axes get axes of extent 1 behind
 * the batch; extents are equal or 1. */
tfsdk_status *merge_fold(tfsdk_ctx *c, const char *op, const tfsdk_val *in, size_t n_in,
                         tfsdk_val *out);

/* The record, whose `build` stands before it. */
#define MERGE_LAYERS(name_, doc_)                                                                  \
  static const tfsdk_arg in[] = {{"inputs", "tensor*", "of shapes that broadcast", 0, 0}};         \
  static const tfsdk_layerdef layers[] = {                                                         \
      {TFSDK_LAYER_HEAD(#name_, doc_), .in = in, .n_in = 1, .build = build}}

#endif
