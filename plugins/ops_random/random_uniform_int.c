/* RandomUniformInt: whole numbers, each of a range alike (TensorFlow's op).
 * Law and source: uniform_int.h.
 */
#include "uniform_int.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return uniform_int_run(r, NULL, 1);
}

static tfsdk_status *infer(tfsdk_infer *c) {
  TFSDK_TRY(uniform_int_infer(c, 1));
  return draw_infer(c);
}

static const tfsdk_arg in[] = {
    {"shape", "T", "a vector: the shape of the output", TFSDK_ARG_HOST, 0},
    {"minval", "Tout", "a scalar: the smallest number", TFSDK_ARG_HOST, 0},
    {"maxval", "Tout", "a scalar: one more than the largest number", TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg out[] = {{"output", "Tout", "the numbers", 0, 0}};
static const tfsdk_attrdef attr[] = {
    DRAW_SEED_ATTRS,
    {"Tout", "dtype{int32,int64}", NULL, "the type of the numbers", 0, 0},
    {"T", "dtype{int32,int64}", NULL, "the type of `shape`", 0, 0},
};
static const char *const samples[] = {
    "int32{2,3} ; int32(-2) ; int32(5) | seed=1; seed2=2",
    "int64{5} ; int64(0) ; int64(1000000000000) | seed=1; seed2=2",
    "int32{0,3} ; int32(0) ; int32(1) | seed=1; seed2=2",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("RandomUniformInt", "random whole numbers from minval to maxval - 1"),
    .doc = "Each number from `minval` to `maxval` - 1 is equally likely. A range without "
           "numbers is an error. " DRAW_SEED_DOC,
    .flags = TFSDK_OP_RANDOM | TFSDK_OP_STATEFUL,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .const_in = 1,
    .infer = infer,
    .reference = compute,
    .no_grad_reason = "integers",
    .samples = samples,
}};
TFSDK_UNIT_OPS(random_uniform_int, ops);
