/* batch_normalization: y = gamma (x - mean) / sqrt(variance + epsilon) + beta for each channel, with
 * the batch's mean and variance in training and moving averages of them else (Ioffe and Szegedy
 * 2015). The moving averages are updates: run by training steps in a graph, done at once else. */
#include "norm.h"

typedef struct norm {
  tfsdk_val x, gamma, beta, mean, variance, mean_handle, variance_handle;
  int32_t rank, axis;
  int64_t channels;
  double epsilon;
} norm;

/* A vector of channels as x can be multiplied with. */
static tfsdk_val along(tfsdk_ctx *c, const norm *b, tfsdk_val v) {
  int64_t dim[TFSDK_MAX_RANK];
  if (b->axis == b->rank - 1) return v;
  for (int32_t i = 0; i < b->rank; i++) dim[i] = i == b->axis ? b->channels : 1;
  return tfsdk_emit2(c, "Reshape", v, tfsdk_int_vector(c, dim, (uint32_t)b->rank));
}

/* x inv + (beta - mean inv), inv = gamma / sqrt(variance + epsilon) */
static tfsdk_val normalize(tfsdk_ctx *c, const norm *b, tfsdk_val mean, tfsdk_val variance) {
  tfsdk_val inv = tfsdk_emit1(
      c, "Rsqrt", tfsdk_emit2(c, "AddV2", variance, tfsdk_scalar_like(c, variance, b->epsilon)));
  if (b->gamma.id) inv = tfsdk_emit2(c, "Mul", inv, b->gamma);
  tfsdk_val shift = tfsdk_emit2(c, "Mul", mean, inv);
  shift = b->beta.id ? tfsdk_emit2(c, "Sub", b->beta, shift) : tfsdk_emit1(c, "Neg", shift);
  return tfsdk_emit2(c, "AddV2", tfsdk_emit2(c, "Mul", b->x, along(c, b, inv)), along(c, b, shift));
}

/* Mean and population variance over all axes but the channels'; with a mask, of what it leaves. */
static tfsdk_status *moments(tfsdk_ctx *c, const norm *b, tfsdk_val mask, tfsdk_val *mean,
                             tfsdk_val *variance, tfsdk_val *count) {
  int64_t axes[TFSDK_MAX_RANK];
  uint32_t n = 0;
  tfsdk_val x = b->x;
  for (int32_t i = 0; i < b->rank; i++)
    if (i != b->axis) axes[n++] = i;
  tfsdk_typed_shape t = tfsdk_type(c, x);
  if (mask.id == 0) {
    *mean = layer_axes_op(c, "Mean", x, axes, n, 0);
    *variance = layer_axes_op(c, "Mean", tfsdk_emit2(c, "SquaredDifference", x, along(c, b, *mean)),
                              axes, n, 0);
    tfsdk_val parts[TFSDK_MAX_RANK];
    for (uint32_t i = 0; i < n; i++) parts[i] = layer_extent(c, x, (int32_t)axes[i]);
    *count = n > 0 ? parts[0] : tfsdk_int_scalar(c, 1);
    for (uint32_t i = 1; i < n; i++) *count = tfsdk_emit2(c, "Mul", *count, parts[i]);
    tfsdk_attrval to = tfsdk_a_dtype("DstT", t.dtype);
    *count = tfsdk_emit(c, "Cast", count, 1, &to, 1);
    return NULL;
  }
  tfsdk_typed_shape m = tfsdk_type(c, mask);
  TFSDK_REQUIRE(c, m.shape.rank >= 1 && m.shape.rank < b->rank,
                "the mask of shape %s does not fit an input of shape %s",
                tfsdk_shape_text(&m.shape).s, tfsdk_shape_text(&t.shape).s);
  tfsdk_attrval to = tfsdk_a_dtype("DstT", t.dtype);
  tfsdk_val w = tfsdk_emit(c, "Cast", &mask, 1, &to, 1);
  for (int32_t i = m.shape.rank; i < b->rank; i++) w = layer_expand(c, w, i);
  w = tfsdk_emit2(c, "Mul", w, tfsdk_emit1(c, "OnesLike", x));
  *count = layer_axes_op(c, "Sum", w, axes, n, 0);
  *mean = tfsdk_emit2(c, "RealDiv",
                      layer_axes_op(c, "Sum", tfsdk_emit2(c, "Mul", w, x), axes, n, 0), *count);
  tfsdk_val square = tfsdk_emit2(c, "SquaredDifference", x, along(c, b, *mean));
  *variance = tfsdk_emit2(
      c, "RealDiv", layer_axes_op(c, "Sum", tfsdk_emit2(c, "Mul", w, square), axes, n, 0), *count);
  return NULL;
}

/* moving -= (moving - batch) (1 - momentum); only where the flag says so */
static void update(tfsdk_ctx *c, tfsdk_val handle, tfsdk_val moving, tfsdk_val batch,
                   double momentum, tfsdk_val flag) {
  tfsdk_val step = tfsdk_emit2(c, "Sub", moving, batch), in[2], done = {0};
  step = tfsdk_emit2(c, "Mul", step, tfsdk_scalar_like(c, moving, 1 - momentum));
  if (flag.id) step = layer_select(c, flag, step, tfsdk_emit1(c, "ZerosLike", step));
  in[0] = handle;
  in[1] = step;
  tfsdk_emit_n(c, "AssignSubVariableOp", in, 2, NULL, 0, &done, 1);
  tfsdk_effect(c, TFSDK_BUCKET_UPDATES, done);
}

/* The same without what the start at zero weighs: moving = biased / (1 - momentum^steps), biased and
 * steps being weights of their own (Kingma and Ba 2014, section 3). */
static void update_debiased(tfsdk_ctx *c, const norm *b, tfsdk_val batch, double momentum,
                            tfsdk_val flag) {
  int32_t dtype = tfsdk_type(c, b->mean).dtype;
  tfsdk_val biased_handle, steps_handle, in[2], done[3] = {{0}, {0}, {0}};
  tfsdk_val biased =
      tfsdk_state(c, "moving_mean/biased", dtype, 1, &b->channels, "zeros", &biased_handle);
  tfsdk_val steps =
      tfsdk_state(c, "moving_mean/local_step", dtype, 0, NULL, "zeros", &steps_handle);
  tfsdk_val away = tfsdk_emit2(c, "Mul", tfsdk_emit2(c, "Sub", biased, batch),
                               tfsdk_scalar(c, dtype, 1 - momentum));
  tfsdk_val new_biased = tfsdk_emit2(c, "Sub", biased, away);
  tfsdk_val new_steps = tfsdk_emit2(c, "AddV2", steps, tfsdk_scalar(c, dtype, 1));
  tfsdk_val weight =
      tfsdk_emit2(c, "Sub", tfsdk_scalar(c, dtype, 1),
                  tfsdk_emit2(c, "Pow", tfsdk_scalar(c, dtype, momentum), new_steps));
  tfsdk_val to[3] = {new_biased, new_steps, tfsdk_emit2(c, "RealDiv", new_biased, weight)};
  tfsdk_val old[3] = {biased, steps, b->mean};
  tfsdk_val handle[3] = {biased_handle, steps_handle, b->mean_handle};
  for (int i = 0; i < 3; i++) {
    in[0] = handle[i];
    in[1] = flag.id ? layer_select(c, flag, to[i], old[i]) : to[i];
    tfsdk_emit_n(c, "AssignVariableOp", in, 2, NULL, 0, &done[i], 1);
    tfsdk_effect(c, TFSDK_BUCKET_UPDATES, done[i]);
  }
}

/* n / (n - 1); 0 for n = 1, as the fused op has it */
static tfsdk_val unbias(tfsdk_ctx *c, tfsdk_val variance, tfsdk_val count) {
  tfsdk_val less = tfsdk_emit2(c, "Sub", count, tfsdk_scalar_like(c, count, 1));
  return tfsdk_emit2(c, "Mul", variance, tfsdk_emit2(c, "DivNoNan", count, less));
}

/* One op for all of training, where the layout allows. */
static tfsdk_val fused(tfsdk_ctx *c, const norm *b, int unbiased, tfsdk_val *mean,
                       tfsdk_val *variance) {
  int64_t zero = 0;
  int32_t dtype = tfsdk_type(c, b->x).dtype;
  tfsdk_val one = tfsdk_scalar(c, dtype, 1), none = tfsdk_scalar(c, dtype, 0), out[6];
  tfsdk_val dims = tfsdk_int_vector(c, &b->channels, 1);
  tfsdk_val in[5] = {b->x, b->gamma.id ? b->gamma : tfsdk_emit2(c, "Fill", dims, one),
                     b->beta.id ? b->beta : tfsdk_emit2(c, "Fill", dims, none),
                     tfsdk_constant(c, dtype, 1, &zero, &zero),
                     tfsdk_constant(c, dtype, 1, &zero, &zero)};
  tfsdk_attrval attr[3] = {tfsdk_a_float("epsilon", b->epsilon), tfsdk_a_bool("is_training", 1),
                           tfsdk_a_string("data_format", b->axis == b->rank - 1 ? "NHWC" : "NCHW")};
  tfsdk_emit_n(c, "FusedBatchNormV3", in, 5, attr, 3, out, 6);
  *mean = out[1];
  *variance = unbiased ? out[2] : out[4];
  return out[0];
}

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  norm b = {0};
  tfsdk_typed_shape t;
  int training;
  tfsdk_val flag, mean, variance, count;
  double momentum = tfsdk_attr_float(cfg, "momentum");
  int unbiased = tfsdk_attr_int(cfg, "unbiased") != 0;
  TFSDK_TRY(layer_float_input(c, in[0], 2, -1, "batch, ..., channels", &t));
  TFSDK_TRY(layer_training(c, cfg, in[1], &training, &flag));
  b.x = in[0];
  b.rank = t.shape.rank;
  b.epsilon = tfsdk_attr_float(cfg, "epsilon");
  int64_t axis = tfsdk_attr_int(cfg, "axis");
  TFSDK_REQUIRE(c, axis >= -b.rank && axis < b.rank, "'axis' is %lld for an input of shape %s",
                (long long)axis, tfsdk_shape_text(&t.shape).s);
  b.axis = (int32_t)(axis < 0 ? axis + b.rank : axis);
  TFSDK_TRY(layer_known_extent(c, &t, b.axis, &b.channels));
  int64_t *dim = &b.channels;
  int32_t dtype = norm_dtype(t.dtype);
  b.x = norm_wide(c, b.x, t.dtype);
  if (tfsdk_attr_int(cfg, "scale")) b.gamma = tfsdk_weight(c, "gamma", dtype, 1, dim, "ones");
  if (tfsdk_attr_int(cfg, "center")) b.beta = tfsdk_weight(c, "beta", dtype, 1, dim, "zeros");
  b.mean = tfsdk_state(c, "moving_mean", dtype, 1, dim, "zeros", &b.mean_handle);
  b.variance = tfsdk_state(c, "moving_variance", dtype, 1, dim, "ones", &b.variance_handle);
  if (training == 0) {
    out[0] = norm_narrow(c, normalize(c, &b, b.mean, b.variance), t.dtype);
    return tfsdk_ctx_error(c);
  }
  if (tfsdk_attr_int(cfg, "fused") && training == 1 && in[2].id == 0 && b.rank == 4 &&
      (b.axis == 3 || b.axis == 1)) {
    out[0] = fused(c, &b, unbiased, &mean, &variance);
  } else {
    TFSDK_TRY(moments(c, &b, in[2], &mean, &variance, &count));
    if (training < 0)
      out[0] = normalize(c, &b, layer_select(c, flag, mean, b.mean),
                         layer_select(c, flag, variance, b.variance));
    else
      out[0] = normalize(c, &b, mean, variance);
    if (unbiased) variance = unbias(c, variance, count);
  }
  out[0] = norm_narrow(c, out[0], t.dtype);
  if (tfsdk_attr_int(cfg, "zero_debias"))
    update_debiased(c, &b, mean, momentum, flag);
  else
    update(c, b.mean_handle, b.mean, mean, momentum, flag);
  update(c, b.variance_handle, b.variance, variance, momentum, flag);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {
    {"inputs", "tensor", "[batch, ..., channels]", 0, 0},
    {"training", "tensor?", "a boolean scalar", 0, 0},
    {"mask", "tensor?", "booleans for the first axes: what counts for mean and variance", 0, 0}};
static const tfsdk_arg weight[] = {
    {"gamma", "trained", "[channels], with scale", 0, 0},
    {"beta", "trained", "[channels], with center", 0, 0},
    {"moving_mean", "state", "[channels]", 0, 0},
    {"moving_variance", "state", "[channels]", 0, 0},
    {"moving_mean/biased", "state", "[channels], with zero_debias", 0, 0},
    {"moving_mean/local_step", "state", "a scalar, with zero_debias", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"axis", "int", "-1", "the channels'", 0, 0},
    {"momentum", "float", "0.99", "what the moving averages keep of themselves", 0, 1},
    {"epsilon", "float", "0.001", "added to the variance", 0, 1e30},
    {"center", "bool", "true", "adds beta", 0, 0},
    {"scale", "bool", "true", "multiplies with gamma", 0, 0},
    {"fused", "bool", "true", "one op for images in training; the same numbers but for rounding", 0,
     0},
    {"unbiased", "bool", "false",
     "the moving variance takes the batch's with n - 1 in the divisor, as Slim has it", 0, 0},
    {"zero_debias", "bool", "false",
     "the moving mean does not feel its start at zero; it has two more weights then", 0, 0},
    LAYER_TRAINING};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD(
         "batch_normalization",
         "`gamma (x - mean) / sqrt(variance + epsilon) + beta` for each channel: mean and "
         "variance of the batch in training, their moving averages else."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 3, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(batch_normalization, layers);
