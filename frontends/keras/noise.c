#include "noise.h"

tfsdk_val noise_like(tfsdk_ctx *c, const tfsdk_attrs *cfg, const char *op, tfsdk_val x,
                     const int64_t *shape, uint32_t n) {
  tfsdk_typed_shape t = tfsdk_type(c, x);
  tfsdk_val part[TFSDK_MAX_RANK], dims;
  int64_t want[TFSDK_MAX_RANK] = {0};
  int whole = t.shape.rank >= 0;
  for (int32_t i = 0; i < t.shape.rank; i++) {
    want[i] = n == 0 || shape[i] < 0 ? t.shape.dim[i] : shape[i];
    whole = whole && want[i] >= 0;
  }
  if (whole) {
    dims = tfsdk_int_vector(c, want, (uint32_t)t.shape.rank);
  } else if (n == 0) {
    dims = tfsdk_emit1(c, "Shape", x);
  } else {
    tfsdk_attrval axis = tfsdk_a_int("axis", 0);
    for (int32_t i = 0; i < t.shape.rank; i++)
      part[i] = want[i] >= 0 ? tfsdk_int_scalar(c, (int32_t)want[i]) : keras_extent(c, x, i);
    dims = tfsdk_emit(c, "Pack", part, (size_t)t.shape.rank, &axis, 1);
  }
  tfsdk_attrval attr[2] = {tfsdk_a_dtype("dtype", t.dtype),
                           tfsdk_a_int("seed2", tfsdk_attr_int(cfg, "seed"))};
  return tfsdk_emit(c, op, &dims, 1, attr, 2);
}

tfsdk_status *noise_spatial(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, const tfsdk_val *in,
                            tfsdk_val *out) {
  tfsdk_typed_shape t;
  int64_t shape[5] = {-1, 1, 1, 1, 1};
  shape[keras_first(cfg) ? 1 : n + 1] = -1;
  TFSDK_TRY(keras_images(c, cfg, in[0], n, &t));
  tfsdk_attrval param[4] = {tfsdk_a_float("rate", tfsdk_attr_float(cfg, "rate")),
                            tfsdk_a_ints("noise_shape", shape, n + 2),
                            tfsdk_a_int("seed", tfsdk_attr_int(cfg, "seed")),
                            tfsdk_a_bool("training", tfsdk_attr_int(cfg, "training"))};
  return c->api->layer(c, "dropout", in, 2, param, 4, out, 1);
}
