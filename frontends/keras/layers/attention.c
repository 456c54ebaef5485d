/* attention: means of values, weighed by products of query and key (Luong et al. 2015). */
#include "attend.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t[3];
  int64_t last = -1;
  int scaled = tfsdk_attr_int(cfg, "use_scale") != 0;
  TFSDK_TRY(attend_inputs(c, in, t));
  tfsdk_val key = in[2].id ? in[2] : in[1], scores, scale = {0};
  if (scaled) scale = tfsdk_weight(c, "scale", t[0].dtype, 0, NULL, "ones");
  if (strcmp(tfsdk_attr_string(cfg, "score_mode"), "dot") == 0) {
    tfsdk_val pair[2] = {in[0], key};
    tfsdk_attrval turned = tfsdk_a_bool("adj_y", 1);
    scores = tfsdk_emit(c, "BatchMatMulV2", pair, 2, &turned, 1);
    if (scaled) scores = tfsdk_emit2(c, "Mul", scores, scale);
  } else {
    tfsdk_val weight = tfsdk_weight(c, "concat_score_weight", t[0].dtype, 0, NULL, "ones");
    scores = tfsdk_emit2(c, "AddV2", keras_expand(c, in[0], 2), keras_expand(c, key, 1));
    if (scaled) scores = tfsdk_emit2(c, "Mul", scores, scale);
    scores = keras_reduce(c, "Sum", tfsdk_emit1(c, "Tanh", scores), &last, 1, 0);
    scores = tfsdk_emit2(c, "Mul", scores, weight);
  }
  return attend_one_head(c, cfg, in, scores, out);
}

ATTEND_ONE_HEAD_IN;
ATTEND_OUT;
static const tfsdk_arg weight[] = {
    {"scale", "trained", "a scalar, with use_scale", 0, 0},
    {"concat_score_weight", "trained", "a scalar, with score_mode concat", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"use_scale", "bool", "false", "a trained factor of the scores", 0, 0},
    {"score_mode", "string{dot,concat}", "dot",
     "dot: query times key; concat: the sum of tanh(query + key)", 0, 0},
    ATTEND_DROPOUT,
    ATTEND_CAUSAL,
    KERAS_SEED,
    KERAS_TRAINING};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("attention", "`softmax(query key) value`: for each query the mean of the "
                                   "values, weighed by how well their keys fit."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = TFSDK_COUNT(in), .out = out,
     .n_out = 2, .weight = weight, .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(attention, layers);
