/* What the attention layers share: scores to weights of values. */
#ifndef TFSDK_KERAS_ATTEND_H
#define TFSDK_KERAS_ATTEND_H

#include "keras.h"

/* Booleans [1, T, S] that a query at step t may look at step s: s <= t if `causal`,
 * |t - s| < window if that is above 0. None if neither. */
tfsdk_val attend_band(tfsdk_ctx *c, tfsdk_val query, tfsdk_val key, int causal, int64_t window);
/* a and b, of which either may be none. */
tfsdk_val attend_both(tfsdk_ctx *c, tfsdk_val a, tfsdk_val b);
/* Dropout of weights, as the parameters `dropout`, `seed`, `training` say. */
tfsdk_status *attend_drop(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val training,
                          tfsdk_val *io_weights);
/* Attention with one head: in is query, value, key, query_mask, value_mask, training. Scores are
 * [batch, T, S]. Writes the outputs and the weights. */
tfsdk_status *attend_one_head(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in,
                              tfsdk_val scores, tfsdk_val *out);
/* Types and shapes of [batch, steps, features] each. */
tfsdk_status *attend_inputs(tfsdk_ctx *c, const tfsdk_val *in, tfsdk_typed_shape t[3]);
/* x kernel + bias, of the weights ROLE/kernel [features, inner...] and ROLE/bias [inner...]. `bound`
 * of x's last axes are summed over. */
tfsdk_status *attend_project(tfsdk_ctx *c, const char *role, int use_bias, tfsdk_val x,
                             uint32_t bound, const int64_t *inner, uint32_t n_inner,
                             tfsdk_val *out);

/* Who may look at whom, [batch or 1, T, S], of in = query, value, key, query_mask, value_mask,
 * key_mask, attention_mask; none if all may. */
tfsdk_val attend_mask(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in);
/* Softmax of scores along their last axis, in float32 at least, where `mask` (or none) is true. */
tfsdk_val attend_softmax(tfsdk_ctx *c, tfsdk_val scores, tfsdk_val mask);
/* What scores has 0 in for the caller where `mask` is false. */
tfsdk_val attend_shown(tfsdk_ctx *c, tfsdk_val weights, tfsdk_val mask);

#define ATTEND_DROPOUT                                                                             \
  { "dropout", "float", "0", "the chance of a weight to become 0 in training", 0, 1 }
#define ATTEND_CAUSAL                                                                              \
  { "use_causal_mask", "bool", "false", "no step looks at later ones", 0, 0 }
#define ATTEND_USE_BIAS                                                                            \
  { "use_bias", "bool", "true", "projections have a bias", 0, 0 }
#define ATTEND_GATE                                                                                \
  { "use_gate", "bool", "false", "each head's result times a sigmoid of a projected query", 0, 0 }
#define ATTEND_WINDOW                                                                              \
  {                                                                                                \
    "sliding_window", "int", "0", "steps of this distance or more do not see each other; 0: all",  \
        0, 2147483647.0                                                                            \
  }
#define ATTEND_OUT                                                                                 \
  static const tfsdk_arg out[] = {{"outputs", "tensor", "[batch, T, ...]", 0, 0},                  \
                                  {"scores", "tensor", "weights of the values", 0, 0}}
#define ATTEND_HEADS_IN                                                                            \
  static const tfsdk_arg in[] = {                                                                  \
      {"query", "tensor", "[batch, T, features]", 0, 0},                                           \
      {"value", "tensor", "[batch, S, values]", 0, 0},                                             \
      {"key", "tensor?", "[batch, S, keys]; as value by default", 0, 0},                           \
      {"query_mask", "tensor?", "[batch, T] of booleans", 0, 0},                                   \
      {"value_mask", "tensor?", "[batch, S] of booleans: which values count", 0, 0},               \
      {"key_mask", "tensor?", "[batch, S] of booleans: likewise", 0, 0},                           \
      {"attention_mask", "tensor?", "[batch, T, S] of booleans: who may look at whom", 0, 0},      \
      KERAS_TRAINING_INPUT}
#define ATTEND_ROLES(name_, inner_)                                                                \
  {name_ "/kernel", "trained", "[features, " inner_ "]", 0, 0}, {                                  \
    name_ "/bias", "trained", "[" inner_ "], with use_bias", 0, 0                                  \
  }
#define ATTEND_ONE_HEAD_IN                                                                         \
  static const tfsdk_arg in[] = {                                                                  \
      {"query", "tensor", "[batch, T, features]", 0, 0},                                           \
      {"value", "tensor", "[batch, S, values]", 0, 0},                                             \
      {"key", "tensor?", "[batch, S, features]; as value by default", 0, 0},                       \
      {"query_mask", "tensor?", "[batch, T] of booleans: outputs elsewhere are 0", 0, 0},          \
      {"value_mask", "tensor?", "[batch, S] of booleans: which values count", 0, 0},               \
      KERAS_TRAINING_INPUT}

#endif
