/* InTopK: whether targets are among the k highest predictions, k an attribute (see in_top.h). */
#include "in_top.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_in_top_run(r, tfsdk_attr_int(&r->attr, "k"));
}

static const tfsdk_arg in[] = {{"predictions", "float32", "[batch, classes]", TFSDK_ARG_NONDIFF, 0},
                               {"targets", "T", "[batch]: a class each", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"precision", "bool", "[batch]", 0, 0}};
static const tfsdk_attrdef attr[] = {{"k", "int", NULL, "how many to look at", 0, 0},
                                     {"T", ARRAY_INDEX_TYPES, "int32", "type of targets", 0, 0}};
static const char *const samples[] = {"float32[2,4] ; int32{1,3} | k=2",
                                      "float32[0,4] ; int64{} | k=1", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("InTopK", "whether targets are among the k highest predictions"),
     .doc = "True if fewer than k predictions are greater than the target's: ties at the border "
            "count as "
            "inside. False for a target that is no class, and where a prediction is not finite.\n\n"
            "Source: TensorFlow `InTopK`.",
     ARRAY_SCHEMA(in, out, attr), .infer = array_in_top_infer, .reference = compute,
     .no_grad_reason = "a step function", .samples = samples}};
TFSDK_UNIT_OPS(in_top_k, ops);
