/* prelu: x, and below 0 a trained part of it (He et al. 2015). */
#include "keras.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t shared[TFSDK_MAX_RANK], dim[TFSDK_MAX_RANK];
  uint32_t n, k = 0;
  TFSDK_TRY(keras_float_input(c, in[0], 2, -1, "batch, ...", &t));
  TFSDK_TRY(keras_axes(c, cfg, "shared_axes", &t, shared, &n));
  for (int32_t i = 1; i < t.shape.rank; i++) {
    while (k < n && shared[k] < i) k++;
    if (k < n && shared[k] == i)
      dim[i - 1] = 1;
    else
      TFSDK_TRY(keras_known_extent(c, &t, i, &dim[i - 1]));
  }
  tfsdk_val alpha = tfsdk_weight(c, "alpha", t.dtype, (uint32_t)t.shape.rank - 1, dim, "zeros");
  tfsdk_val below = tfsdk_emit1(c, "Relu", tfsdk_emit1(c, "Neg", in[0]));
  out[0] =
      tfsdk_emit2(c, "Sub", tfsdk_emit1(c, "Relu", in[0]), tfsdk_emit2(c, "Mul", alpha, below));
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, ...]", 0, 0}};
static const tfsdk_arg weight[] = {
    {"alpha", "trained", "the input's extents without the batch, 1 along shared_axes", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"shared_axes", "list(int)", "[]", "along which one slope serves all", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("prelu", "x, and `alpha x` below 0, with a trained alpha for each feature."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(prelu, layers);
