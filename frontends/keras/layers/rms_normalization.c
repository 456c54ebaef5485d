/* rms_normalization: by the root of the mean square (Zhang and Sennrich 2019). */
#include "keras.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t axes[TFSDK_MAX_RANK], dim[TFSDK_MAX_RANK], wide[TFSDK_MAX_RANK];
  uint32_t n;
  TFSDK_TRY(keras_float_input(c, in[0], 1, -1, "batch, ...", &t));
  TFSDK_TRY(keras_axes(c, cfg, "axis", &t, axes, &n));
  int32_t dtype = keras_wide(t.dtype);
  for (int32_t i = 0; i < t.shape.rank; i++) wide[i] = 1;
  for (uint32_t i = 0; i < n; i++) {
    TFSDK_TRY(keras_known_extent(c, &t, (int32_t)axes[i], &dim[i]));
    wide[axes[i]] = dim[i];
  }
  tfsdk_val x = keras_cast(c, in[0], dtype);
  tfsdk_val mean = keras_reduce(c, "Mean", tfsdk_emit1(c, "Square", x), axes, n, 1);
  mean = keras_plus(c, mean, tfsdk_attr_float(cfg, "epsilon"));
  tfsdk_val y = tfsdk_emit2(c, "Mul", x, tfsdk_emit1(c, "Rsqrt", mean));
  tfsdk_val scale = tfsdk_weight(c, "scale", dtype, n, dim, "ones");
  if (n != 1 || axes[0] != t.shape.rank - 1)
    scale = tfsdk_emit2(c, "Reshape", scale, tfsdk_int_vector(c, wide, (uint32_t)t.shape.rank));
  out[0] = keras_cast(c, tfsdk_emit2(c, "Mul", y, scale), t.dtype);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, ...]", 0, 0}};
static const tfsdk_arg weight[] = {{"scale", "trained", "the extents along axis", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"axis", "list(int)", "[-1]", "what the mean is taken over", 0, 0},
    {"epsilon", "float", "1e-6", "added to the mean square", 0, 1e30}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("rms_normalization", "`scale x / sqrt(mean of x^2 over axis + epsilon)`."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(rms_normalization, layers);
