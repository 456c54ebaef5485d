/* DepthToSpace: moves channels into blocks of an image (see depth.h). */
#include "depth.h"

static tfsdk_status *infer(tfsdk_infer *c) { return array_depth_infer(c, 0); }
static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_depth_run(r, 0); }
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_depth_grad(c, g, "SpaceToDepth");
}

static const tfsdk_arg in[] = {{"input", "T", "images; channels a multiple of B * B", 0, 0}};
static const tfsdk_arg out[] = {
    {"output", "T", "images, B times larger, with B * B times fewer channels", 0, 0}};
static const tfsdk_attrdef attr[] = {ARRAY_DEPTH_ATTRS};
static const char *const samples[] = {"T[1,2,1,8] | block_size=2",
                                      "float32[2,4,2,3] | block_size=2;data_format=NCHW",
                                      "float32[0,2,2,4] | block_size=2", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("DepthToSpace", "moves channels into blocks of an image"),
     .doc = "The opposite of `SpaceToDepth`.\n\nSource: TensorFlow `DepthToSpace`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad,
     .samples = samples}};
TFSDK_UNIT_OPS(depth_to_space, ops);
