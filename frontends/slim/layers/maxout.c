/* maxout: the maximum of groups of channels (Goodfellow et al. 2013). */
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t axis = tfsdk_attr_int(cfg, "axis"), units = tfsdk_attr_int(cfg, "num_units");
  TFSDK_TRY(c->api->type(c, in[0], &t));
  int32_t rank = t.shape.rank;
  TFSDK_REQUIRE(c, rank >= 1 && axis >= -rank && axis < rank,
                "'axis' is %lld for an input of shape %s", (long long)axis,
                tfsdk_shape_text(&t.shape).s);
  if (axis < 0) axis += rank;
  int64_t channels = t.shape.dim[axis];
  TFSDK_REQUIRE(c, channels > 0 && channels % units == 0,
                "%lld units do not divide the %lld channels of an input of shape %s",
                (long long)units, (long long)channels, tfsdk_shape_text(&t.shape).s);
  /* the axis becomes two, of which the second goes */
  tfsdk_val part[TFSDK_MAX_RANK + 1], shape = tfsdk_emit1(c, "Shape", in[0]);
  uint32_t n = 0;
  for (int32_t i = 0; i < rank; i++) {
    if (i == axis) {
      part[n++] = tfsdk_int_scalar(c, (int32_t)units);
      part[n++] = tfsdk_int_scalar(c, (int32_t)(channels / units));
    } else if (t.shape.dim[i] >= 0) {
      part[n++] = tfsdk_int_scalar(c, (int32_t)t.shape.dim[i]);
    } else {
      part[n++] = tfsdk_emit3(c, "GatherV2", shape, tfsdk_int_scalar(c, i), tfsdk_int_scalar(c, 0));
    }
  }
  tfsdk_attrval zero = tfsdk_a_int("axis", 0);
  tfsdk_val y = tfsdk_emit2(c, "Reshape", in[0], tfsdk_emit(c, "Pack", part, n, &zero, 1));
  int64_t over = axis + 1;
  out[0] = tfsdk_emit2(c, "Max", y, tfsdk_int_vector(c, &over, 1));
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "any shape", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"num_units", "int", NULL, "what the axis has afterwards; divides its extent", 1, 2147483647.0},
    {"axis", "int", "-1", "the channels'", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("maxout", "The maximum of each of `num_units` groups of channels."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(maxout, layers);
