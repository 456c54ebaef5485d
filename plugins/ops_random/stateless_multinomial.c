/* StatelessMultinomial: classes drawn with given chances, told by the seed (TensorFlow's op).
 * Law and source: classes.h.
 */
#include "classes.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return classes_run(r, &r->in[2]);
}

static tfsdk_status *infer(tfsdk_infer *c) {
  TFSDK_TRY(draw_infer_seed(c, 2));
  return classes_infer(c);
}

static const tfsdk_arg in[] = {
    {"logits", "T", "[batch, classes]: logarithms of the chances, up to a constant per row",
     TFSDK_ARG_NONDIFF, 0},
    {"num_samples", "int32", "a scalar: samples per row", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
    {"seed", "Tseed", "two integers", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg out[] = {
    {"output", "output_dtype", "[batch, num_samples]: classes, from 0", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", DRAW_FLOATS, NULL, "the type of `logits`", 0, 0},
    {"Tseed", "dtype{int32,int64}", NULL, "the type of `seed`", 0, 0},
    {"output_dtype", "dtype{int32,int64}", "int64", "the type of the output", 0, 0},
};
static const char *const samples[] = {
    "T[2,3] ; int32(4) ; int32{1,2}",
    "float32[2,3] ; int32(2) ; int64{1,2} | output_dtype=int32",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("StatelessMultinomial", "classes with given log chances, told by the seed"),
    .doc = "Draws `num_samples` classes for each row of `logits`, with replacement. A logit of "
           "-inf is a chance of 0; NaN and +inf are errors. " DRAW_STATELESS_DOC,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .const_in = 2,
    .infer = infer,
    .reference = compute,
    .no_grad_reason = "integers",
    .samples = samples,
}};
TFSDK_UNIT_OPS(stateless_multinomial, ops);
