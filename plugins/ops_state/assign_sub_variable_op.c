/* AssignSubVariableOp: subtracts from a variable in place.
 *
 *     the variable = the variable - value                   (TensorFlow's AssignSubVariableOp)
 */
#include "change.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return change_variable(r, 1);
}

static const tfsdk_arg in[] = {
    {"resource", "resource", "the variable's handle", TFSDK_ARG_HOST, 0},
    {"value", "dtype", "what to subtract, of the variable's type and shape", 0, 0},
};
static const tfsdk_attrdef attr[] = {
    {"dtype", STATE_NUMBERS, NULL, "the variable's element type", 0, 0},
};
static const char *const samples[] = {
    "var:T[2,3] ; T[2,3]",
    "var:float32[] ; float32(2)",
    "var:float32[0,3] ; float32[0,3]",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("AssignSubVariableOp", "subtracts from a variable"),
    .doc = "Subtracts `value` from the variable in place. There is no broadcasting. Integers wrap "
           "around.",
    .flags = TFSDK_OP_STATEFUL,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = state_infer_assign,
    .reference = compute,
    .no_grad_reason = STATE_NO_GRAD,
    .samples = samples,
}};
TFSDK_UNIT_OPS(assign_sub_variable_op, ops);
