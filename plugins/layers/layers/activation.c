/* activation: functions of a tensor by name. Formulas as in Keras 3 where TensorFlow 1 has none. */
#include "layers.h"

static const struct {
  const char *name, *op;
} ops[] = {{"relu", "Relu"},       {"relu6", "Relu6"},           {"elu", "Elu"},
           {"selu", "Selu"},       {"softplus", "Softplus"},     {"softsign", "Softsign"},
           {"tanh", "Tanh"},       {"sigmoid", "Sigmoid"},       {"exponential", "Exp"},
           {"softmax", "Softmax"}, {"log_softmax", "LogSoftmax"}};

static tfsdk_val times(tfsdk_ctx *c, tfsdk_val x, double k) {
  return tfsdk_emit2(c, "Mul", x, tfsdk_scalar_like(c, x, k));
}
static tfsdk_val plus(tfsdk_ctx *c, tfsdk_val x, double k) {
  return tfsdk_emit2(c, "AddV2", x, tfsdk_scalar_like(c, x, k));
}

/* relu6(x + 3) / 6 */
static tfsdk_val hard_sigmoid(tfsdk_ctx *c, tfsdk_val x) {
  return times(c, tfsdk_emit1(c, "Relu6", plus(c, x, 3)), 1.0 / 6.0);
}

static tfsdk_val leaky(tfsdk_ctx *c, tfsdk_val x, double alpha) {
  tfsdk_attrval a = tfsdk_a_float("alpha", alpha);
  return tfsdk_emit(c, "LeakyRelu", &x, 1, &a, 1);
}

tfsdk_val layer_activation(tfsdk_ctx *c, const char *name, tfsdk_val x) {
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
    if (strcmp(name, ops[i].name) == 0) return tfsdk_emit1(c, ops[i].op, x);
  if (strcmp(name, "linear") == 0 || *name == 0) return x;
  if (strcmp(name, "swish") == 0 || strcmp(name, "silu") == 0)
    return tfsdk_emit2(c, "Mul", x, tfsdk_emit1(c, "Sigmoid", x));
  if (strcmp(name, "hard_sigmoid") == 0) return hard_sigmoid(c, x);
  if (strcmp(name, "hard_silu") == 0 || strcmp(name, "hard_swish") == 0)
    return tfsdk_emit2(c, "Mul", x, hard_sigmoid(c, x));
  if (strcmp(name, "leaky_relu") == 0) return leaky(c, x, 0.2);
  if (strcmp(name, "gelu") == 0) { /* x Phi(x) */
    tfsdk_val phi = plus(c, tfsdk_emit1(c, "Erf", times(c, x, 0.70710678118654752)), 1);
    return tfsdk_emit2(c, "Mul", times(c, x, 0.5), phi);
  }
  if (strcmp(name, "log_sigmoid") == 0)
    return tfsdk_emit1(c, "Neg", tfsdk_emit1(c, "Softplus", tfsdk_emit1(c, "Neg", x)));
  if (strcmp(name, "mish") == 0)
    return tfsdk_emit2(c, "Mul", x, tfsdk_emit1(c, "Tanh", tfsdk_emit1(c, "Softplus", x)));
  if (strcmp(name, "tanh_shrink") == 0) return tfsdk_emit2(c, "Sub", x, tfsdk_emit1(c, "Tanh", x));
  if (strcmp(name, "hard_tanh") == 0)
    return tfsdk_emit3(c, "ClipByValue", x, tfsdk_scalar_like(c, x, -1),
                       tfsdk_scalar_like(c, x, 1));
  c->api->stick(c, TFSDK_FAIL(c, INVALID_ARGUMENT,
                              "there is no activation '%s'; there are linear, relu, relu6, elu, "
                              "selu, softplus, softsign, tanh, sigmoid, exponential, softmax, "
                              "log_softmax, swish (silu), hard_sigmoid, hard_silu, leaky_relu, "
                              "gelu, log_sigmoid, mish, tanh_shrink, hard_tanh",
                              name));
  return tfsdk_none();
}

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  out[0] = layer_activation(c, tfsdk_attr_string(cfg, "activation"), in[0]);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "any shape", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"activation", "string", NULL,
     "linear, relu, relu6, elu, selu, softplus, softsign, tanh, sigmoid, exponential, softmax, "
     "log_softmax, swish, hard_sigmoid, hard_silu, leaky_relu, gelu, ...",
     0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("activation", "A function of each element (softmax: of the last axis)."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(activation, layers);
