/* RandomUniformInt, StatelessRandomUniformInt: whole numbers, each of a range alike.
 *
 *     output[i] in minval .. maxval - 1                     (TensorFlow's RandomUniformInt)
 *
 * A product of random bits and the range, of which the high part counts: with 32 bits more than the
 * range has, no number is favoured by more than one part in 2^32 (int64: 2^64). A remainder would
 * favour small numbers.
 */
#include "draw.h"

typedef struct int_job {
  draw_stream stream;
  int64_t low, n;
  uint64_t range;
  void *data;
  int wide;
} int_job;

static void fill(void *user, int64_t begin, int64_t end) {
  const int_job *job = (const int_job *)user;
  uint32_t w[4];
  for (int64_t b = begin; b < end; b++) {
    tfsdk_philox(job->stream.key, job->stream.counter + (uint64_t)b, w);
    if (job->wide) {
      /* Sums of unsigned numbers wrap around: the range may be wider than int64's positive half. */
      ((int64_t *)job->data)[b] = (int64_t)((uint64_t)job->low + draw_below64(w, job->range));
      continue;
    }
    for (int64_t i = 0; i < 2 && 2 * b + i < job->n; i++)
      ((int32_t *)job->data)[2 * b + i] =
          (int32_t)(job->low + (int64_t)draw_below32(w[2 * i], w[2 * i + 1], job->range));
  }
}

/* `seed`: a stateless op's, or NULL. The bounds are inputs `at` and at + 1. */
static tfsdk_status *run(tfsdk_run *r, const tfsdk_view *seed, uint32_t at) {
  int64_t low = tfsdk_view_int(&r->in[at], 0), high = tfsdk_view_int(&r->in[at + 1], 0), blocks;
  int_job job;
  if (r->out[0].n_elem == 0) return NULL;
  TFSDK_REQUIRE(r, low < high, "'minval' must be less than 'maxval', but they are %lld and %lld",
                (long long)low, (long long)high);
  job.low = low;
  job.range = (uint64_t)high - (uint64_t)low;
  job.n = r->out[0].n_elem;
  job.data = r->out[0].data;
  job.wide = r->out[0].dtype == TFSDK_INT64;
  blocks = job.wide ? job.n : (job.n + 1) / 2;
  if (seed != NULL)
    job.stream = draw_open_seed(seed);
  else
    TFSDK_TRY(draw_open(r, blocks, &job.stream));
  r->api->par_for(r, blocks, 2048, fill, &job);
  return NULL;
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, NULL, 1);
}
static tfsdk_status *compute_stateless(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, &r->in[1], 2);
}

static tfsdk_status *infer_bounds(tfsdk_infer *c, uint32_t at) {
  tfsdk_shape scalar;
  TFSDK_TRY(tfsdk_with_rank(c, at, 0, &scalar));
  return tfsdk_with_rank(c, at + 1, 0, &scalar);
}
static tfsdk_status *infer(tfsdk_infer *c) {
  TFSDK_TRY(infer_bounds(c, 1));
  return draw_infer(c);
}
static tfsdk_status *infer_stateless(tfsdk_infer *c) {
  TFSDK_TRY(infer_bounds(c, 2));
  return draw_infer_stateless(c);
}

static const tfsdk_arg in[] = {
    {"shape", "T", "a vector: the shape of the output", TFSDK_ARG_HOST, 0},
    {"minval", "Tout", "a scalar: the smallest number", TFSDK_ARG_HOST, 0},
    {"maxval", "Tout", "a scalar: one more than the largest number", TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg in_stateless[] = {
    {"shape", "T", "a vector: the shape of the output", TFSDK_ARG_HOST, 0},
    {"seed", "Tseed", "two integers", TFSDK_ARG_HOST, 0},
    {"minval", "dtype", "a scalar: the smallest number", TFSDK_ARG_HOST, 0},
    {"maxval", "dtype", "a scalar: one more than the largest number", TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg out[] = {{"output", "Tout", "the numbers", 0, 0}};
static const tfsdk_arg out_stateless[] = {{"output", "dtype", "the numbers", 0, 0}};
static const tfsdk_attrdef attr[] = {
    DRAW_SEED_ATTRS,
    {"Tout", "dtype{int32,int64}", NULL, "the type of the numbers", 0, 0},
    {"T", "dtype{int32,int64}", NULL, "the type of `shape`", 0, 0},
};
static const tfsdk_attrdef attr_stateless[] = {
    {"dtype", "dtype{int32,int64}", NULL, "the type of the numbers", 0, 0},
    {"T", "dtype{int32,int64}", NULL, "the type of `shape`", 0, 0},
    {"Tseed", "dtype{int32,int64}", NULL, "the type of `seed`", 0, 0},
};
static const char *const samples[] = {
    "int32{2,3} ; int32(-2) ; int32(5) | seed=1; seed2=2",
    "int64{5} ; int64(0) ; int64(1000000000000) | seed=1; seed2=2",
    "int32{0,3} ; int32(0) ; int32(1) | seed=1; seed2=2",
    NULL,
};
static const char *const samples_stateless[] = {
    "int32{2,3} ; int32{1,2} ; int32(-2) ; int32(5)",
    "int64{5} ; int32{1,2} ; int64(0) ; int64(1000000000000)",
    NULL,
};
static const tfsdk_opdef ops[] = {
    {
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
    },
    {
        TFSDK_OP_HEAD("StatelessRandomUniformInt",
                      "whole numbers from minval to maxval - 1, told by the seed"),
        .doc = "Each number from `minval` to `maxval` - 1 is equally likely. A range without "
               "numbers is an error. " DRAW_STATELESS_DOC,
        .in = in_stateless,
        .n_in = TFSDK_COUNT(in_stateless),
        .out = out_stateless,
        .n_out = TFSDK_COUNT(out_stateless),
        .attr = attr_stateless,
        .n_attr = TFSDK_COUNT(attr_stateless),
        .const_in = 1,
        .infer = infer_stateless,
        .reference = compute_stateless,
        .no_grad_reason = "integers",
        .samples = samples_stateless,
    }};
TFSDK_UNIT_OPS(random_uniform_int, ops);
