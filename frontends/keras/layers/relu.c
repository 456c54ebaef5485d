/* relu: the positive part, with a slope below, a threshold and a limit. */
#include "keras.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  double limit = tfsdk_attr_float(cfg, "max_value"),
         slope = tfsdk_attr_float(cfg, "negative_slope");
  double from = tfsdk_attr_float(cfg, "threshold");
  tfsdk_val x = in[0], y;
  if (slope != 0 && limit < 0 && from == 0) {
    tfsdk_attrval alpha = tfsdk_a_float("alpha", slope);
    out[0] = tfsdk_emit(c, "LeakyRelu", &x, 1, &alpha, 1);
    return tfsdk_ctx_error(c);
  }
  if (from != 0)
    y = tfsdk_emit3(c, "SelectV2", tfsdk_emit2(c, "Greater", x, tfsdk_scalar_like(c, x, from)), x,
                    tfsdk_scalar_like(c, x, 0));
  else
    y = tfsdk_emit1(c, limit == 6 ? "Relu6" : "Relu", x);
  if (limit >= 0 && (limit != 6 || from != 0))
    y = tfsdk_emit3(c, "ClipByValue", y, tfsdk_scalar_like(c, x, 0),
                    tfsdk_scalar_like(c, x, limit));
  if (slope != 0) { /* of what lies below the threshold */
    tfsdk_val below = tfsdk_emit2(c, "Sub", tfsdk_scalar_like(c, x, from), x);
    y = tfsdk_emit2(c, "Sub", y, keras_times(c, tfsdk_emit1(c, "Relu", below), slope));
  }
  out[0] = y;
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {KERAS_ANY};
static const tfsdk_attrdef param[] = {
    {"max_value", "float", "-1", "the most that comes out; -1: no limit", -1, 1e38},
    {"negative_slope", "float", "0", "of what lies below the threshold", 0, 1e38},
    {"threshold", "float", "0", "what lies below counts as negative", 0, 1e38}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("relu", "x from the threshold on, at most max_value; below it "
                              "`negative_slope (x - threshold)`."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(relu, layers);
