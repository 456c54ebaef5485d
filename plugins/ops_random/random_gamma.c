/* RandomGamma: numbers of the gamma distribution with scale 1.
 *
 *     p(x) = x^(alpha - 1) exp(-x) / Gamma(alpha)           (TensorFlow's RandomGamma)
 *
 * Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26, 2000; for
 * alpha below 1 a number of alpha + 1 is multiplied by u^(1/alpha). In binary64 for every type.
 */
#include "draw.h"

static double gamma_number(draw_source *d, double alpha) {
  double boost = alpha < 1 ? pow(1 - draw_double(d), 1 / alpha) : 1;
  double a = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3, c = 1 / sqrt(9 * a);
  for (;;) {
    double z = draw_normal(d), v = 1 + c * z, u;
    if (v <= 0) continue;
    v = v * v * v;
    u = 1 - draw_double(d); /* in (0, 1] */
    if (u < 1 - 0.0331 * z * z * z * z || log(u) < 0.5 * z * z + a * (1 - v + log(v)))
      return boost * a * v;
  }
}

typedef struct gamma_job {
  draw_stream stream;
  const tfsdk_view *alpha, *out;
} gamma_job;

static void fill(void *user, int64_t begin, int64_t end) {
  const gamma_job *job = (const gamma_job *)user;
  for (int64_t i = begin; i < end; i++) {
    draw_source d = draw_element(&job->stream, i);
    double alpha = tfsdk_view_number(job->alpha, i % job->alpha->n_elem);
    draw_store(job->out, i, gamma_number(&d, alpha));
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  gamma_job job;
  int64_t n = r->out[0].n_elem;
  (void)state;
  job.alpha = &r->in[1];
  job.out = &r->out[0];
  for (int64_t i = 0; i < job.alpha->n_elem; i++) {
    double alpha = tfsdk_view_number(job.alpha, i);
    TFSDK_REQUIRE(r, alpha > 0 && alpha < INFINITY,
                  "'alpha' has the element %g at position %lld; it must be positive and finite",
                  alpha, (long long)i);
  }
  if (n == 0) return NULL;
  TFSDK_TRY(draw_open(r, n * DRAW_OWN, &job.stream));
  r->api->par_for(r, n, 256, fill, &job);
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) { return draw_infer_samples(c, 0, 1); }

/* The quantile of a number is kept while alpha changes: dx/dalpha by RandomGammaGrad, summed over
 * the samples of each alpha. Samples stand on the leading axes, as those do that broadcasting adds.
 */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val alpha = tfsdk_input(g, 1);
  tfsdk_val slope = tfsdk_emit2(c, "RandomGammaGrad", alpha, tfsdk_output(g, 0));
  tfsdk_val dy = tfsdk_emit2(c, "Mul", tfsdk_dy(g, 0), slope);
  return tfsdk_set_dx(g, 1, tfsdk_sum_like(c, dy, alpha));
}

static const tfsdk_arg in[] = {
    {"shape", "S", "a vector: the shape of the samples of one alpha",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
    {"alpha", "T", "the shape parameters of the law, positive, any shape", 0, 0},
};
static const tfsdk_arg out[] = {
    {"output", "T", "the numbers, of shape `shape` followed by alpha's", 0, 0}};
static const tfsdk_attrdef attr[] = {
    DRAW_SEED_ATTRS,
    {"S", "dtype{int32,int64}", NULL, "the type of `shape`", 0, 0},
    {"T", DRAW_FLOATS, NULL, "the type of `alpha` and the output", 0, 0},
};
static const char *const samples[] = {
    "nograd int32{3} ; T[2](0.5,3) | seed=1; seed2=2",
    "nograd int32[0] ; float32[2](0.5,3) | seed=1; seed2=2",
    "nograd int64{0} ; float32[2](0.5,3) | seed=1; seed2=2",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("RandomGamma", "random numbers of the gamma distribution"),
    .doc =
        "For each alpha as many numbers as `shape` says, on the leading axes; divide by beta for "
        "another scale. The gradient of `alpha` is that of the quantile function (implicit "
        "reparametrisation, Figurnov et al. 2018). " DRAW_SEED_DOC,
    .flags = TFSDK_OP_RANDOM | TFSDK_OP_STATEFUL,
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .const_in = 1,
    .grad_in = 2,
    .grad_out = 1,
    .infer = infer,
    .reference = compute,
    .grad = grad,
    .samples = samples,
}};
TFSDK_UNIT_OPS(random_gamma, ops);
