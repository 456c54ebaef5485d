/* grouped_query_attention: several heads of queries share one of keys and values (Ainslie et al.
 * 2023). */
#include "attend.h"

#include <math.h>

/* Of [batch, steps, heads, d] the steps inside: [batch, heads, steps, d], and back. */
static tfsdk_val turn(tfsdk_ctx *c, tfsdk_val x) {
  int64_t perm[4] = {0, 2, 1, 3};
  return keras_transpose(c, x, perm, 4);
}

/* [batch, heads, T, last] with the heads of a group as further steps: [batch, groups, each * T,
 * last]; or back. */
static tfsdk_val regroup(tfsdk_ctx *c, tfsdk_val x, int64_t n, int64_t each, tfsdk_val query,
                         keras_dim last) {
  keras_dim dim[4] = {keras_dim_of(c, query, 0), keras_dim_is(n), keras_dim_of(c, query, 1), last};
  if (dim[2].d > 0) dim[2].d *= each;
  dim[2].times = each;
  return keras_reshape(c, x, 4, dim);
}

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t[3];
  int64_t d = tfsdk_attr_int(cfg, "head_dim"), h = tfsdk_attr_int(cfg, "num_query_heads");
  int64_t g = tfsdk_attr_int(cfg, "num_key_value_heads"), features;
  int64_t many[2] = {h, d}, few[2] = {g, d};
  int bias = tfsdk_attr_int(cfg, "use_bias") != 0;
  tfsdk_val key = in[2].id ? in[2] : in[1], q, k, v, gate = {0}, y;
  TFSDK_REQUIRE(c, h % g == 0,
                "'num_query_heads' (%lld) must be a multiple of 'num_key_value_heads' (%lld)",
                (long long)h, (long long)g);
  TFSDK_TRY(attend_inputs(c, in, t));
  TFSDK_TRY(keras_known_extent(c, &t[0], 2, &features));
  TFSDK_TRY(attend_project(c, "query", bias, in[0], 1, many, 2, &q));
  TFSDK_TRY(attend_project(c, "key", bias, key, 1, few, 2, &k));
  if (tfsdk_attr_int(cfg, "use_gate")) {
    TFSDK_TRY(attend_project(c, "gate", bias, in[0], 1, many, 2, &gate));
    gate = tfsdk_emit1(c, "Sigmoid", gate);
  }
  TFSDK_TRY(attend_project(c, "value", bias, in[1], 1, few, 2, &v));
  keras_dim steps = keras_dim_of(c, key, 1), width = keras_dim_is(d);
  q = keras_times(c, turn(c, q), 1 / sqrt((double)d));
  tfsdk_val pair[2] = {regroup(c, q, g, h / g, in[0], width), turn(c, k)};
  tfsdk_attrval turned = tfsdk_a_bool("adj_y", 1);
  tfsdk_val scores = tfsdk_emit(c, "BatchMatMulV2", pair, 2, &turned, 1);
  scores = regroup(c, scores, h, 1, in[0], steps);
  tfsdk_val mask = attend_mask(c, cfg, in);
  if (mask.id != 0) mask = keras_expand(c, mask, -3);
  tfsdk_val weights = attend_softmax(c, scores, mask);
  out[1] = attend_shown(c, weights, mask);
  TFSDK_TRY(attend_drop(c, cfg, in[7], &weights));
  y = tfsdk_emit2(c, "BatchMatMulV2", regroup(c, weights, g, h / g, in[0], steps), turn(c, v));
  y = turn(c, regroup(c, y, h, 1, in[0], width));
  if (gate.id != 0) y = tfsdk_emit2(c, "Mul", y, gate);
  return attend_project(c, "attention_output", bias, y, 2, &features, 1, &out[0]);
}

ATTEND_HEADS_IN;
ATTEND_OUT;
static const tfsdk_arg weight[] = {
    ATTEND_ROLES("query", "query heads, head_dim"), ATTEND_ROLES("key", "key heads, head_dim"),
    ATTEND_ROLES("gate", "query heads, head_dim"), ATTEND_ROLES("value", "key heads, head_dim"),
    ATTEND_ROLES("attention_output", "features of the query")};
static const tfsdk_attrdef param[] = {
    {"head_dim", "int", NULL, "features of a head", 1, 2147483647.0},
    {"num_query_heads", "int", NULL, "heads of queries", 1, 2147483647.0},
    {"num_key_value_heads", "int", NULL, "heads of keys and values", 1, 2147483647.0},
    ATTEND_DROPOUT,
    ATTEND_USE_BIAS,
    ATTEND_CAUSAL,
    ATTEND_WINDOW,
    ATTEND_GATE,
    KERAS_SEED,
    KERAS_TRAINING};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("grouped_query_attention",
                      "As multi_head_attention, with one head of keys and values for several of "
                      "queries."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = TFSDK_COUNT(in), .out = out,
     .n_out = 2, .weight = weight, .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(grouped_query_attention, layers);
