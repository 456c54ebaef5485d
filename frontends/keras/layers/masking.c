/* masking: steps of which every feature has one value are left out. */
#include "keras.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t last = -1;
  TFSDK_TRY(keras_input(c, in[0], 2, -1, "batch, ..., features", &t));
  tfsdk_val value = tfsdk_scalar(c, t.dtype, tfsdk_attr_float(cfg, "mask_value"));
  tfsdk_val differs = tfsdk_emit2(c, "NotEqual", in[0], value);
  tfsdk_val keep = keras_reduce(c, "Any", differs, &last, 1, 1);
  out[0] = tfsdk_emit3(c, "SelectV2", keep, in[0], tfsdk_scalar(c, t.dtype, 0));
  out[1] = keras_reduce(c, "Any", differs, &last, 1, 0);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, ..., features]", 0, 0}};
static const tfsdk_arg out[] = {
    {"outputs", "tensor", "as the input, zeros in steps left out", 0, 0},
    {"mask", "tensor", "which steps are there, of booleans", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"mask_value", "float", "0", "a step whose features all have it is left out", -1e38, 1e38}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("masking", "Tells which steps have a feature that is not `mask_value`, and "
                                 "makes the others zero."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .out = out, .n_out = 2,
     .build = build}};
TFSDK_UNIT_LAYERS(masking, layers);
