/* locally_connected2d: a convolution over images with weights of its own at each place. */
#include "local.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return local_build(c, cfg, 2, in[0], &out[0]);
}

LOCAL_LAYERS(locally_connected2d);
TFSDK_UNIT_LAYERS(locally_connected2d, layers);
