/* InTopKV2: whether targets are among the k highest predictions, k a tensor (see in_top.h). */
#include "in_top.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  TFSDK_TRY(array_scalar_arg(c, 2));
  return array_in_top_infer(c);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_in_top_run(r, tfsdk_view_int(&r->in[2], 0));
}

static const tfsdk_arg in[] = {{"predictions", "float32", "[batch, classes]", TFSDK_ARG_NONDIFF, 0},
                               {"targets", "T", "[batch]: a class each", TFSDK_ARG_NONDIFF, 0},
                               {"k", "T", "scalar: how many to look at", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"precision", "bool", "[batch]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_INDEX_TYPES, "int32", "type of targets and k", 0, 0}};
static const char *const samples[] = {"float32[2,4] ; int32{1,3} ; int32(2)",
                                      "float32[0,4] ; int64{} ; int64(1)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("InTopKV2", "whether targets are among the k highest predictions"),
     .doc = "As `InTopK`, with k as an input.\n\nSource: TensorFlow `InTopKV2` (`tf.nn.in_top_k`).",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute,
     .no_grad_reason = "a step function", .samples = samples}};
TFSDK_UNIT_OPS(in_top_k_v2, ops);
