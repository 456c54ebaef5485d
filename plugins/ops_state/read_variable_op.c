/* ReadVariableOp: a variable's present value.
 *
 *     value = the variable                                  (TensorFlow's ReadVariableOp)
 */
#include "state.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  c->out[0].shape = c->in[0].shape;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return r->api->var_read(r, 0, 0);
}

/* The gradient of the handle is that of the value, rows and all: optimizers ask for it. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  (void)c;
  return tfsdk_set_dx(g, 0, g->api->dy_or_slices(g, 0));
}

static const tfsdk_arg in[] = {
    {"resource", "resource", "the variable's handle", TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {{"value", "dtype", "its value when the op runs", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"dtype", "dtype", NULL, "the variable's element type", 0, 0},
};
static const char *const samples[] = {
    "var:float32[2,3] | dtype=float32",
    "var:int64[4] | dtype=int64",
    "var:float64[] | dtype=float64",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ReadVariableOp", "the value of a variable"),
    .doc = "The value at the moment when the op runs. Later assignments do not change a value that "
           "was read. Reading a variable that has no value yet is an error that names it.",
    .flags = TFSDK_OP_STATEFUL | TFSDK_OP_OWN_OUTPUTS | TFSDK_OP_ANY_DEVICE,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = infer,
    .reference = compute,
    .grad = grad,
    .samples = samples,
}};
TFSDK_UNIT_OPS(read_variable_op, ops);
