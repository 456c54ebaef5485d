/* VarIsInitializedOp: whether a variable has a value.
 *
 *     is_initialized = the variable was assigned            (TensorFlow's VarIsInitializedOp)
 */
#include "state.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  *(uint8_t *)r->out[0].data = r->api->var_initialized(r, 0) != 0;
  return NULL;
}

static const tfsdk_arg in[] = {
    {"resource", "resource", "the variable's handle", TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {
    {"is_initialized", "bool", "a scalar: true if the variable has a value", TFSDK_ARG_HOST, 0}};
static const char *const samples[] = {"var:float32[2,3]", "var:int32[]", NULL};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("VarIsInitializedOp", "whether a variable has a value"),
    .doc = "True once the variable was assigned. Never fails.",
    .flags = TFSDK_OP_STATEFUL | TFSDK_OP_ANY_DEVICE,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .infer = tfsdk_infer_scalar,
    .reference = compute,
    .no_grad_reason = "a boolean",
    .samples = samples,
}};
TFSDK_UNIT_OPS(var_is_initialized_op, ops);
