/* unit_norm: vectors along an axis, divided by their length. */
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t axis = tfsdk_attr_int(cfg, "dim");
  TFSDK_TRY(c->api->type(c, in[0], &t));
  TFSDK_REQUIRE(c, t.shape.rank < 0 || (axis >= -t.shape.rank && axis < t.shape.rank),
                "'dim' is %lld for an input of shape %s", (long long)axis,
                tfsdk_shape_text(&t.shape).s);
  tfsdk_val arg[2] = {tfsdk_emit1(c, "Square", in[0]), tfsdk_int_vector(c, &axis, 1)};
  tfsdk_attrval keep = tfsdk_a_bool("keep_dims", 1);
  tfsdk_val sum = tfsdk_emit(c, "Sum", arg, 2, &keep, 1);
  sum = tfsdk_emit2(c, "AddV2", sum, tfsdk_scalar_like(c, sum, tfsdk_attr_float(cfg, "epsilon")));
  out[0] = tfsdk_emit2(c, "RealDiv", in[0], tfsdk_emit1(c, "Sqrt", sum));
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "any shape", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"dim", "int", NULL, "the axis of the vectors", 0, 0},
    {"epsilon", "float", "1e-7", "added to the sum of squares", 0, 1e30}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("unit_norm", "`inputs / sqrt(sum of squares along dim + epsilon)`."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(unit_norm, layers);
