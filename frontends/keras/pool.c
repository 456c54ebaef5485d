#include "pool.h"

#include <stdlib.h>

tfsdk_status *pool_global(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, const char *op,
                          tfsdk_val x, tfsdk_val mask, tfsdk_val *out) {
  tfsdk_typed_shape t;
  int64_t axes[3];
  int keep = tfsdk_attr_int(cfg, "keepdims") != 0;
  TFSDK_TRY(keras_images(c, cfg, x, n, &t));
  for (uint32_t i = 0; i < n; i++) axes[i] = keras_axis(cfg, i);
  if (mask.id == 0) {
    *out = keras_reduce(c, op, x, axes, n, keep);
    return tfsdk_ctx_error(c);
  }
  mask = keras_expand(c, keras_cast(c, mask, TFSDK_BOOL), keras_first(cfg) ? 1 : 2);
  x = tfsdk_emit3(c, "SelectV2", mask, x, tfsdk_scalar(c, t.dtype, 0));
  tfsdk_val count = keras_reduce(c, "Sum", keras_cast(c, mask, t.dtype), axes, 1, keep);
  *out = tfsdk_emit2(c, "RealDiv", keras_reduce(c, "Sum", x, axes, 1, keep), count);
  return tfsdk_ctx_error(c);
}

/* Place i of m covers the elements floor(i d / m) up to ceil((i + 1) d / m) of an axis of d. */
static tfsdk_val windows(tfsdk_ctx *c, const char *op, tfsdk_val x, uint32_t rank, int64_t axis,
                         int64_t d, int64_t m) {
  int64_t begin[5] = {0}, size[5] = {-1, -1, -1, -1, -1};
  tfsdk_val *part = malloc(((size_t)m + 1) * sizeof *part), y;
  if (part == NULL) {
    c->api->stick(c, TFSDK_FAIL(c, RESOURCE_EXHAUSTED, "no memory for %lld windows", (long long)m));
    return tfsdk_none();
  }
  for (int64_t i = 0; i < m; i++) {
    begin[axis] = i * d / m;
    size[axis] = ((i + 1) * d + m - 1) / m - begin[axis];
    part[i] = tfsdk_emit3(c, "Slice", x, tfsdk_int_vector(c, begin, rank),
                          tfsdk_int_vector(c, size, rank));
    part[i] = keras_reduce(c, op, part[i], &axis, 1, 1);
  }
  part[m] = tfsdk_int_scalar(c, (int32_t)axis);
  y = m == 1 ? part[0] : tfsdk_emit(c, "ConcatV2", part, (size_t)m + 1, NULL, 0);
  free(part);
  return y;
}

tfsdk_status *pool_adaptive(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, const char *op,
                            tfsdk_val x, tfsdk_val *out) {
  tfsdk_typed_shape t;
  int64_t size[3], d;
  TFSDK_TRY(keras_images(c, cfg, x, n, &t));
  TFSDK_TRY(keras_ints(c, cfg, "output_size", n, 1, size));
  for (uint32_t i = 0; i < n; i++) {
    int32_t axis = keras_axis(cfg, i);
    TFSDK_TRY(keras_known_extent(c, &t, axis, &d));
    TFSDK_REQUIRE(c, size[i] <= INT32_MAX, "'output_size' is too large: %lld", (long long)size[i]);
    if (size[i] != d) x = windows(c, op, x, n + 2, axis, d, size[i]);
  }
  *out = x;
  return tfsdk_ctx_error(c);
}
