/* The normal distribution within two deviations.
 *
 *     output[i] ~ N(0, 1), redrawn while |output[i]| > 2
 *
 * The first draws are those of RandomStandardNormal. An element that falls outside (one in 22)
 * redraws from blocks that belong to it alone, so that no element's luck moves another's numbers.
 */
#ifndef OPS_RANDOM_TRUNCATED_H
#define OPS_RANDOM_TRUNCATED_H

#include "draw.h"

/* TRUNCATED_RETRIES blocks of 4 numbers (float64: 2): all of them are outside with a chance of
 * 10^-42 (10^-21). */
#define TRUNCATED_RETRIES 8

/* Element i's next number, after its first fell outside. */
static inline double truncated_redraw(const draw_job *job, int64_t i) {
  uint64_t own = job->stream.counter + (uint64_t)(job->blocks + i * TRUNCATED_RETRIES);
  for (uint64_t a = 0; a < TRUNCATED_RETRIES; a++) {
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

static inline void truncated_block(const draw_job *job, int64_t b, int64_t at, int64_t n) {
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
    draw_store(job->out, at + i, fabs(z[i]) <= 2 ? z[i] : truncated_redraw(job, at + i));
}

#endif
