/* flatten: all axes but the batch become one. */
#include "layers.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int64_t perm[TFSDK_MAX_RANK], dim[2] = {0, 1};
  int32_t axis[2] = {0, 0};
  tfsdk_val x = in[0];
  TFSDK_TRY(layer_input(c, x, 1, -1, "batch, ...", &t));
  int32_t rank = t.shape.rank;
  if (layer_first(cfg) && rank > 2) { /* channels go to the end first */
    perm[0] = 0;
    for (int32_t i = 1; i < rank; i++) perm[i] = i + 1 < rank ? i + 1 : 1;
    x = layer_transpose(c, x, perm, (uint32_t)rank);
  }
  dim[0] = t.shape.dim[0];
  for (int32_t i = 1; i < rank && dim[1] >= 0; i++)
    dim[1] = t.shape.dim[i] < 0 ? -1 : dim[1] * t.shape.dim[i];
  if (dim[0] < 0 && dim[1] < 0) { /* one of the two unknown extents is left to the reshape */
    tfsdk_attrval at = tfsdk_a_int("axis", 0);
    tfsdk_val part[2] = {layer_extent(c, x, axis[0]), tfsdk_int_scalar(c, -1)};
    out[0] = tfsdk_emit2(c, "Reshape", x, tfsdk_emit(c, "Pack", part, 2, &at, 1));
  } else if (dim[0] < 0 && dim[1] == 0) { /* no element tells the batch */
    tfsdk_attrval at = tfsdk_a_int("axis", 0);
    tfsdk_val part[2] = {layer_extent(c, x, 0), tfsdk_int_scalar(c, 0)};
    out[0] = tfsdk_emit2(c, "Reshape", x, tfsdk_emit(c, "Pack", part, 2, &at, 1));
  } else {
    out[0] = tfsdk_emit2(c, "Reshape", x, tfsdk_int_vector(c, dim, 2));
  }
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "[batch, ...]", 0, 0}};
static const tfsdk_attrdef param[] = {LAYER_FORMAT};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("flatten", "All axes but the first become one, channels running fastest."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(flatten, layers);
