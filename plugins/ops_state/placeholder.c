/* Placeholder: a value that each run must feed.
 *
 *     output = what the caller feeds                        (TensorFlow's Placeholder)
 */
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

static tfsdk_status *infer(tfsdk_infer *c) {
  c->out[0].shape = tfsdk_attr_shape(&c->attr, "shape");
  return NULL;
}

static const tfsdk_arg out[] = {{"output", "dtype", "the value that was fed", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"dtype", "dtype", NULL, "the element type that must be fed", 0, 0},
    {"shape", "shape", "unknown", "what is known of the shape; -1 for an extent that varies", 0, 0},
};
static const char *const samples[] = {
    "| dtype=float32; shape=[2,3]",
    "| dtype=int32; shape=[-1,4]",
    "| dtype=float32",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("Placeholder", "a value that must be fed"),
    .doc =
        "Stands for a tensor that the caller feeds in each run. A run that needs it and does not "
        "feed it fails, and so does feeding another element type or a shape that contradicts "
        "`shape`.",
    .flags = TFSDK_OP_PLACEHOLDER,
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = infer,
    .no_grad_reason = "a placeholder has no inputs",
    .samples = samples,
}};
TFSDK_UNIT_OPS(placeholder, ops);
