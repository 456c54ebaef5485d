/* bias_add: adds a trained vector along the channels. */
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int first = strcmp(tfsdk_attr_string(cfg, "data_format"), "channels_first") == 0;
  TFSDK_TRY(c->api->type(c, in[0], &t));
  TFSDK_REQUIRE(c, t.shape.rank >= 2, "the input must have rank 2 or more; its shape is %s",
                tfsdk_shape_text(&t.shape).s);
  int64_t channels = t.shape.dim[first ? 1 : t.shape.rank - 1];
  TFSDK_REQUIRE(c, channels > 0, "the number of channels must be known; the input's shape is %s",
                tfsdk_shape_text(&t.shape).s);
  tfsdk_val arg[2] = {in[0], tfsdk_weight(c, "bias", t.dtype, 1, &channels, "zeros")};
  tfsdk_attrval format = tfsdk_a_string("data_format", first ? "NCHW" : "NHWC");
  out[0] = tfsdk_emit(c, "BiasAdd", arg, 2, &format, 1);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, ..., channels]", 0, 0}};
static const tfsdk_arg weight[] = {{"bias", "trained", "[channels]", 0, 0}};
static const tfsdk_attrdef param[] = {{"data_format", "string{channels_last,channels_first}",
                                       "channels_last", "where the channels are", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("bias_add", "Adds a trained vector along the channels."), .param = param,
     .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(bias_add, layers);
