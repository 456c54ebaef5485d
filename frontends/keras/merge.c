#include "merge.h"

static tfsdk_status *check(tfsdk_ctx *c, const tfsdk_shape *a, const tfsdk_shape *b, size_t i) {
  for (int32_t k = 1; k <= a->rank && k <= b->rank; k++) {
    if (k == a->rank || k == b->rank) break; /* the batch, or an axis put in behind it */
    int64_t d = a->dim[a->rank - k], e = b->dim[b->rank - k];
    TFSDK_REQUIRE(c, d < 0 || e < 0 || d == e || d == 1 || e == 1,
                  "the first input, of shape %s, and input %zu, of shape %s, cannot be merged: "
                  "extents must be equal or 1",
                  tfsdk_shape_text(a).s, i + 1, tfsdk_shape_text(b).s);
  }
  return NULL;
}

tfsdk_status *merge_fold(tfsdk_ctx *c, const char *op, const tfsdk_val *in, size_t n_in,
                         tfsdk_val *out) {
  tfsdk_typed_shape t, first;
  int32_t most = 0;
  tfsdk_val y = {0};
  TFSDK_TRY(c->api->type(c, in[0], &first));
  for (size_t i = 0; i < n_in; i++) {
    TFSDK_TRY(c->api->type(c, in[i], &t));
    TFSDK_REQUIRE(c, t.shape.rank >= 0, "the rank of input %zu is not known", i + 1);
    TFSDK_REQUIRE(c, t.dtype == first.dtype, "input %zu is %s, the first one %s", i + 1,
                  tfsdk_dtype_name(t.dtype), tfsdk_dtype_name(first.dtype));
    if (t.shape.rank > most) most = t.shape.rank;
    TFSDK_TRY(check(c, &first.shape, &t.shape, i));
  }
  for (size_t i = 0; i < n_in; i++) {
    tfsdk_val x = in[i];
    for (int32_t rank = tfsdk_type(c, x).shape.rank; rank < most; rank++)
      x = keras_expand(c, x, rank > 0 ? 1 : 0);
    y = i == 0 ? x : tfsdk_emit2(c, op, y, x);
  }
  *out = y;
  return tfsdk_ctx_error(c);
}
