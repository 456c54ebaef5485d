/* conv3d_transpose: activation(transposed convolution + bias). */
#include "transpose.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return transpose_build(c, cfg, 3, in[0], &out[0]);
}

TRANSPOSE_LAYERS(conv3d_transpose);
TFSDK_UNIT_LAYERS(conv3d_transpose, layers);
