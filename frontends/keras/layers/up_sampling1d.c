/* up_sampling1d: each step several times. */
#include "upsample.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return upsample_repeat(c, cfg, 1, in[0], &out[0]);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, steps, channels]", 0, 0}};
static const tfsdk_attrdef param[] = {UPSAMPLE_SIZE};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("up_sampling1d", "Each step `size` times."), .param = param,
     .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(up_sampling1d, layers);
