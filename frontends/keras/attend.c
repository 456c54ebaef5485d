#include "attend.h"

tfsdk_val attend_both(tfsdk_ctx *c, tfsdk_val a, tfsdk_val b) {
  if (a.id == 0 || b.id == 0) return a.id ? a : b;
  return tfsdk_emit2(c, "LogicalAnd", a, b);
}

/* 0 .. n-1 along `axis` of three. */
static tfsdk_val places(tfsdk_ctx *c, tfsdk_val n, int32_t axis) {
  int64_t dim[3] = {1, 1, 1};
  dim[axis] = -1;
  tfsdk_val v = tfsdk_emit3(c, "Range", tfsdk_int_scalar(c, 0), n, tfsdk_int_scalar(c, 1));
  return tfsdk_emit2(c, "Reshape", v, tfsdk_int_vector(c, dim, 3));
}

tfsdk_val attend_band(tfsdk_ctx *c, tfsdk_val query, tfsdk_val key, int causal, int64_t window) {
  tfsdk_val mask = {0};
  if (!causal && window <= 0) return mask;
  tfsdk_val row = places(c, keras_extent(c, query, 1), 1);
  tfsdk_val column = places(c, keras_extent(c, key, 1), 2);
  if (causal) mask = tfsdk_emit2(c, "LessEqual", column, row);
  if (window > 0) {
    tfsdk_val far = tfsdk_emit1(c, "Abs", tfsdk_emit2(c, "Sub", row, column));
    far = tfsdk_emit2(c, "Less", far, tfsdk_int_scalar(c, (int32_t)window));
    mask = attend_both(c, mask, far);
  }
  return mask;
}

tfsdk_val attend_mask(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in) {
  tfsdk_val mask = attend_band(c, in[0], in[1], tfsdk_attr_int(cfg, "use_causal_mask") != 0,
                               tfsdk_attr_int(cfg, "sliding_window"));
  for (int i = 3; i < 6; i++) /* of the queries a column, of values and keys a row */
    if (in[i].id != 0)
      mask =
          attend_both(c, mask, keras_expand(c, keras_cast(c, in[i], TFSDK_BOOL), i == 3 ? -1 : -2));
  if (in[6].id != 0) mask = attend_both(c, mask, keras_cast(c, in[6], TFSDK_BOOL));
  return mask;
}

tfsdk_val attend_softmax(tfsdk_ctx *c, tfsdk_val scores, tfsdk_val mask) {
  int32_t dtype = tfsdk_type(c, scores).dtype, wide = keras_wide(dtype);
  scores = keras_cast(c, scores, wide);
  if (mask.id != 0)
    scores = tfsdk_emit3(c, "SelectV2", mask, scores, tfsdk_scalar(c, wide, -2.37e38));
  return keras_cast(c, tfsdk_emit1(c, "Softmax", scores), dtype);
}

tfsdk_val attend_shown(tfsdk_ctx *c, tfsdk_val weights, tfsdk_val mask) {
  if (mask.id == 0) return weights;
  return tfsdk_emit3(c, "SelectV2", mask, weights, tfsdk_scalar_like(c, weights, 0));
}

tfsdk_status *attend_drop(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val training,
                          tfsdk_val *io_weights) {
  double rate = tfsdk_attr_float(cfg, "dropout");
  tfsdk_val in[2] = {*io_weights, training};
  tfsdk_attrval param[3] = {tfsdk_a_float("rate", rate),
                            tfsdk_a_int("seed", tfsdk_attr_int(cfg, "seed")),
                            tfsdk_a_bool("training", tfsdk_attr_int(cfg, "training"))};
  if (rate == 0) return NULL;
  return c->api->layer(c, "dropout", in, 2, param, 3, io_weights, 1);
}

tfsdk_status *attend_inputs(tfsdk_ctx *c, const tfsdk_val *in, tfsdk_typed_shape t[3]) {
  static const char *const names[3] = {"query", "value", "key"};
  for (int i = 0; i < 3; i++) {
    if (in[i].id == 0) {
      t[i] = t[1];
      continue;
    }
    TFSDK_TRY(c->api->type(c, in[i], &t[i]));
    TFSDK_REQUIRE(c, t[i].shape.rank == 3,
                  "the %s must have rank 3 (batch, steps, features); its shape is %s", names[i],
                  tfsdk_shape_text(&t[i].shape).s);
    TFSDK_REQUIRE(c, tfsdk_dtype_kind(t[i].dtype) == 'f' && t[i].dtype == t[0].dtype,
                  "the %s is %s; query, value and key must be of one floating type", names[i],
                  tfsdk_dtype_name(t[i].dtype));
  }
  int64_t s = t[1].shape.dim[1], k = t[2].shape.dim[1];
  TFSDK_REQUIRE(c, s < 0 || k < 0 || s == k,
                "there are %lld values and %lld keys; each value has a "
                "key",
                (long long)s, (long long)k);
  return NULL;
}

tfsdk_status *attend_one_head(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in,
                              tfsdk_val scores, tfsdk_val *out) {
  int32_t dtype = tfsdk_type(c, scores).dtype;
  tfsdk_val mask = attend_band(c, in[0], in[1], tfsdk_attr_int(cfg, "use_causal_mask") != 0, 0);
  if (in[4].id != 0)
    mask = attend_both(c, keras_expand(c, keras_cast(c, in[4], TFSDK_BOOL), 1), mask);
  if (mask.id != 0) {
    tfsdk_val less = keras_plus(c, scores, dtype == TFSDK_FLOAT16 ? -65504.0 : -1e9);
    scores = tfsdk_emit3(c, "SelectV2", mask, scores, less);
  }
  tfsdk_val weights = tfsdk_emit1(c, "Softmax", scores);
  TFSDK_TRY(attend_drop(c, cfg, in[5], &weights));
  out[0] = tfsdk_emit2(c, "BatchMatMulV2", weights, in[1]);
  out[1] = weights;
  if (in[3].id != 0) {
    tfsdk_val there = keras_expand(c, keras_cast(c, in[3], TFSDK_BOOL), 2);
    out[0] = tfsdk_emit3(c, "SelectV2", there, out[0], tfsdk_scalar(c, dtype, 0));
  }
  return tfsdk_ctx_error(c);
}

tfsdk_status *attend_project(tfsdk_ctx *c, const char *role, int use_bias, tfsdk_val x,
                             uint32_t bound, const int64_t *inner, uint32_t n_inner,
                             tfsdk_val *out) {
  tfsdk_typed_shape t;
  char name[64];
  int64_t kernel[TFSDK_MAX_RANK], sum = 1, wide = 1;
  keras_dim dim[TFSDK_MAX_RANK];
  TFSDK_TRY(c->api->type(c, x, &t));
  uint32_t lead = (uint32_t)t.shape.rank - bound;
  TFSDK_REQUIRE(c, lead + n_inner <= TFSDK_MAX_RANK && bound + n_inner <= TFSDK_MAX_RANK,
                "'%s' would have too many axes", role);
  for (uint32_t i = 0; i < bound; i++) {
    TFSDK_TRY(keras_known_extent(c, &t, (int32_t)(lead + i), &kernel[i]));
    sum *= kernel[i];
  }
  for (uint32_t i = 0; i < lead; i++) dim[i] = keras_dim_of(c, x, (int32_t)i);
  for (uint32_t i = 0; i < n_inner; i++) {
    kernel[bound + i] = inner[i];
    dim[lead + i] = keras_dim_is(inner[i]);
    wide *= inner[i];
  }
  snprintf(name, sizeof name, "%s/kernel", role);
  int64_t rows[2] = {-1, sum}, matrix[2] = {sum, wide};
  tfsdk_val w = tfsdk_weight(c, name, t.dtype, bound + n_inner, kernel, NULL);
  x = tfsdk_emit2(c, "Reshape", x, tfsdk_int_vector(c, rows, 2));
  w = tfsdk_emit2(c, "Reshape", w, tfsdk_int_vector(c, matrix, 2));
  tfsdk_val y = keras_reshape(c, tfsdk_emit2(c, "MatMul", x, w), lead + n_inner, dim);
  snprintf(name, sizeof name, "%s/bias", role);
  if (use_bias)
    y = tfsdk_emit2(c, "AddV2", y, tfsdk_weight(c, name, t.dtype, n_inner, inner, "zeros"));
  *out = y;
  return tfsdk_ctx_error(c);
}
