/* winograd.h - convolutions of 3x3 and 5x5 taps by Winograd's minimal filtering (Lavin and Gray,
 * "Fast algorithms for convolutional neural networks", 2015): with six points on each axis a tile
 * of 4x4 outputs of a 3x3 filter takes 36 multiplications for each pair of channels instead of 144,
 * a tile of 2x2 outputs of a 5x5 filter 36 instead of 100. The points are 0, infinity, +-5/8 and
 * +-3/2: for random data their rounding errors are half of those of the usual +-1, +-2 (rms 2.5 to
 * 4 times the error of plain float sums, 1e-6 of the output's rms with 64 channels, 2e-6 with 512).
 *
 * Only convolutions of conv.h that step by one pixel, whose channels on both sides are multiples of
 * 16, and for which it pays; the choice depends on shapes alone. Infinities and NaNs spread over
 * the tile that they are in.
 */
#ifndef TFSDK_CPU_WINOGRAD_H
#define TFSDK_CPU_WINOGRAD_H

#include "conv.h"

/* Whether these maps are computed so. */
int cpu_winograd_takes(const cpu_conv *v);
int cpu_winograd_takes_filter(const cpu_conv *v);
/* As cpu_conv_scratch and so on. */
size_t cpu_winograd_scratch(const cpu_conv *v, uint32_t threads);
void cpu_winograd_run(tfsdk_run *r, const cpu_conv *v, uint32_t threads, void *scratch);
size_t cpu_winograd_filter_scratch(const cpu_conv *v, uint32_t threads);
void cpu_winograd_filter_run(tfsdk_run *r, const cpu_conv *v, uint32_t threads, float *df,
                             void *scratch);

/* The transforms of one instruction set. Pairs: for 3 taps (4 outputs), for 5 taps (2 outputs).
 * Points are `step` elements apart; n and vectors count channels. */
typedef struct cpu_winograd_set {
  int64_t vector;
  void (*input)(const float *const *pixel, int64_t n, float *to, int64_t step);
  void (*output[2])(const float *from, int64_t step, int64_t n, float *const *pixel);
  void (*upstream[2])(const float *const *pixel, int64_t n, float *to, int64_t step);
  /* one vector; tap (i, j) at i * row + j * column */
  void (*filter[2])(const float *tap, int64_t row, int64_t column, float *to, int64_t step);
  void (*filter_grad[2])(const float *from, int64_t step, float *tap, int64_t row, int64_t column);
} cpu_winograd_set;
const cpu_winograd_set *cpu_winograd_f32(void); /* for this processor */

#endif
