/* up_sampling3d: volumes of more elements. */
#include "upsample.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return upsample_repeat(c, cfg, 3, in[0], &out[0]);
}

static const tfsdk_arg in[] = {KERAS_IMAGES};
static const tfsdk_attrdef param[] = {UPSAMPLE_SIZE, KERAS_FORMAT};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("up_sampling3d", "Each element `size` times along each axis."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(up_sampling3d, layers);
