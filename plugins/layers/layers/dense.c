/* dense: activation(x kernel + bias) on the last axis. */
#include "layers.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape x;
  int64_t dim[TFSDK_MAX_RANK], kernel[2];
  int32_t axis[TFSDK_MAX_RANK];
  TFSDK_TRY(layer_float_input(c, in[0], 2, -1, "batch, ..., features", &x));
  int32_t rank = x.shape.rank;
  TFSDK_TRY(layer_known_extent(c, &x, rank - 1, &kernel[0]));
  kernel[1] = tfsdk_attr_int(cfg, "units");
  tfsdk_val w = tfsdk_weight(c, "kernel", x.dtype, 2, kernel, NULL), y = in[0];
  if (rank > 2) {
    dim[0] = -1;
    dim[1] = kernel[0];
    y = tfsdk_emit2(c, "Reshape", y, tfsdk_int_vector(c, dim, 2));
  }
  y = tfsdk_emit2(c, "MatMul", y, w);
  if (rank > 2) {
    for (int32_t i = 0; i < rank; i++) {
      dim[i] = i + 1 < rank ? x.shape.dim[i] : kernel[1];
      axis[i] = i;
    }
    y = layer_reshape(c, y, (uint32_t)rank, dim, in[0], axis);
  }
  out[0] = layer_finish(c, cfg, y, x.dtype, kernel[1], 0);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, ..., features]", 0, 0}};
static const tfsdk_arg weight[] = {{"kernel", "trained", "[features, units]", 0, 0},
                                   {"bias", "trained", "[units], with use_bias", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"units", "int", NULL, "the number of outputs", 1, 2147483647.0},
    LAYER_ACTIVATION,
    LAYER_USE_BIAS};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("dense", "`activation(inputs kernel + bias)` on the last axis."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(dense, layers);
