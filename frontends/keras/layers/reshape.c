/* reshape: the elements of each example in another shape. */
#include "keras.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  tfsdk_shape want = tfsdk_shape_scalar();
  uint32_t n;
  int64_t have = 1, known = 1;
  int32_t open = -1;
  keras_dim dim[TFSDK_MAX_RANK];
  const int64_t *target = tfsdk_attr_ints(cfg, "target_shape", &n);
  TFSDK_TRY(keras_input(c, in[0], 1, -1, "batch, ...", &t));
  TFSDK_REQUIRE(c, n < TFSDK_MAX_RANK, "'target_shape' has %u extents; %d are possible", n,
                TFSDK_MAX_RANK - 1);
  want.rank = (int32_t)n;
  for (uint32_t i = 0; i < n; i++) want.dim[i] = target[i];
  for (uint32_t i = 0; i < n; i++) {
    TFSDK_REQUIRE(c, target[i] >= -1, "'target_shape' %s has %lld; an open extent is -1",
                  tfsdk_shape_text(&want).s, (long long)target[i]);
    TFSDK_REQUIRE(c, target[i] >= 0 || open < 0, "'target_shape' %s has more than one open extent",
                  tfsdk_shape_text(&want).s);
    if (target[i] < 0) open = (int32_t)i;
    if (target[i] >= 0) known *= target[i];
  }
  for (int32_t i = 1; i < t.shape.rank && have >= 0; i++)
    have = t.shape.dim[i] < 0 ? -1 : have * t.shape.dim[i];
  int fits = open < 0 ? have == known : known > 0 && have % known == 0;
  TFSDK_REQUIRE(c, have < 0 || fits,
                "an example of an input of shape %s (%lld elements) cannot become %s (%s%lld)",
                tfsdk_shape_text(&t.shape).s, (long long)have, tfsdk_shape_text(&want).s,
                open < 0 ? "" : "a multiple of ", (long long)known);
  dim[0] = keras_dim_of(c, in[0], 0);
  for (uint32_t i = 0; i < n; i++) dim[i + 1] = keras_dim_is(target[i]);
  if (open >= 0 && have >= 0) dim[open + 1].d = have / known;
  out[0] = keras_reshape(c, in[0], n + 1, dim);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, ...]", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"target_shape", "list(int)", NULL, "without the batch; -1: what is left over", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("reshape", "The elements of each example in another shape, in their order."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(reshape, layers);
