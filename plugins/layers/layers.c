#include "layers.h"

#include <stdio.h>

tfsdk_status *layer_input(tfsdk_ctx *c, tfsdk_val x, int32_t lo, int32_t hi, const char *axes,
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

tfsdk_status *layer_float_input(tfsdk_ctx *c, tfsdk_val x, int32_t lo, int32_t hi, const char *axes,
                                tfsdk_typed_shape *out) {
  TFSDK_TRY(layer_input(c, x, lo, hi, axes, out));
  TFSDK_REQUIRE(c, tfsdk_dtype_kind(out->dtype) == 'f',
                "the input must be of a floating type, not %s: cast it first",
                tfsdk_dtype_name(out->dtype));
  return NULL;
}

tfsdk_status *layer_known_extent(tfsdk_ctx *c, const tfsdk_typed_shape *x, int32_t axis,
                                 int64_t *out) {
  *out = x->shape.dim[axis];
  TFSDK_REQUIRE(c, *out >= 0,
                "extent %d of the input decides about the weights' shapes and must be known; its "
                "shape is %s",
                axis, tfsdk_shape_text(&x->shape).s);
  TFSDK_REQUIRE(c, *out > 0, "extent %d of the input is 0: there is nothing to weigh", axis);
  return NULL;
}

tfsdk_status *layer_ints(tfsdk_ctx *c, const tfsdk_attrs *cfg, const char *name, uint32_t n,
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

tfsdk_val layer_extent(tfsdk_ctx *c, tfsdk_val x, int32_t axis) {
  tfsdk_typed_shape t = tfsdk_type(c, x);
  if (t.shape.rank > axis && t.shape.dim[axis] >= 0)
    return tfsdk_int_scalar(c, (int32_t)t.shape.dim[axis]);
  return tfsdk_emit3(c, "GatherV2", tfsdk_emit1(c, "Shape", x), tfsdk_int_scalar(c, axis),
                     tfsdk_int_scalar(c, 0));
}

tfsdk_val layer_reshape(tfsdk_ctx *c, tfsdk_val x, uint32_t n, const int64_t *dim, tfsdk_val like,
                        const int32_t *like_axis) {
  tfsdk_val part[TFSDK_MAX_RANK];
  uint32_t unknown = 0;
  for (uint32_t i = 0; i < n; i++) unknown += dim[i] < 0;
  if (unknown <= 1) return tfsdk_emit2(c, "Reshape", x, tfsdk_int_vector(c, dim, n));
  for (uint32_t i = 0; i < n; i++)
    part[i] =
        dim[i] >= 0 ? tfsdk_int_scalar(c, (int32_t)dim[i]) : layer_extent(c, like, like_axis[i]);
  tfsdk_attrval axis = tfsdk_a_int("axis", 0);
  return tfsdk_emit2(c, "Reshape", x, tfsdk_emit(c, "Pack", part, n, &axis, 1));
}

tfsdk_val layer_finish(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val y, int32_t dtype,
                       int64_t channels, int first) {
  if (tfsdk_attr_int(cfg, "use_bias")) {
    tfsdk_val in[2] = {y, tfsdk_weight(c, "bias", dtype, 1, &channels, "zeros")};
    tfsdk_attrval format = tfsdk_a_string("data_format", first ? "NCHW" : "NHWC");
    y = tfsdk_emit(c, "BiasAdd", in, 2, &format, 1);
  }
  return layer_activation(c, tfsdk_attr_string(cfg, "activation"), y);
}

tfsdk_status *layer_training(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val input, int *out,
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

tfsdk_val layer_select(tfsdk_ctx *c, tfsdk_val flag, tfsdk_val yes, tfsdk_val no) {
  return tfsdk_emit3(c, "SelectV2", flag, yes, no);
}

tfsdk_val layer_axes_op(tfsdk_ctx *c, const char *op, tfsdk_val x, const int64_t *axes, uint32_t n,
                        int keep) {
  tfsdk_val in[2] = {x, tfsdk_int_vector(c, axes, n)};
  tfsdk_attrval keep_dims = tfsdk_a_bool("keep_dims", keep);
  return tfsdk_emit(c, op, in, 2, &keep_dims, 1);
}

tfsdk_val layer_transpose(tfsdk_ctx *c, tfsdk_val x, const int64_t *perm, uint32_t n) {
  return tfsdk_emit2(c, "Transpose", x, tfsdk_int_vector(c, perm, n));
}

tfsdk_val layer_expand(tfsdk_ctx *c, tfsdk_val x, int32_t axis) {
  return tfsdk_emit2(c, "ExpandDims", x, tfsdk_int_scalar(c, axis));
}

tfsdk_val layer_squeeze(tfsdk_ctx *c, tfsdk_val x, int64_t axis) {
  tfsdk_attrval dims = tfsdk_a_ints("squeeze_dims", &axis, 1);
  return tfsdk_emit(c, "Squeeze", &x, 1, &dims, 1);
}
