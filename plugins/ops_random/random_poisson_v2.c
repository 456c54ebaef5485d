/* RandomPoissonV2: numbers of the Poisson distribution (TensorFlow's op).
 * Law and source: poisson.h.
 */
#include "poisson.h"

#define NUMBERS "dtype{float32,float64,float16,bfloat16,int32,int64}"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return poisson_run(r);
}
static tfsdk_status *infer(tfsdk_infer *c) { return draw_infer_samples(c, 0, 1); }

static const tfsdk_arg in[] = {
    {"shape", "S", "a vector: the shape of the samples of one rate",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
    {"rate", "R", "the means, any shape", TFSDK_ARG_NONDIFF, 0},
};
static const tfsdk_arg out[] = {
    {"output", "dtype", "the numbers, of shape `shape` followed by rate's", 0, 0}};
static const tfsdk_attrdef attr[] = {
    DRAW_SEED_ATTRS,
    {"S", "dtype{int32,int64}", NULL, "the type of `shape`", 0, 0},
    {"R", NUMBERS, NULL, "the type of `rate`", 0, 0},
    {"dtype", NUMBERS, "int64", "the type of the output", 0, 0},
};
static const char *const samples[] = {
    "int32{3} ; float32[2](0.5,30) | seed=1; seed2=2",
    "int64{2} ; float64[2](0.5,3) | seed=1; seed2=2; dtype=float64",
    "int32[0] ; float32[2](0.5,3) | seed=1; seed2=2; dtype=int32",
    "int32{0} ; float32[2](0.5,3) | seed=1; seed2=2",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("RandomPoissonV2", "random numbers of the Poisson distribution"),
    .doc = POISSON_DOC DRAW_SEED_DOC,
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
    .no_grad_reason = "whole numbers",
    .samples = samples,
}};
TFSDK_UNIT_OPS(random_poisson_v2, ops);
