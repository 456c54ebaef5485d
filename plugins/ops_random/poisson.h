/* Numbers of the Poisson distribution.
 *
 *     P(output[s, j] = k) = rate[j]^k exp(-rate[j]) / k!
 *
 * Rates below 10: Knuth, "The Art of Computer Programming" 2, 3.4.1: uniform numbers are multiplied
 * until the product falls below exp(-rate). Others: Hoermann, "The transformed rejection method for
 * generating Poisson random variables", 1993, algorithm PTRS.
 */
#ifndef OPS_RANDOM_POISSON_H
#define OPS_RANDOM_POISSON_H

#include "draw.h"

static inline double poisson_multiply(draw_source *d, double rate) {
  double limit = exp(-rate), product = draw_double(d), k = 0;
  while (product > limit) {
    product *= draw_double(d);
    k++;
  }
  return k;
}

static inline double poisson_reject(draw_source *d, double rate) {
  double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
  double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  int sign; /* lgamma itself would write a global */
  for (;;) {
    double u = draw_double(d) - 0.5, v = draw_double(d), us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <=
        k * log(rate) - rate - lgamma_r(k + 1, &sign))
      return k;
  }
}

typedef struct poisson_job {
  draw_stream stream;
  const tfsdk_view *rate, *out;
} poisson_job;

static inline void poisson_fill(void *user, int64_t begin, int64_t end) {
  const poisson_job *job = (const poisson_job *)user;
  for (int64_t i = begin; i < end; i++) {
    double rate = tfsdk_view_number(job->rate, i % job->rate->n_elem);
    draw_source d = draw_element(&job->stream, i);
    draw_store(job->out, i, rate < 10 ? poisson_multiply(&d, rate) : poisson_reject(&d, rate));
  }
}

/* Inputs: shape, rate. */
static inline tfsdk_status *poisson_run(tfsdk_run *r) {
  poisson_job job;
  int64_t n = r->out[0].n_elem;
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
  r->api->par_for(r, n, 256, poisson_fill, &job);
  return NULL;
}

#define POISSON_DOC                                                                                \
  "For each rate as many numbers as `shape` says, on the leading axes. Rates must be finite and "  \
  "not negative; rate 0 gives 0. "

#endif
