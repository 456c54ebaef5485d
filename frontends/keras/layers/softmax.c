/* softmax: exponentials that add up to 1 along one axis or several. */
#include "keras.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t axes[TFSDK_MAX_RANK];
  uint32_t n;
  tfsdk_val x = in[0], y, mask = in[1], none;
  TFSDK_TRY(keras_float_input(c, x, 1, -1, "batch, ...", &t));
  TFSDK_TRY(keras_axes(c, cfg, "axis", &t, axes, &n));
  TFSDK_REQUIRE(c, n > 0, "'axis' is empty");
  if (mask.id != 0) {
    if (tfsdk_type(c, mask).dtype != TFSDK_BOOL)
      mask = tfsdk_emit2(c, "Greater", mask, tfsdk_scalar_like(c, mask, 0.5));
    none = tfsdk_scalar(c, t.dtype, t.dtype == TFSDK_FLOAT16 ? -3e4 : -1e9);
    x = tfsdk_emit3(c, "SelectV2", mask, x, none);
  }
  if (n == 1 && axes[0] == t.shape.rank - 1) {
    y = tfsdk_emit1(c, "Softmax", x);
  } else {
    tfsdk_val top = tfsdk_emit1(c, "StopGradient", keras_reduce(c, "Max", x, axes, n, 1));
    y = tfsdk_emit1(c, "Exp", tfsdk_emit2(c, "Sub", x, top));
    y = tfsdk_emit2(c, "RealDiv", y, keras_reduce(c, "Sum", y, axes, n, 1));
  }
  if (mask.id != 0) /* where nothing is left, nothing comes out */
    y = tfsdk_emit3(c, "SelectV2", mask, y, tfsdk_scalar(c, t.dtype, 0));
  out[0] = y;
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {KERAS_ANY,
                               {"mask", "tensor?", "booleans that broadcast: what counts", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"axis", "list(int)", "[-1]", "along which the sum is 1: one number or several", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("softmax", "`exp(x)` divided by its sum along `axis`; 0 where `mask` is "
                                 "false."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 2, .build = build}};
TFSDK_UNIT_LAYERS(softmax, layers);
