/* RandomUniform: numbers of the uniform distribution on [0, 1) (TensorFlow's op).
 * Law and source: uniform.h.
 */
#include "uniform.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return draw_fill(r, NULL, uniform_block, 0);
}

static const tfsdk_arg in[] = {
    {"shape", "T", "a vector: the shape of the output", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {{"output", "dtype", "the numbers", 0, 0}};
static const tfsdk_attrdef attr[] = {
    DRAW_SEED_ATTRS,
    {"dtype", DRAW_FLOATS, NULL, "the type of the numbers", 0, 0},
    {"T", "dtype{int32,int64}", NULL, "the type of `shape`", 0, 0},
};
static const char *const samples[] = {
    "int32{2,3} | dtype=float32; seed=1; seed2=2",
    "int64{5} | dtype=float64; seed=1; seed2=2",
    "int32{7} | dtype=float16; seed=1; seed2=2",
    "int32{7} | dtype=bfloat16; seed=1; seed2=2",
    "int32{0,3} | dtype=float32; seed=1; seed2=2",
    "int32[0] | dtype=float32; seed=1; seed2=2",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("RandomUniform", "random numbers of the uniform distribution on [0, 1)"),
    .doc = "Uniformly distributed numbers, 0 <= x < 1. " DRAW_SEED_DOC,
    .flags = TFSDK_OP_RANDOM | TFSDK_OP_STATEFUL,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .const_in = 1,
    .infer = draw_infer,
    .reference = compute,
    .no_grad_reason = DRAW_NO_GRAD,
    .samples = samples,
}};
TFSDK_UNIT_OPS(random_uniform, ops);
