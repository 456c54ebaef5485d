/* SpaceToBatch: moves blocks of the spatial axes into the batch (see batch_space.h). */
#include "batch_space.h"

static tfsdk_status *infer(tfsdk_infer *c) { return array_batch_space_infer(c, 1, -1, 1); }
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_batch_space_run(r, 1, -1, 1);
}
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_batch_space_grad(c, g, "BatchToSpace");
}

static const tfsdk_arg in[] = {{"input", "T", "[batch, height, width, depth]", 0, 0},
                               {"paddings", "Tpaddings",
                                "[2, 2]: what is added to each spatial axis, before and after",
                                ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "T", "of input's rank", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"Tpaddings", ARRAY_INDEX_TYPES, "int32", "type of paddings", 0, 0},
    {"block_size", "int", NULL, "the block on both spatial axes", 2, 65536}};
static const char *const samples[] = {"T[1,4,2,3] ; int32{{0,0},{0,0}} | block_size=2",
                                      "float32[1,3,3,1] ; int32{{1,0},{0,1}} | block_size=2", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SpaceToBatch", "moves blocks of the spatial axes into the batch"),
     .doc = "`SpaceToBatchND` with one block for height and width.\n\n"
            "Source: TensorFlow `SpaceToBatch`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 2, .samples = samples}};
TFSDK_UNIT_OPS(space_to_batch, ops);
