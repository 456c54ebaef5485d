/* additive_attention: means of values, weighed by sums of query and key (Bahdanau et al. 2014). */
#include "attend.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t[3];
  int64_t last = -1, features;
  TFSDK_TRY(attend_inputs(c, in, t));
  TFSDK_TRY(keras_known_extent(c, &t[0], 2, &features));
  tfsdk_val key = in[2].id ? in[2] : in[1];
  tfsdk_val sum = tfsdk_emit2(c, "AddV2", keras_expand(c, in[0], 2), keras_expand(c, key, 1));
  sum = tfsdk_emit1(c, "Tanh", sum);
  if (tfsdk_attr_int(cfg, "use_scale"))
    sum = tfsdk_emit2(c, "Mul", sum, tfsdk_weight(c, "scale", t[0].dtype, 1, &features, NULL));
  return attend_one_head(c, cfg, in, keras_reduce(c, "Sum", sum, &last, 1, 0), out);
}

ATTEND_ONE_HEAD_IN;
ATTEND_OUT;
static const tfsdk_arg weight[] = {{"scale", "trained", "[features], with use_scale", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"use_scale", "bool", "true", "a trained weight for each feature", 0, 0},
    ATTEND_DROPOUT,
    ATTEND_CAUSAL,
    KERAS_SEED,
    KERAS_TRAINING};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("additive_attention",
                      "`softmax(sum of scale tanh(query + key)) value`: for each query the mean of "
                      "the values, weighed by how well their keys fit."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = TFSDK_COUNT(in), .out = out,
     .n_out = 2, .weight = weight, .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(additive_attention, layers);
