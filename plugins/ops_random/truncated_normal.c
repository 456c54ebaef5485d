/* TruncatedNormal, StatelessTruncatedNormal: the normal distribution within two deviations.
 *
 *     output[i] ~ N(0, 1), redrawn while |output[i]| > 2    (TensorFlow's TruncatedNormal)
 *
 * The first draws are those of RandomStandardNormal. An element that falls outside (one in 22)
 * redraws from blocks that belong to it alone, so that no element's luck moves another's numbers.
 */
#include "draw.h"

/* RETRIES blocks of 4 numbers (float64: 2): all of them are outside with a chance of 10^-42
 * (10^-21). */
#define RETRIES 8

/* Element i's next number, after its first fell outside. */
static double redraw(const draw_job *job, int64_t i) {
  uint64_t own = job->stream.counter + (uint64_t)(job->blocks + i * RETRIES);
  for (uint64_t a = 0; a < RETRIES; a++) {
    uint32_t w[4];
    tfsdk_philox(job->stream.key, own + a, w);
    if (job->out->dtype == TFSDK_FLOAT64) {
      double z[2];
      draw_normals_double(w, z);
      for (int k = 0; k < 2; k++)
        if (fabs(z[k]) <= 2) return z[k];
    } else {
      float z[4];
      draw_normals(w[0], w[1], z);
      draw_normals(w[2], w[3], z + 2);
      for (int k = 0; k < 4; k++)
        if (fabsf(z[k]) <= 2) return (double)z[k];
    }
  }
  return 0;
}

static void block(const draw_job *job, int64_t b, int64_t at, int64_t n) {
  uint32_t w[4];
  double z[4];
  tfsdk_philox(job->stream.key, job->stream.counter + (uint64_t)b, w);
  if (job->out->dtype == TFSDK_FLOAT64) {
    draw_normals_double(w, z);
  } else {
    float narrow[4];
    draw_normals(w[0], w[1], narrow);
    draw_normals(w[2], w[3], narrow + 2);
    for (int i = 0; i < 4; i++) z[i] = (double)narrow[i];
  }
  for (int64_t i = 0; i < n; i++)
    draw_store(job->out, at + i, fabs(z[i]) <= 2 ? z[i] : redraw(job, at + i));
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return draw_fill(r, NULL, block, RETRIES);
}
static tfsdk_status *compute_stateless(void *state, tfsdk_run *r) {
  (void)state;
  return draw_fill(r, &r->in[1], block, RETRIES);
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
        TFSDK_OP_HEAD("TruncatedNormal",
                      "random numbers of the normal distribution within two deviations"),
        .doc = "Numbers of N(0, 1), each redrawn while it lies outside [-2, 2]: mean 0, deviation "
               "0.87962566. " DRAW_SEED_DOC,
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
        TFSDK_OP_HEAD("StatelessTruncatedNormal",
                      "numbers of the truncated normal distribution, told by the seed"),
        .doc = "Numbers of N(0, 1), each redrawn while it lies outside [-2, 2]: mean 0, deviation "
               "0.87962566. " DRAW_STATELESS_DOC,
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
TFSDK_UNIT_OPS(truncated_normal, ops);
