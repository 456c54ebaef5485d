/* global_average_pooling3d: the mean of each channel. */
#include "pool.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return pool_global(c, cfg, 3, "Mean", in[0], tfsdk_none(), &out[0]);
}

POOL_GLOBAL_LAYERS(global_average_pooling3d,
                   "The mean of each channel over depth, rows and columns.", KERAS_IMAGES);
TFSDK_UNIT_LAYERS(global_average_pooling3d, layers);
