/* RandomStandardNormal, StatelessRandomNormal: numbers of the normal distribution.
 *
 *     output[i] ~ N(0, 1)                             (TensorFlow's RandomStandardNormal)
 *
 * Box and Muller's transform, both numbers of a pair used; in binary64 for float64, else in
 * binary32.
 */
#include "draw.h"

static void block(const draw_job *job, int64_t b, int64_t at, int64_t n) {
  uint32_t w[4];
  float z[4];
  tfsdk_philox(job->stream.key, job->stream.counter + (uint64_t)b, w);
  if (job->out->dtype == TFSDK_FLOAT64) {
    double wide[2];
    draw_normals_double(w, wide);
    for (int64_t i = 0; i < n; i++) ((double *)job->out->data)[at + i] = wide[i];
    return;
  }
  draw_normals(w[0], w[1], z);
  draw_normals(w[2], w[3], z + 2);
  for (int64_t i = 0; i < n; i++) draw_store(job->out, at + i, (double)z[i]);
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
        TFSDK_OP_HEAD("RandomStandardNormal", "random numbers of the normal distribution N(0, 1)"),
        .doc = "Normally distributed numbers of mean 0 and deviation 1 (Box and "
               "Muller). " DRAW_SEED_DOC,
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
        TFSDK_OP_HEAD("StatelessRandomNormal",
                      "numbers of the normal distribution N(0, 1), told by the seed"),
        .doc = "Normally distributed numbers of mean 0 and deviation 1 (Box and "
               "Muller). " DRAW_STATELESS_DOC,
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
TFSDK_UNIT_OPS(random_standard_normal, ops);
