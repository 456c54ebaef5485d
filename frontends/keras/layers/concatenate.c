/* concatenate: its inputs one behind the other along an axis. */
#include "keras.h"

#include <stdlib.h>

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape first, t;
  int32_t axis;
  TFSDK_TRY(keras_input(c, in[0], 1, -1, "batch, ...", &first));
  TFSDK_TRY(keras_one_axis(c, "axis", tfsdk_attr_int(cfg, "axis"), &first, &axis));
  for (size_t i = 1; i < n_in; i++) {
    TFSDK_TRY(c->api->type(c, in[i], &t));
    int fits = t.shape.rank < 0 || t.shape.rank == first.shape.rank;
    for (int32_t k = 0; fits && k < t.shape.rank; k++)
      fits = k == axis || t.shape.dim[k] < 0 || first.shape.dim[k] < 0 ||
             t.shape.dim[k] == first.shape.dim[k];
    TFSDK_REQUIRE(c, fits,
                  "input %zu has the shape %s, the first one %s; they may differ along axis "
                  "%d only",
                  i + 1, tfsdk_shape_text(&t.shape).s, tfsdk_shape_text(&first.shape).s, axis);
  }
  out[0] = in[0];
  if (n_in == 1) return NULL;
  tfsdk_val *part = malloc((n_in + 1) * sizeof *part);
  TFSDK_REQUIRE(c, part != NULL, "no memory for a list of %zu inputs", n_in);
  memcpy(part, in, n_in * sizeof *part);
  part[n_in] = tfsdk_int_scalar(c, axis);
  out[0] = tfsdk_emit(c, "ConcatV2", part, n_in + 1, NULL, 0);
  free(part);
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor*", "of one shape but for the axis", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"axis", "int", "-1", "the axis along which they are joined", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("concatenate", "The inputs one behind the other along an axis."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 1, .build = build}};
TFSDK_UNIT_LAYERS(concatenate, layers);
