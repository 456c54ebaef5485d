/* repeat_vector: each example n times, as steps. */
#include "keras.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t times[3] = {1, tfsdk_attr_int(cfg, "n"), 1};
  TFSDK_TRY(keras_input(c, in[0], 2, 2, "batch, features", &t));
  out[0] = tfsdk_emit2(c, "Tile", keras_expand(c, in[0], 1), tfsdk_int_vector(c, times, 3));
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, features]", 0, 0}};
static const tfsdk_attrdef param[] = {{"n", "int", NULL, "the number of steps", 1, 2147483647.0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("repeat_vector", "[batch, n, features]: each example n times."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(repeat_vector, layers);
