/* ExpandDims: puts an axis of extent 1 into a shape; axes from -(rank + 1) to rank. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  tfsdk_shape y;
  int32_t axis;
  TFSDK_TRY(array_axis_arg(c, 1, x->rank < 0 ? -1 : x->rank + 1, &axis));
  if (x->rank < 0) return NULL;
  if (x->rank == TFSDK_MAX_RANK)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "shape %s has the highest rank, %d, already",
                      tfsdk_shape_text(x).s, TFSDK_MAX_RANK);
  y = tfsdk_shape_of_rank(x->rank + 1);
  if (axis >= 0) {
    for (int32_t i = 0; i < y.rank; i++)
      y.dim[i] = i < axis ? x->dim[i] : i == axis ? 1 : x->dim[i - 1];
  }
  c->out[0].shape = y;
  return NULL;
}

static const tfsdk_arg in[] = {
    {"input", "T", "any shape", 0, 0},
    {"dim", "Tdim", "scalar: where the new axis stands in the output", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "T", "input with one more axis, of extent 1", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0},
                                     {"Tdim", ARRAY_INDEX_TYPES, NULL, "type of dim", 0, 0}};
static const char *const samples[] = {"T[2,3] ; int32(1)", "T[2,3] ; int64(-1)",
                                      "float32[] ; int32(0)", "float32[0] ; int32(-2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ExpandDims", "adds an axis of extent 1"), .flags = TFSDK_OP_VIEW,
     .doc = "The new axis stands at position `dim` of the output; -1 puts it last. Nothing is "
            "copied.\n\nSource: TensorFlow `ExpandDims`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .grad = array_grad_reshape,
     .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(expand_dims, ops);
