/* Multinomial: classes drawn with given chances (TensorFlow's op).
 * Law and source: classes.h.
 */
#include "classes.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return classes_run(r, NULL);
}

static const tfsdk_arg in[] = {
    {"logits", "T", "[batch, classes]: logarithms of the chances, up to a constant per row",
     TFSDK_ARG_NONDIFF, 0},
    {"num_samples", "int32", "a scalar: samples per row", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg out[] = {
    {"output", "output_dtype", "[batch, num_samples]: classes, from 0", 0, 0}};
static const tfsdk_attrdef attr[] = {
    DRAW_SEED_ATTRS,
    {"T", DRAW_FLOATS, NULL, "the type of `logits`", 0, 0},
    {"output_dtype", "dtype{int32,int64}", "int64", "the type of the output", 0, 0},
};
static const char *const samples[] = {
    "T[2,3] ; int32(4) | seed=1; seed2=2",
    "float32[2,3] ; int32(0) | seed=1; seed2=2; output_dtype=int32",
    "float32[0,3] ; int32(2) | seed=1; seed2=2",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("Multinomial", "random classes with given log chances"),
    .doc = "Draws `num_samples` classes for each row of `logits`, with replacement. A logit of "
           "-inf is a chance of 0; NaN and +inf are errors. " DRAW_SEED_DOC,
    .flags = TFSDK_OP_RANDOM | TFSDK_OP_STATEFUL,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .const_in = 2,
    .infer = classes_infer,
    .reference = compute,
    .no_grad_reason = "integers",
    .samples = samples,
}};
TFSDK_UNIT_OPS(multinomial, ops);
