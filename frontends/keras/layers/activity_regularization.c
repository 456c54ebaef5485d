/* activity_regularization: its input, and a penalty for its size. */
#include "keras.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t axes[TFSDK_MAX_RANK];
  double l1 = tfsdk_attr_float(cfg, "l1"), l2 = tfsdk_attr_float(cfg, "l2");
  tfsdk_val a = {0}, b = {0};
  TFSDK_TRY(keras_float_input(c, in[0], 1, -1, "batch, ...", &t));
  for (int32_t i = 0; i < t.shape.rank; i++) axes[i] = i;
  uint32_t n = (uint32_t)t.shape.rank;
  out[0] = in[0];
  if (l1 == 0 && l2 == 0) return NULL;
  if (l1 != 0)
    a = keras_times(c, keras_reduce(c, "Sum", tfsdk_emit1(c, "Abs", in[0]), axes, n, 0), l1);
  if (l2 != 0)
    b = keras_times(c, keras_reduce(c, "Sum", tfsdk_emit1(c, "Square", in[0]), axes, n, 0), l2);
  tfsdk_val sum = l1 == 0 ? b : l2 == 0 ? a : tfsdk_emit2(c, "AddV2", a, b);
  tfsdk_val batch = keras_cast(c, keras_extent(c, in[0], 0), t.dtype);
  tfsdk_effect(c, TFSDK_BUCKET_LOSSES, tfsdk_emit2(c, "RealDiv", sum, batch));
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, ...]", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"l1", "float", "0", "the weight of the sum of absolute values", 0, 1e38},
    {"l2", "float", "0", "the weight of the sum of squares", 0, 1e38}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("activity_regularization",
                      "The input as it is; `(l1 sum |x| + l2 sum x^2) / batch` is a loss."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(activity_regularization, layers);
