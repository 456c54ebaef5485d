/* max_pooling3d: the maximum of each window. */
#include "pool.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return pool_build(c, cfg, 3, "MaxPool3D", in[0], &out[0]);
}

POOL_LAYERS(max_pooling3d, "The maximum of each window.");
TFSDK_UNIT_LAYERS(max_pooling3d, layers);
