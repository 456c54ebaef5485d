/* SpaceToBatchND: moves blocks of the spatial axes into the batch (see batch_space.h). */
#include "batch_space.h"

static tfsdk_status *infer(tfsdk_infer *c) { return array_batch_space_infer(c, 1, 1, 2); }
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_batch_space_run(r, 1, 1, 2);
}
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_batch_space_grad(c, g, "BatchToSpaceND");
}

static const tfsdk_arg in[] = {
    {"input", "T", "[batch, spatial..., rest...]", 0, 0},
    {"block_shape", "Tblock_shape", "vector: the block on each spatial axis", ARRAY_SHAPE_ARG, 0},
    {"paddings", "Tpaddings", "[M, 2]: what is added to each spatial axis, before and after",
     ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "T", "of input's rank", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"Tblock_shape", ARRAY_INDEX_TYPES, "int32", "type of block_shape", 0, 0},
    {"Tpaddings", ARRAY_INDEX_TYPES, "int32", "type of paddings", 0, 0}};
static const char *const samples[] = {"T[1,4,3] ; int32{2} ; int32{{0,0}}",
                                      "float32[2,3,3,2] ; int32{2,3} ; int32{{1,0},{2,1}}",
                                      "float32[0,2] ; int64{2} ; int64{{0,0}}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SpaceToBatchND", "moves blocks of the spatial axes into the batch"),
     .doc = "Position s of the padded axis i goes to position s / block_shape[i] of batch entry (s "
            "mod block_shape, row by row) * batch + b.\n\n"
            "Source: TensorFlow `SpaceToBatchND`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 6, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 6, .samples = samples}};
TFSDK_UNIT_OPS(space_to_batch_nd, ops);
