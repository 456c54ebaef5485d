/* PlaceholderWithDefault: a value that a run may feed.
 *
 *     output = what the caller feeds, else input            (TensorFlow's PlaceholderWithDefault)
 */
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

/* The static shape is the attribute's even where the input's says more, because a fed value may
 * differ from the default in the axes that the attribute leaves open. When the op runs, the input
 * is whole and so is the output. */
static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape shape = tfsdk_attr_shape(&c->attr, "shape"), both;
  TFSDK_TRY(tfsdk_merge(c, &shape, &c->in[0].shape, "'shape' and the default value", &both));
  c->out[0].shape = shape;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return r->api->forward(r, 0, 0);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  (void)c;
  return tfsdk_set_dx(g, 0, tfsdk_dy(g, 0));
}

static const tfsdk_arg in[] = {{"input", "dtype", "the value of a run that feeds nothing", 0, 0}};
static const tfsdk_arg out[] = {{"output", "dtype", "the value that was fed, or `input`", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"dtype", "dtype", NULL, "the element type", 0, 0},
    {"shape", "shape", "unknown", "what is known of the shape; -1 for an extent that varies", 0, 0},
};
static const char *const samples[] = {
    "float32[2,3] | shape=[-1,3]",
    "int32[4] | shape=[4]",
    "float32[] | shape=[]",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("PlaceholderWithDefault", "a value that may be fed"),
    .doc = "Passes `input` on unless the run feeds this output. The gradient goes to `input`.",
    /* STATEFUL: a run may feed another value, so it is not to be folded */
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
TFSDK_UNIT_OPS(placeholder_with_default, ops);
