/* Numbers of the normal distribution.
 *
 *     output[i] ~ N(0, 1)
 *
 * Box and Muller's transform, both numbers of a pair used; in binary64 for float64, else in
 * binary32.
 */
#ifndef OPS_RANDOM_NORMAL_H
#define OPS_RANDOM_NORMAL_H

#include "draw.h"

static inline void normal_block(const draw_job *job, int64_t b, int64_t at, int64_t n) {
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

#endif
