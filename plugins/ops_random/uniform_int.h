/* Whole numbers, each of a range alike.
 *
 *     output[i] in minval .. maxval - 1
 *
 * A product of random bits and the range, of which the high part counts: with 32 bits more than the
 * range has, no number is favoured by more than one part in 2^32 (int64: 2^64). A remainder would
 * favour small numbers.
 */
#ifndef OPS_RANDOM_UNIFORM_INT_H
#define OPS_RANDOM_UNIFORM_INT_H

#include "draw.h"

typedef struct int_job {
  draw_stream stream;
  int64_t low, n;
  uint64_t range;
  void *data;
  int wide;
} int_job;

static inline void uniform_int_fill(void *user, int64_t begin, int64_t end) {
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
static inline tfsdk_status *uniform_int_run(tfsdk_run *r, const tfsdk_view *seed, uint32_t at) {
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
  r->api->par_for(r, blocks, 2048, uniform_int_fill, &job);
  return NULL;
}

/* The bounds are scalars. */
static inline tfsdk_status *uniform_int_infer(tfsdk_infer *c, uint32_t at) {
  tfsdk_shape scalar;
  TFSDK_TRY(tfsdk_with_rank(c, at, 0, &scalar));
  return tfsdk_with_rank(c, at + 1, 0, &scalar);
}

#endif
