/* global_max_pooling1d: the maximum of each channel. */
#include "pool.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return pool_global(c, cfg, 1, "Max", in[0], tfsdk_none(), &out[0]);
}

POOL_GLOBAL_LAYERS(global_max_pooling1d, "The maximum of each channel over the steps.",
                   KERAS_IMAGES);
TFSDK_UNIT_LAYERS(global_max_pooling1d, layers);
