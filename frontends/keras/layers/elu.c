/* elu: x, and below 0 an exponential that ends at -alpha (Clevert, Unterthiner, Hochreiter 2015). */
#include "keras.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  double alpha = tfsdk_attr_float(cfg, "alpha");
  tfsdk_val y = tfsdk_emit1(c, "Elu", in[0]);
  if (alpha != 1) {
    tfsdk_val above = tfsdk_emit2(c, "Greater", in[0], tfsdk_scalar_like(c, in[0], 0));
    y = tfsdk_emit3(c, "SelectV2", above, y, keras_times(c, y, alpha));
  }
  out[0] = y;
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {KERAS_ANY};
static const tfsdk_attrdef param[] = {
    {"alpha", "float", "1", "how far below 0 it comes", -1e38, 1e38}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("elu", "x, and `alpha (exp(x) - 1)` below 0."), .param = param,
     .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(elu, layers);
