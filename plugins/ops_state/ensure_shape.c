/* EnsureShape: checks a shape, when the graph is built as far as it is known, and when it runs.
 *
 *     output = input, if its shape is compatible with `shape`      (TensorFlow's EnsureShape)
 */
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

/* When the op runs, the input's shape is whole, so that this rule is all the checking there is. */
static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape want = tfsdk_attr_shape(&c->attr, "shape");
  return tfsdk_merge(c, &c->in[0].shape, &want, "'input' and the shape to ensure",
                     &c->out[0].shape);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return r->api->forward(r, 0, 0);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  (void)c;
  return tfsdk_set_dx(g, 0, tfsdk_dy(g, 0));
}

static const tfsdk_arg in[] = {{"input", "T", "any tensor", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "the same tensor", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "the element type", 0, 0},
    {"shape", "shape", NULL, "what the shape must be; -1 for any extent", 0, 0},
};
static const char *const samples[] = {
    "T[2,3] | shape=[-1,3]",
    "float32[0,3] | shape=[0,3]",
    "float32[] | shape=[]",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("EnsureShape", "checks a tensor's shape"),
    .doc = "Passes `input` on, or fails naming both shapes. What `shape` says becomes known to the "
           "ops that follow.",
    .flags = TFSDK_OP_VIEW,
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
TFSDK_UNIT_OPS(ensure_shape, ops);
