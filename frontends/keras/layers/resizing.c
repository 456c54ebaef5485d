/* resizing: images of another height and width. */
#include "upsample.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return upsample_to(c, cfg, in[0], &out[0]);
}

static const tfsdk_arg in[] = {KERAS_IMAGES};
static const tfsdk_attrdef param[] = {
    {"height", "int", NULL, "the new number of rows", 1, 2147483647.0},
    {"width", "int", NULL, "the new number of columns", 1, 2147483647.0},
    {"interpolation", "string{nearest,bilinear,bicubic,lanczos3,lanczos5}", "bilinear",
     "what new pixels are made of: all but the first two need a known height and width", 0, 0},
    {"antialias", "bool", "false", "a wider kernel when the image becomes smaller", 0, 0},
    KERAS_FORMAT};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("resizing", "Images of `height` rows and `width` columns."), .param = param,
     .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(resizing, layers);
