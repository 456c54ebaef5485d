/* permute: the axes of each example in another order. */
#include "keras.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  uint32_t n;
  uint64_t seen = 0;
  int64_t perm[TFSDK_MAX_RANK] = {0};
  const int64_t *dims = tfsdk_attr_ints(cfg, "dims", &n);
  TFSDK_TRY(keras_input(c, in[0], 1, -1, "batch, ...", &t));
  TFSDK_REQUIRE(c, t.shape.rank == (int32_t)n + 1,
                "'dims' has %u axes, so the input must have rank %u (the batch is not counted); "
                "its shape is %s",
                n, n + 1, tfsdk_shape_text(&t.shape).s);
  for (uint32_t i = 0; i < n; i++) {
    TFSDK_REQUIRE(c, dims[i] >= 1 && dims[i] <= n && !(seen >> dims[i] & 1),
                  "'dims' must name each of the axes 1 to %u once; %lld is %s", n,
                  (long long)dims[i], dims[i] >= 1 && dims[i] <= n ? "there twice" : "none");
    seen |= (uint64_t)1 << dims[i];
    perm[i + 1] = dims[i];
  }
  out[0] = keras_transpose(c, in[0], perm, n + 1);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, ...]", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"dims", "list(int)", NULL, "axis i becomes what axis dims[i] was; the batch, 0, stays", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("permute", "The axes of each example in another order."), .param = param,
     .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(permute, layers);
