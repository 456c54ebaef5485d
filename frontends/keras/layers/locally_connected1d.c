/* locally_connected1d: a convolution over steps with weights of its own at each place. */
#include "local.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return local_build(c, cfg, 1, in[0], &out[0]);
}

LOCAL_LAYERS(locally_connected1d);
TFSDK_UNIT_LAYERS(locally_connected1d, layers);
