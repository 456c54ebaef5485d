/* spatial_dropout3d: whole channels become 0 in training (Tompson et al. 2014). */
#include "noise.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return noise_spatial(c, cfg, 3, in, &out[0]);
}

NOISE_LAYERS(spatial_dropout3d,
             "In training whole channels become 0, the others are divided by 1 - rate.",
             NOISE_RATE("the chance of a channel to become 0"), KERAS_FORMAT);
TFSDK_UNIT_LAYERS(spatial_dropout3d, layers);
