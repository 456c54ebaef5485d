/* up_sampling2d: images of more pixels. */
#include "upsample.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  if (strcmp(tfsdk_attr_string(cfg, "interpolation"), "nearest") == 0)
    return upsample_repeat(c, cfg, 2, in[0], &out[0]);
  return upsample_smooth(c, cfg, in[0], &out[0]);
}

static const tfsdk_arg in[] = {KERAS_IMAGES};
static const tfsdk_attrdef param[] = {
    UPSAMPLE_SIZE,
    KERAS_FORMAT,
    {"interpolation", "string{nearest,bilinear,bicubic,lanczos3,lanczos5}", "nearest",
     "what new pixels are made of: all but the first two need a known height and width", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("up_sampling2d", "Images with `size` times the rows and columns."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(up_sampling2d, layers);
