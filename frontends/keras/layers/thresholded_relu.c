/* thresholded_relu: x where it is above a threshold (Konda, Memisevic, Krueger 2014). */
#include "keras.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_val above = keras_above(c, in[0], tfsdk_attr_float(cfg, "theta"));
  out[0] = tfsdk_emit2(c, "Mul", in[0], above);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {KERAS_ANY};
static const tfsdk_attrdef param[] = {{"theta", "float", "1", "the threshold", 0, 1e38}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("thresholded_relu", "x where x > theta, else 0."), .param = param,
     .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(thresholded_relu, layers);
