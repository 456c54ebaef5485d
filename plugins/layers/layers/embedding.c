/* embedding: rows of a table by their numbers. */
#include "layers.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t dim[2] = {tfsdk_attr_int(cfg, "input_dim"), tfsdk_attr_int(cfg, "output_dim")};
  tfsdk_val rows = in[0];
  TFSDK_TRY(c->api->type(c, rows, &t));
  if (t.dtype != TFSDK_INT32 && t.dtype != TFSDK_INT64) {
    tfsdk_attrval to = tfsdk_a_dtype("DstT", TFSDK_INT32);
    rows = tfsdk_emit(c, "Cast", &rows, 1, &to, 1);
  }
  tfsdk_val table =
      tfsdk_weight(c, "embeddings", (int32_t)tfsdk_attr_int(cfg, "dtype"), 2, dim, "uniform");
  out[0] = tfsdk_emit3(c, "GatherV2", table, rows, tfsdk_int_scalar(c, 0));
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "numbers in 0 .. input_dim - 1", 0, 0}};
static const tfsdk_arg weight[] = {{"embeddings", "trained", "[input_dim, output_dim]", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"input_dim", "int", NULL, "the number of rows", 1, 2147483647.0},
    {"output_dim", "int", NULL, "the length of a row", 1, 2147483647.0},
    {"dtype", "dtype{float32,float64,float16,bfloat16}", "float32", "of the table", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("embedding", "Row `inputs[...]` of a table for each number."), .param = param,
     .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(embedding, layers);
