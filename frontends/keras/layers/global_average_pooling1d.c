/* global_average_pooling1d: the mean of each channel. */
#include "pool.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return pool_global(c, cfg, 1, "Mean", in[0], in[1], &out[0]);
}

POOL_GLOBAL_LAYERS(global_average_pooling1d,
                   "The mean of each channel over the steps that are there.", KERAS_IMAGES,
                   {"mask", "tensor?", "[batch, steps] of booleans: which steps are there", 0, 0});
TFSDK_UNIT_LAYERS(global_average_pooling1d, layers);
