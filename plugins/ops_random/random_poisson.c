/* RandomPoissonV2 and RandomPoisson: numbers of the Poisson distribution.
 *
 *     P(output[s, j] = k) = rate[j]^k exp(-rate[j]) / k!    (TensorFlow's RandomPoissonV2)
 *
 * Rates below 10: Knuth, "The Art of Computer Programming" 2, 3.4.1: uniform numbers are multiplied
 * until the product falls below exp(-rate). Others: Hoermann, "The transformed rejection method for
 * generating Poisson random variables", 1993, algorithm PTRS.
 */
#include "draw.h"

static double multiply(draw_source *d, double rate) {
  double limit = exp(-rate), product = draw_double(d), k = 0;
  while (product > limit) {
    product *= draw_double(d);
    k++;
  }
  return k;
}

static double reject(draw_source *d, double rate) {
  double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
  double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = draw_double(d) - 0.5, v = draw_double(d), us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <=
        k * log(rate) - rate - lgamma(k + 1))
      return k;
  }
}

typedef struct poisson_job {
  draw_stream stream;
  const tfsdk_view *rate, *out;
} poisson_job;

static void fill(void *user, int64_t begin, int64_t end) {
  const poisson_job *job = (const poisson_job *)user;
  for (int64_t i = begin; i < end; i++) {
    double rate = tfsdk_view_number(job->rate, i % job->rate->n_elem);
    draw_source d = draw_element(&job->stream, i);
    draw_store(job->out, i, rate < 10 ? multiply(&d, rate) : reject(&d, rate));
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  poisson_job job;
  int64_t n = r->out[0].n_elem;
  (void)state;
  job.rate = &r->in[1];
  job.out = &r->out[0];
  for (int64_t i = 0; i < job.rate->n_elem; i++) {
    double rate = tfsdk_view_number(job.rate, i);
    TFSDK_REQUIRE(r, rate >= 0 && rate < INFINITY,
                  "'rate' has the element %g at position %lld; rates are finite and not negative",
                  rate, (long long)i);
  }
  if (n == 0) return NULL;
  TFSDK_TRY(draw_open(r, n * DRAW_OWN, &job.stream));
  r->api->par_for(r, n, 256, fill, &job);
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) { return draw_infer_samples(c, 0, 1); }

#define NUMBERS "dtype{float32,float64,float16,bfloat16,int32,int64}"
#define DOC                                                                                        \
  "For each rate as many numbers as `shape` says, on the leading axes. Rates must be finite and "  \
  "not negative; rate 0 gives 0. "

static const tfsdk_arg in[] = {
    {"shape", "S", "a vector: the shape of the samples of one rate",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
    {"rate", "R", "the means, any shape", TFSDK_ARG_NONDIFF, 0},
};
static const tfsdk_arg in_old[] = {
    {"shape", "S", "a vector: the shape of the samples of one rate",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
    {"rate", "dtype", "the means, any shape", TFSDK_ARG_NONDIFF, 0},
};
static const tfsdk_arg out[] = {
    {"output", "dtype", "the numbers, of shape `shape` followed by rate's", 0, 0}};
static const tfsdk_attrdef attr[] = {
    DRAW_SEED_ATTRS,
    {"S", "dtype{int32,int64}", NULL, "the type of `shape`", 0, 0},
    {"R", NUMBERS, NULL, "the type of `rate`", 0, 0},
    {"dtype", NUMBERS, "int64", "the type of the output", 0, 0},
};
static const tfsdk_attrdef attr_old[] = {
    DRAW_SEED_ATTRS,
    {"S", "dtype{int32,int64}", NULL, "the type of `shape`", 0, 0},
    {"dtype", DRAW_FLOATS, NULL, "the type of `rate` and the output", 0, 0},
};
static const char *const samples[] = {
    "int32{3} ; float32[2](0.5,30) | seed=1; seed2=2",
    "int64{2} ; float64[2](0.5,3) | seed=1; seed2=2; dtype=float64",
    "int32[0] ; float32[2](0.5,3) | seed=1; seed2=2; dtype=int32",
    "int32{0} ; float32[2](0.5,3) | seed=1; seed2=2",
    NULL,
};
static const char *const samples_old[] = {
    "int32{3} ; dtype[2](0.5,30) | seed=1; seed2=2",
    NULL,
};
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("RandomPoissonV2", "random numbers of the Poisson distribution"),
        .doc = DOC DRAW_SEED_DOC,
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
    },
    {
        TFSDK_OP_HEAD("RandomPoisson", "random numbers of the Poisson distribution"),
        .doc = DOC DRAW_SEED_DOC,
        .flags = TFSDK_OP_RANDOM | TFSDK_OP_STATEFUL,
        .in = in_old,
        .n_in = TFSDK_COUNT(in_old),
        .out = out,
        .n_out = TFSDK_COUNT(out),
        .attr = attr_old,
        .n_attr = TFSDK_COUNT(attr_old),
        .const_in = 1,
        .infer = infer,
        .reference = compute,
        .no_grad_reason = "whole numbers",
        .samples = samples_old,
    }};
TFSDK_UNIT_OPS(random_poisson, ops);
