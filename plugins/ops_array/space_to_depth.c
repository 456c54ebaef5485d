/* SpaceToDepth: moves blocks of an image into channels (see depth.h). */
#include "depth.h"

static tfsdk_status *infer(tfsdk_infer *c) { return array_depth_infer(c, 1); }
static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_depth_run(r, 1); }
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_depth_grad(c, g, "DepthToSpace");
}

static const tfsdk_arg in[] = {{"input", "T", "images; height and width multiples of B", 0, 0}};
static const tfsdk_arg out[] = {
    {"output", "T", "images, B times smaller and B * B times deeper", 0, 0}};
static const tfsdk_attrdef attr[] = {ARRAY_DEPTH_ATTRS};
static const char *const samples[] = {"T[1,4,2,3] | block_size=2",
                                      "float32[2,1,4,6] | block_size=2;data_format=NCHW",
                                      "float32[0,2,2,1] | block_size=2", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SpaceToDepth", "moves blocks of an image into channels"),
     .doc = "Each block of B x B pixels becomes one pixel whose channels are the block's pixels, "
            "row by "
            "row.\n\nSource: TensorFlow `SpaceToDepth`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad,
     .samples = samples}};
TFSDK_UNIT_OPS(space_to_depth, ops);
