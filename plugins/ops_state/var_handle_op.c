/* VarHandleOp: the handle of a variable.
 *
 *     resource = the variable called shared_name            (TensorFlow's VarHandleOp)
 */
#include "state.h"

/* A resource's static shape is its variable's: shape rules of ops that take the handle rely on it.
 */
static tfsdk_status *infer(tfsdk_infer *c) {
  c->out[0].shape = tfsdk_attr_shape(&c->attr, "shape");
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const char *name = tfsdk_attr_string(&r->attr, "shared_name");
  tfsdk_shape shape = tfsdk_attr_shape(&r->attr, "shape");
  (void)state;
  if (name[0] == '\0') name = r->api->node_name(r);
  return r->api->var_handle(r, name, (int32_t)tfsdk_attr_int(&r->attr, "dtype"), &shape, 0);
}

static const tfsdk_arg out[] = {{"resource", "resource", "the handle", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {
    {"container", "string", "", "accepted for TensorFlow's sake; has no effect", 0, 0},
    {"shared_name", "string", "", "the variable's name; empty: the node's name", 0, 0},
    {"dtype", "dtype", NULL, "the element type of its values", 0, 0},
    {"shape", "shape", NULL, "the shape of its values; -1 for an extent that may change", 0, 0},
};
static const char *const samples[] = {
    "| shared_name=sample; dtype=float32; shape=[2,3]",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("VarHandleOp", "the handle of a variable"),
    .doc =
        "Names a variable of the session (in eager mode: of the runtime), which is made, without "
        "a value, when there is none of that name. Two handles with the same name mean the same "
        "variable; their `dtype` and `shape` must agree.",
    .flags = TFSDK_OP_STATEFUL | TFSDK_OP_ANY_DEVICE,
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = infer,
    .reference = compute,
    .no_grad_reason = "a handle has no inputs",
    .samples = samples,
}};
TFSDK_UNIT_OPS(var_handle_op, ops);
