/* conv2d_in_plane: one filter for all channels, each on its own. */
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

static tfsdk_status *pair(tfsdk_ctx *c, const tfsdk_attrs *cfg, const char *name, int64_t out[2]) {
  uint32_t n;
  const int64_t *list = tfsdk_attr_ints(cfg, name, &n);
  TFSDK_REQUIRE(c, n == 1 || n == 2, "'%s' must be one number or 2, not %u", name, n);
  for (int i = 0; i < 2; i++) {
    out[i] = list[n == 1 ? 0 : i];
    TFSDK_REQUIRE(c, out[i] >= 1, "'%s' must be at least 1, not %lld", name, (long long)out[i]);
  }
  return NULL;
}

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t size[2], stride[2];
  TFSDK_TRY(c->api->type(c, in[0], &t));
  TFSDK_REQUIRE(c, t.shape.rank == 4,
                "the input must have rank 4 (batch, height, width, channels); its shape is %s",
                tfsdk_shape_text(&t.shape).s);
  int64_t channels = t.shape.dim[3];
  TFSDK_REQUIRE(c, channels > 0, "the number of channels must be known; the input's shape is %s",
                tfsdk_shape_text(&t.shape).s);
  TFSDK_TRY(pair(c, cfg, "kernel_size", size));
  TFSDK_TRY(pair(c, cfg, "strides", stride));
  int64_t kernel[4] = {size[0], size[1], 1, 1}, times[4] = {1, 1, channels, 1};
  int64_t strides[4] = {1, stride[0], stride[1], 1};
  tfsdk_val w = tfsdk_weight(c, "kernel", t.dtype, 4, kernel, NULL);
  w = tfsdk_emit2(c, "Tile", w, tfsdk_int_vector(c, times, 4));
  tfsdk_val arg[2] = {in[0], w};
  int same = strcmp(tfsdk_attr_string(cfg, "padding"), "same") == 0;
  tfsdk_attrval attr[2] = {tfsdk_a_ints("strides", strides, 4),
                           tfsdk_a_string("padding", same ? "SAME" : "VALID")};
  tfsdk_val y = tfsdk_emit(c, "DepthwiseConv2dNative", arg, 2, attr, 2);
  if (tfsdk_attr_int(cfg, "use_bias"))
    y = tfsdk_emit2(c, "BiasAdd", y, tfsdk_weight(c, "bias", t.dtype, 1, &channels, "zeros"));
  out[0] = y;
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, height, width, channels]", 0, 0}};
static const tfsdk_arg weight[] = {{"kernel", "trained", "kernel_size, then [1, 1]", 0, 0},
                                   {"bias", "trained", "[channels], with use_bias", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"kernel_size", "list(int)", NULL, "the window: one number, or two", 0, 0},
    {"strides", "list(int)", "[1]", "its steps: one number, or two", 0, 0},
    {"padding", "string{valid,same}", "valid", "as of conv2d", 0, 0},
    {"use_bias", "bool", "true", "adds a vector, one element for each channel", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("conv2d_in_plane", "Convolves each channel with the same filter."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(conv2d_in_plane, layers);
