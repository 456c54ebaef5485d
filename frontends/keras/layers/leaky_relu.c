/* leaky_relu: x, and below 0 a part of it (Maas, Hannun, Ng 2013). */
#include "keras.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_attrval alpha = tfsdk_a_float("alpha", tfsdk_attr_float(cfg, "negative_slope"));
  out[0] = tfsdk_emit(c, "LeakyRelu", in, 1, &alpha, 1);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {KERAS_ANY};
static const tfsdk_attrdef param[] = {
    {"negative_slope", "float", "0.3", "of what lies below 0", 0, 1e38}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("leaky_relu", "x, and `negative_slope x` below 0."), .param = param,
     .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(leaky_relu, layers);
