#include "keras.h"

tfsdk_status *keras_input(tfsdk_ctx *c, tfsdk_val x, int32_t lo, int32_t hi, const char *axes,
                          tfsdk_typed_shape *out) {
  TFSDK_TRY(c->api->type(c, x, out));
  TFSDK_REQUIRE(c, out->shape.rank >= 0,
                "the input's rank is not known; give it a shape (set_shape)");
  if (out->shape.rank >= lo && (hi < 0 || out->shape.rank <= hi)) return NULL;
  char range[48];
  snprintf(range, sizeof range, hi < 0 ? "%d or more" : hi > lo ? "%d to %d" : "%d", lo, hi);
  return TFSDK_FAIL(c, INVALID_ARGUMENT, "the input must have rank %s (%s); its shape is %s", range,
                    axes, tfsdk_shape_text(&out->shape).s);
}

tfsdk_status *keras_float_input(tfsdk_ctx *c, tfsdk_val x, int32_t lo, int32_t hi, const char *axes,
                                tfsdk_typed_shape *out) {
  TFSDK_TRY(keras_input(c, x, lo, hi, axes, out));
  TFSDK_REQUIRE(c, tfsdk_dtype_kind(out->dtype) == 'f',
                "the input must be of a floating type, not %s: cast it first",
                tfsdk_dtype_name(out->dtype));
  return NULL;
}

tfsdk_status *keras_images(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val x, uint32_t n,
                           tfsdk_typed_shape *out) {
  static const char *const words[2][3] = {
      {"batch, steps, channels", "batch, rows, columns, channels",
       "batch, depth, rows, columns, channels"},
      {"batch, channels, steps", "batch, channels, rows, columns",
       "batch, channels, depth, rows, columns"}};
  int32_t rank = (int32_t)n + 2;
  return keras_input(c, x, rank, rank, words[keras_first(cfg)][n - 1], out);
}

tfsdk_status *keras_known_extent(tfsdk_ctx *c, const tfsdk_typed_shape *x, int32_t axis,
                                 int64_t *out) {
  *out = x->shape.dim[axis];
  TFSDK_REQUIRE(c, *out >= 0, "extent %d of the input must be known; its shape is %s", axis,
                tfsdk_shape_text(&x->shape).s);
  TFSDK_REQUIRE(c, *out > 0, "extent %d of the input is 0; its shape is %s", axis,
                tfsdk_shape_text(&x->shape).s);
  return NULL;
}

tfsdk_status *keras_ints(tfsdk_ctx *c, const tfsdk_attrs *cfg, const char *name, uint32_t n,
                         int64_t least, int64_t *out) {
  uint32_t have;
  const int64_t *list = tfsdk_attr_ints(cfg, name, &have);
  TFSDK_REQUIRE(c, have == 1 || have == n, "'%s' must be one number or %u, not %u", name, n, have);
  for (uint32_t i = 0; i < n; i++) {
    out[i] = list[have == 1 ? 0 : i];
    TFSDK_REQUIRE(c, out[i] >= least, "'%s' must be at least %d, not %lld", name, (int)least,
                  (long long)out[i]);
  }
  return NULL;
}

tfsdk_status *keras_sides(tfsdk_ctx *c, const tfsdk_attrs *cfg, const char *name, uint32_t n,
                          int64_t out[][2]) {
  uint32_t have;
  const int64_t *list = tfsdk_attr_ints(cfg, name, &have);
  TFSDK_REQUIRE(c, have == 1 || have == n || have == 2 * n,
                "'%s' must be one number, %u, or %u (both sides of each axis), not %u", name, n,
                2 * n, have);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < 2; k++) {
      out[i][k] = list[have == 2 * n ? 2 * i + k : have == 1 ? 0 : i];
      TFSDK_REQUIRE(c, out[i][k] >= 0, "'%s' must not be below 0, but has %lld", name,
                    (long long)out[i][k]);
    }
  return NULL;
}

tfsdk_status *keras_one_axis(tfsdk_ctx *c, const char *name, int64_t axis,
                             const tfsdk_typed_shape *x, int32_t *out) {
  int32_t rank = x->shape.rank;
  TFSDK_REQUIRE(c, axis >= -rank && axis < rank, "'%s' is %lld for an input of shape %s", name,
                (long long)axis, tfsdk_shape_text(&x->shape).s);
  *out = (int32_t)(axis < 0 ? axis + rank : axis);
  return NULL;
}

tfsdk_status *keras_axes(tfsdk_ctx *c, const tfsdk_attrs *cfg, const char *name,
                         const tfsdk_typed_shape *x, int64_t *out, uint32_t *out_n) {
  uint32_t n;
  const int64_t *list = tfsdk_attr_ints(cfg, name, &n);
  int32_t axis = 0;
  uint64_t seen = 0;
  for (uint32_t i = 0; i < n; i++) {
    TFSDK_TRY(keras_one_axis(c, name, list[i], x, &axis));
    TFSDK_REQUIRE(c, !(seen >> axis & 1), "'%s' has axis %lld twice", name, (long long)list[i]);
    seen |= (uint64_t)1 << axis;
  }
  *out_n = 0;
  for (int32_t i = 0; i < x->shape.rank; i++)
    if (seen >> i & 1) out[(*out_n)++] = i;
  return NULL;
}

tfsdk_val keras_extent(tfsdk_ctx *c, tfsdk_val x, int32_t axis) {
  tfsdk_typed_shape t = tfsdk_type(c, x);
  if (t.shape.rank > axis && t.shape.dim[axis] >= 0)
    return tfsdk_int_scalar(c, (int32_t)t.shape.dim[axis]);
  return tfsdk_emit3(c, "GatherV2", tfsdk_emit1(c, "Shape", x), tfsdk_int_scalar(c, axis),
                     tfsdk_int_scalar(c, 0));
}

keras_dim keras_dim_of(tfsdk_ctx *c, tfsdk_val like, int32_t axis) {
  tfsdk_typed_shape t = tfsdk_type(c, like);
  keras_dim k = {t.shape.rank > axis ? t.shape.dim[axis] : -1, 1, like, axis};
  return k;
}

tfsdk_val keras_reshape(tfsdk_ctx *c, tfsdk_val x, uint32_t n, const keras_dim *dim) {
  tfsdk_val part[TFSDK_MAX_RANK];
  int64_t known[TFSDK_MAX_RANK];
  uint32_t unknown = 0, empty = 0;
  if (n > TFSDK_MAX_RANK) {
    c->api->stick(c, TFSDK_FAIL(c, INVALID_ARGUMENT, "a shape of %u axes; %d are possible", n,
                                TFSDK_MAX_RANK));
    return tfsdk_none();
  }
  for (uint32_t i = 0; i < n; i++) {
    known[i] = dim[i].d;
    unknown += known[i] < 0;
    empty += known[i] == 0; /* then nothing tells what -1 would be */
  }
  if (unknown == 0 || (unknown == 1 && empty == 0))
    return tfsdk_emit2(c, "Reshape", x, tfsdk_int_vector(c, known, n));
  for (uint32_t i = 0; i < n; i++) {
    if (known[i] >= 0 || dim[i].like.id == 0) {
      part[i] = tfsdk_int_scalar(c, (int32_t)known[i]);
      continue;
    }
    part[i] = keras_extent(c, dim[i].like, dim[i].axis);
    if (dim[i].times != 1)
      part[i] = tfsdk_emit2(c, "Mul", part[i], tfsdk_int_scalar(c, (int32_t)dim[i].times));
  }
  tfsdk_attrval axis = tfsdk_a_int("axis", 0), shape = tfsdk_a_shape("shape", known, n);
  x = tfsdk_emit2(c, "Reshape", x, tfsdk_emit(c, "Pack", part, n, &axis, 1));
  return tfsdk_emit(c, "EnsureShape", &x, 1, &shape, 1);
}

tfsdk_status *keras_training(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val input, int *out,
                             tfsdk_val *out_flag) {
  tfsdk_view v;
  *out = tfsdk_attr_int(cfg, "training") != 0;
  *out_flag = tfsdk_none();
  if (input.id == 0) return NULL;
  tfsdk_typed_shape t = tfsdk_type(c, input);
  TFSDK_REQUIRE(c, t.dtype == TFSDK_BOOL && t.shape.rank <= 0,
                "'training' must be a boolean scalar, not %s %s", tfsdk_dtype_name(t.dtype),
                tfsdk_shape_text(&t.shape).s);
  if (tfsdk_known(c, input, &v)) {
    *out = *(const uint8_t *)v.data != 0;
  } else {
    *out = -1;
    *out_flag = input;
  }
  return NULL;
}

tfsdk_val keras_when(tfsdk_ctx *c, int training, tfsdk_val flag, tfsdk_val yes, tfsdk_val no) {
  if (training >= 0) return training ? yes : no;
  return tfsdk_emit3(c, "SelectV2", flag, yes, no);
}

tfsdk_val keras_reduce(tfsdk_ctx *c, const char *op, tfsdk_val x, const int64_t *axes, uint32_t n,
                       int keep) {
  tfsdk_val in[2] = {x, tfsdk_int_vector(c, axes, n)};
  tfsdk_attrval keep_dims = tfsdk_a_bool("keep_dims", keep);
  return tfsdk_emit(c, op, in, 2, &keep_dims, 1);
}

tfsdk_val keras_transpose(tfsdk_ctx *c, tfsdk_val x, const int64_t *perm, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (perm[i] != i) return tfsdk_emit2(c, "Transpose", x, tfsdk_int_vector(c, perm, n));
  return x;
}

tfsdk_val keras_expand(tfsdk_ctx *c, tfsdk_val x, int32_t axis) {
  return tfsdk_emit2(c, "ExpandDims", x, tfsdk_int_scalar(c, axis));
}

tfsdk_val keras_cast(tfsdk_ctx *c, tfsdk_val x, int32_t dtype) {
  tfsdk_attrval to = tfsdk_a_dtype("DstT", dtype);
  return tfsdk_type(c, x).dtype == dtype ? x : tfsdk_emit(c, "Cast", &x, 1, &to, 1);
}

tfsdk_val keras_times(tfsdk_ctx *c, tfsdk_val x, double k) {
  return tfsdk_emit2(c, "Mul", x, tfsdk_scalar_like(c, x, k));
}

tfsdk_val keras_plus(tfsdk_ctx *c, tfsdk_val x, double k) {
  return tfsdk_emit2(c, "AddV2", x, tfsdk_scalar_like(c, x, k));
}

tfsdk_val keras_above(tfsdk_ctx *c, tfsdk_val x, double k) {
  tfsdk_val above = tfsdk_emit2(c, "Greater", x, tfsdk_scalar_like(c, x, k));
  return keras_cast(c, above, tfsdk_type(c, x).dtype);
}

tfsdk_val keras_activation(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val x) {
  const char *name = tfsdk_attr_string(cfg, "activation");
  tfsdk_attrval p = tfsdk_a_string("activation", name);
  return *name == 0 || strcmp(name, "linear") == 0 ? x : tfsdk_layer1(c, "activation", x, &p, 1);
}
