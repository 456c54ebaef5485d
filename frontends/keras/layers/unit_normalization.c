/* unit_normalization: vectors divided by their length. */
#include "keras.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t axes[TFSDK_MAX_RANK];
  uint32_t n;
  TFSDK_TRY(keras_float_input(c, in[0], 1, -1, "batch, ...", &t));
  TFSDK_TRY(keras_axes(c, cfg, "axis", &t, axes, &n));
  tfsdk_val x = keras_cast(c, in[0], keras_wide(t.dtype));
  tfsdk_val sum = keras_reduce(c, "Sum", tfsdk_emit1(c, "Square", x), axes, n, 1);
  sum = tfsdk_emit2(c, "Maximum", sum, tfsdk_scalar_like(c, sum, 1e-24));
  out[0] = keras_cast(c, tfsdk_emit2(c, "Mul", x, tfsdk_emit1(c, "Rsqrt", sum)), t.dtype);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, ...]", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"axis", "list(int)", "[-1]", "along which the sum of squares becomes 1", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("unit_normalization", "`x / max(|x|, 1e-12)`, lengths along `axis`."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(unit_normalization, layers);
