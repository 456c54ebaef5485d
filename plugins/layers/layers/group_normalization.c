/* group_normalization: groups of channels of each example (Wu and He 2018). */
#include "norm.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t channels, dim[TFSDK_MAX_RANK + 1], reduce[TFSDK_MAX_RANK], axes[TFSDK_MAX_RANK], one;
  int32_t from[TFSDK_MAX_RANK + 1];
  uint32_t n = 0, n_reduce;
  int64_t groups = tfsdk_attr_int(cfg, "groups"), axis = tfsdk_attr_int(cfg, "axis");
  TFSDK_TRY(layer_float_input(c, in[0], 2, TFSDK_MAX_RANK - 1, "batch, ..., channels", &t));
  int32_t rank = t.shape.rank;
  TFSDK_REQUIRE(c, axis >= -rank && axis < rank, "'axis' is %lld for an input of shape %s",
                (long long)axis, tfsdk_shape_text(&t.shape).s);
  if (axis < 0) axis += rank;
  TFSDK_TRY(layer_known_extent(c, &t, (int32_t)axis, &channels));
  if (groups == -1) groups = channels;
  TFSDK_REQUIRE(c, groups >= 1 && channels % groups == 0,
                "%lld groups do not divide the %lld channels", (long long)groups,
                (long long)channels);
  TFSDK_TRY(norm_axes(c, cfg, "reduction_axes", &t, reduce, &n_reduce));
  if (n_reduce == 0) /* all but batch and channels */
    for (int32_t i = 1; i < rank; i++)
      if (i != axis) reduce[n_reduce++] = i;
  /* the channels become two axes: group, and channel of the group */
  for (int32_t i = 0, k = 0; i < rank; i++) {
    from[k] = i;
    dim[k++] = i == axis ? groups : t.shape.dim[i];
    if (i != axis) continue;
    from[k] = i;
    dim[k++] = channels / groups;
  }
  for (uint32_t i = 0; i < n_reduce; i++) {
    TFSDK_REQUIRE(c, reduce[i] != axis, "'reduction_axes' has the channels' axis %lld",
                  (long long)axis);
    axes[n++] = reduce[i] < axis ? reduce[i] : reduce[i] + 1;
  }
  axes[n++] = axis + 1;
  tfsdk_val x = norm_wide(c, in[0], t.dtype);
  x = layer_reshape(c, x, (uint32_t)rank + 1, dim, in[0], from);
  tfsdk_val mean = layer_axes_op(c, "Mean", x, axes, n, 1);
  tfsdk_val variance =
      layer_axes_op(c, "Mean", tfsdk_emit2(c, "SquaredDifference", x, mean), axes, n, 1);
  tfsdk_val y = norm_apply(c, x, mean, variance, tfsdk_attr_float(cfg, "epsilon"));
  for (int32_t i = 0; i < rank; i++) {
    dim[i] = t.shape.dim[i];
    from[i] = i;
  }
  y = layer_reshape(c, y, (uint32_t)rank, dim, in[0], from);
  one = axis;
  TFSDK_TRY(norm_scale_shift(c, cfg, &t, &one, 1, &y));
  out[0] = norm_narrow(c, y, t.dtype);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, ..., channels]", 0, 0}};
static const tfsdk_arg weight[] = {{"beta", "trained", "[channels], with center", 0, 0},
                                   {"gamma", "trained", "[channels], with scale", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"groups", "int", "32", "parts of the channels; -1: each channel on its own", -1, 2147483647.0},
    {"axis", "int", "-1", "the channels'", 0, 0},
    {"epsilon", "float", "0.001", "added to the variance", 0, 1e30},
    {"center", "bool", "true", "adds beta", 0, 0},
    {"scale", "bool", "true", "multiplies with gamma", 0, 0},
    {"reduction_axes", "list(int)", "[]",
     "what mean and variance are taken over besides the channels of a group; empty: all but the "
     "batch",
     0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("group_normalization",
                      "Mean and variance of each example's groups of channels; with one channel a "
                      "group it is instance normalisation."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(group_normalization, layers);
