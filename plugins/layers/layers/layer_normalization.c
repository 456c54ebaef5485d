/* layer_normalization: each example by its own mean and variance (Ba, Kiros, Hinton 2016). */
#include "norm.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t axes[TFSDK_MAX_RANK], params[TFSDK_MAX_RANK];
  uint32_t n, n_params;
  TFSDK_TRY(layer_float_input(c, in[0], 1, -1, "batch, ...", &t));
  TFSDK_TRY(norm_axes(c, cfg, "axis", &t, axes, &n));
  TFSDK_TRY(norm_axes(c, cfg, "params_axis", &t, params, &n_params));
  if (n_params == 0) {
    memcpy(params, axes, sizeof axes);
    n_params = n;
  }
  tfsdk_val x = norm_wide(c, in[0], t.dtype);
  tfsdk_val mean = layer_axes_op(c, "Mean", x, axes, n, 1);
  tfsdk_val variance =
      layer_axes_op(c, "Mean", tfsdk_emit2(c, "SquaredDifference", x, mean), axes, n, 1);
  tfsdk_val y = norm_apply(c, x, mean, variance, tfsdk_attr_float(cfg, "epsilon"));
  TFSDK_TRY(norm_scale_shift(c, cfg, &t, params, n_params, &y));
  out[0] = norm_narrow(c, y, t.dtype);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, ...]", 0, 0}};
static const tfsdk_arg weight[] = {
    {"beta", "trained", "the extents along params_axis, with center", 0, 0},
    {"gamma", "trained", "the extents along params_axis, with scale", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"axis", "list(int)", "[-1]", "what mean and variance are taken over", 0, 0},
    {"epsilon", "float", "0.001", "added to the variance", 0, 1e30},
    {"center", "bool", "true", "adds beta", 0, 0},
    {"scale", "bool", "true", "multiplies with gamma", 0, 0},
    {"params_axis", "list(int)", "[]", "the axes of beta and gamma; empty: as axis", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD(
         "layer_normalization",
         "`gamma (x - mean) / sqrt(variance + epsilon) + beta`, mean and variance of each "
         "example over `axis`."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(layer_normalization, layers);
