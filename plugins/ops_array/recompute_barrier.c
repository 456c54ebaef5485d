/* RecomputeBarrier: y = x, and whoever computes from y computes anew.
 *
 * A plan merges nodes that are equal. What is computed from a barrier's output is equal to nothing
 * else, so that a value can be dropped and computed again later (tf.recompute_grad). */
#include "array.h"

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit1(c, "Identity", tfsdk_dy(g, 0)));
}

static const tfsdk_arg in[] = {{"input", "T", "any shape", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "input", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[2,3]", "float32[]", "float32[0,2]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("RecomputeBarrier", "its input, from which everything is computed anew"),
     .flags = TFSDK_OP_VIEW | TFSDK_OP_STATEFUL,
     .doc = "y = x; nothing is copied. Plans merge equal nodes, but never two barriers, nor what "
            "comes from them: so a value can be dropped and computed again when it is needed.",
     ARRAY_SCHEMA(in, out, attr), .infer = tfsdk_infer_same, .grad = grad, .samples = samples}};
TFSDK_UNIT_OPS(recompute_barrier, ops);
