/* RandomUniform, StatelessRandomUniform: numbers of the uniform distribution on [0, 1).
 *
 *     output[i] = k[i] / 2^b, b random bits k[i]      (TensorFlow's RandomUniform)
 *
 * b is the width of the type's significand (24, 53, 11 and 8), so that each number is exact and
 * less than 1.
 */
#include "draw.h"

static void block(const draw_job *job, int64_t b, int64_t at, int64_t n) {
  void *data = job->out->data;
  uint32_t w[4];
  tfsdk_philox(job->stream.key, job->stream.counter + (uint64_t)b, w);
  for (int64_t i = 0; i < n; i++) {
    switch (job->out->dtype) {
    case TFSDK_FLOAT32: ((float *)data)[at + i] = tfsdk_uniform_float(w[i]); break;
    case TFSDK_FLOAT64:
      ((double *)data)[at + i] = tfsdk_uniform_double(w[2 * i], w[2 * i + 1]);
      break;
    case TFSDK_FLOAT16:
      ((uint16_t *)data)[at + i] = tfsdk_to_half((float)(w[i] >> 21) * 0x1p-11f);
      break;
    default: ((uint16_t *)data)[at + i] = tfsdk_to_bfloat16((float)(w[i] >> 24) * 0x1p-8f); break;
    }
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return draw_fill(r, NULL, block, 0);
}
static tfsdk_status *compute_stateless(void *state, tfsdk_run *r) {
  (void)state;
  return draw_fill(r, &r->in[1], block, 0);
}

static const tfsdk_arg in[] = {
    {"shape", "T", "a vector: the shape of the output", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg in_stateless[] = {
    {"shape", "T", "a vector: the shape of the output", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
    {"seed", "Tseed", "two integers", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg out[] = {{"output", "dtype", "the numbers", 0, 0}};
static const tfsdk_attrdef attr[] = {
    DRAW_SEED_ATTRS,
    {"dtype", DRAW_FLOATS, NULL, "the type of the numbers", 0, 0},
    {"T", "dtype{int32,int64}", NULL, "the type of `shape`", 0, 0},
};
static const tfsdk_attrdef attr_stateless[] = {
    {"dtype", DRAW_FLOATS, "float32", "the type of the numbers", 0, 0},
    {"T", "dtype{int32,int64}", NULL, "the type of `shape`", 0, 0},
    {"Tseed", "dtype{int32,int64}", NULL, "the type of `seed`", 0, 0},
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
static const char *const samples_stateless[] = {
    "int32{2,3} ; int32{1,2}",
    "int64{5} ; int64{-1,2} | dtype=float64",
    "int32{7} ; int32{1,2} | dtype=float16",
    "int32{7} ; int32{1,2} | dtype=bfloat16",
    "int32{0,3} ; int32{1,2}",
    NULL,
};
static const tfsdk_opdef ops[] = {
    {
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
    },
    {
        TFSDK_OP_HEAD("StatelessRandomUniform",
                      "numbers of the uniform distribution on [0, 1), told by the seed"),
        .doc = "Uniformly distributed numbers, 0 <= x < 1. " DRAW_STATELESS_DOC,
        .in = in_stateless,
        .n_in = TFSDK_COUNT(in_stateless),
        .out = out,
        .n_out = TFSDK_COUNT(out),
        .attr = attr_stateless,
        .n_attr = TFSDK_COUNT(attr_stateless),
        .const_in = 1,
        .infer = draw_infer_stateless,
        .reference = compute_stateless,
        .no_grad_reason = DRAW_NO_GRAD,
        .samples = samples_stateless,
    }};
TFSDK_UNIT_OPS(random_uniform, ops);
