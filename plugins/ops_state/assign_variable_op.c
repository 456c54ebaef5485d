/* AssignVariableOp: gives a variable a new value.
 *
 *     the variable = value                                  (TensorFlow's AssignVariableOp)
 */
#include "state.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return r->api->var_assign(r, 0, 1);
}

static const tfsdk_arg in[] = {
    {"resource", "resource", "the variable's handle", TFSDK_ARG_HOST, 0},
    {"value", "dtype", "the new value, of the variable's type and shape", 0, 0},
};
static const tfsdk_attrdef attr[] = {
    {"dtype", "dtype", NULL, "the variable's element type", 0, 0},
    {"validate_shape", "bool", "false",
     "accepted for TensorFlow's sake: the shape is always checked against the handle's", 0, 0},
};
static const char *const samples[] = {
    "var:T[2,3] ; T[2,3]",
    "var:float32[] ; float32(2)",
    "var:float32[0,3] ; float32[0,3]",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("AssignVariableOp", "gives a variable a new value"),
    .doc = "Makes `value` the variable's value, without copying it. A shape that contradicts the "
           "handle's is an error, and so is another element type.",
    .flags = TFSDK_OP_STATEFUL | TFSDK_OP_ANY_DEVICE,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = state_infer_assign,
    .reference = compute,
    .no_grad_reason = STATE_NO_GRAD,
    .samples = samples,
}};
TFSDK_UNIT_OPS(assign_variable_op, ops);
