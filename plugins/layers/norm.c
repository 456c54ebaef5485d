#include "norm.h"

static tfsdk_val cast(tfsdk_ctx *c, tfsdk_val x, int32_t dtype) {
  tfsdk_attrval to = tfsdk_a_dtype("DstT", dtype);
  return tfsdk_emit(c, "Cast", &x, 1, &to, 1);
}
tfsdk_val norm_wide(tfsdk_ctx *c, tfsdk_val x, int32_t dtype) {
  return norm_dtype(dtype) == dtype ? x : cast(c, x, norm_dtype(dtype));
}
tfsdk_val norm_narrow(tfsdk_ctx *c, tfsdk_val y, int32_t dtype) {
  return norm_dtype(dtype) == dtype ? y : cast(c, y, dtype);
}

tfsdk_status *norm_axes(tfsdk_ctx *c, const tfsdk_attrs *cfg, const char *name,
                        const tfsdk_typed_shape *x, int64_t *out, uint32_t *out_n) {
  uint32_t n;
  const int64_t *list = tfsdk_attr_ints(cfg, name, &n);
  int32_t rank = x->shape.rank;
  uint64_t seen = 0;
  *out_n = 0;
  for (uint32_t i = 0; i < n; i++) {
    int64_t axis = list[i] < 0 ? list[i] + rank : list[i];
    TFSDK_REQUIRE(c, axis >= 0 && axis < rank && !(seen >> axis & 1),
                  "'%s' has %lld, which is no further axis of an input of shape %s", name,
                  (long long)list[i], tfsdk_shape_text(&x->shape).s);
    seen |= (uint64_t)1 << axis;
  }
  for (int32_t i = 0; i < rank; i++)
    if (seen >> i & 1) out[(*out_n)++] = i;
  return NULL;
}

tfsdk_val norm_apply(tfsdk_ctx *c, tfsdk_val x, tfsdk_val mean, tfsdk_val variance,
                     double epsilon) {
  tfsdk_val inv = tfsdk_emit1(
      c, "Rsqrt", tfsdk_emit2(c, "AddV2", variance, tfsdk_scalar_like(c, variance, epsilon)));
  return tfsdk_emit2(c, "Mul", tfsdk_emit2(c, "Sub", x, mean), inv);
}

tfsdk_status *norm_scale_shift(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_typed_shape *x,
                               const int64_t *axes, uint32_t n, tfsdk_val *io_y) {
  int64_t dim[TFSDK_MAX_RANK], wide[TFSDK_MAX_RANK];
  int32_t rank = x->shape.rank, dtype = norm_dtype(x->dtype);
  tfsdk_val beta = {0}, gamma = {0};
  int center = tfsdk_attr_int(cfg, "center") != 0, scale = tfsdk_attr_int(cfg, "scale") != 0;
  if (!center && !scale) return NULL;
  for (int32_t i = 0; i < rank; i++) wide[i] = 1;
  for (uint32_t i = 0; i < n; i++) {
    TFSDK_TRY(layer_known_extent(c, x, (int32_t)axes[i], &dim[i]));
    wide[axes[i]] = dim[i];
  }
  if (center) beta = tfsdk_weight(c, "beta", dtype, n, dim, "zeros");
  if (scale) gamma = tfsdk_weight(c, "gamma", dtype, n, dim, "ones");
  int last = 1; /* the axes are the last ones: broadcasting does it */
  for (uint32_t i = 0; i < n; i++) last = last && axes[i] == rank - (int64_t)n + (int64_t)i;
  tfsdk_val shape = last ? tfsdk_none() : tfsdk_int_vector(c, wide, (uint32_t)rank);
  if (!last && center) beta = tfsdk_emit2(c, "Reshape", beta, shape);
  if (!last && scale) gamma = tfsdk_emit2(c, "Reshape", gamma, shape);
  if (scale) *io_y = tfsdk_emit2(c, "Mul", *io_y, gamma);
  if (center) *io_y = tfsdk_emit2(c, "AddV2", *io_y, beta);
  return NULL;
}
