/* max_pooling1d: the maximum of each window. */
#include "pool.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return pool_build(c, cfg, 1, "MaxPool", in[0], &out[0]);
}

POOL_LAYERS(max_pooling1d, "The maximum of each window.");
TFSDK_UNIT_LAYERS(max_pooling1d, layers);
