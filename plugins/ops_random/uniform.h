/* Numbers of the uniform distribution on [0, 1).
 *
 *     output[i] = k[i] / 2^b, b random bits k[i]
 *
 * b is the width of the type's significand (24, 53, 11 and 8), so that each number is exact and
 * less than 1.
 */
#ifndef OPS_RANDOM_UNIFORM_H
#define OPS_RANDOM_UNIFORM_H

#include "draw.h"

static inline void uniform_block(const draw_job *job, int64_t b, int64_t at, int64_t n) {
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

#endif
