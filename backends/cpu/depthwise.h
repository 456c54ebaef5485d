/* depthwise.h - the inner loops of depthwise convolutions: windows of up to 3 by 3 taps slide along a
 * row of pixels, each channel by itself. Steps and strides count elements; channels are adjacent.
 */
#ifndef TFSDK_CPU_DEPTHWISE_H
#define TFSDK_CPU_DEPTHWISE_H

#include "cpu.h"

#define CPU_DEPTHWISE_TAPS 3 /* most on an axis */

/* Pixel o looks at x + o * step + i * row + j * column through tap f + i * f_row + j * f_column. */
typedef struct cpu_depthwise {
  const float *x;
  int64_t row, column, step;
  int64_t f_row, f_column;
  int64_t count, channels;
} cpu_depthwise;

typedef struct cpu_depthwise_set {
  /* y[o * y_step] = sum over the taps;  [rows of taps - 1][columns - 1] */
  void (*sum[3][3])(const cpu_depthwise *d, const float *f, float *y, int64_t y_step);
  /* f += sum over o of x * dy[o * dy_step] */
  void (*grad[3][3])(const cpu_depthwise *d, const float *dy, int64_t dy_step, float *f);
} cpu_depthwise_set;

const cpu_depthwise_set *cpu_depthwise_f32(void); /* for this processor */

#endif
