/* Const: a tensor that is part of the graph.
 *
 *     output = value                                        (TensorFlow's Const)
 */
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

/* value[0] is the attribute's tensor: the core shows it for ops that are flagged CONSTANT. */
static tfsdk_status *infer(tfsdk_infer *c) {
  if (c->value != NULL && c->value[0] != NULL) c->out[0].shape = tfsdk_shape_of_view(c->value[0]);
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return r->api->forward_attr(r, tfsdk_attr_find(&r->attr, "value"), 0);
}

static const tfsdk_arg out[] = {{"output", "dtype", "the tensor `value`", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"value", "tensor", NULL, "the constant", 0, 0},
    {"dtype", "dtype", NULL, "its element type", 0, 0},
};
static const char *const samples[] = {
    "| value=float32{1,2,3}; dtype=float32",
    "| value=int32{{1,2},{3,4}}; dtype=int32",
    "| value=float64(7); dtype=float64",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("Const", "a constant tensor"),
    .doc = "The tensor that the attribute `value` holds. The graph keeps one copy, which every run "
           "shares.",
    .flags = TFSDK_OP_CONSTANT | TFSDK_OP_OWN_OUTPUTS | TFSDK_OP_ANY_DEVICE,
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = infer,
    .reference = compute,
    .no_grad_reason = "a constant has no inputs",
    .samples = samples,
}};
TFSDK_UNIT_OPS(const, ops);
