/* NoOp: does nothing. With control inputs it is a group: it is done when they are.
 *                                                           (TensorFlow's NoOp)
 */
#include <tfsdk/unit.h>

static tfsdk_status *infer(tfsdk_infer *c) {
  (void)c;
  return NULL;
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  (void)r;
  return NULL;
}

static const char *const samples[] = {"", NULL};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("NoOp", "does nothing; waits for its control inputs"),
    .doc =
        "Has neither inputs nor outputs. Running it runs the ops that it depends on: this is how "
        "several ops become one.",
    .flags = TFSDK_OP_STATEFUL | TFSDK_OP_ANY_DEVICE,
    .infer = infer,
    .reference = compute,
    .no_grad_reason = "has no inputs",
    .samples = samples,
}};
TFSDK_UNIT_OPS(no_op, ops);
