/* conv.h - convolution of channels-last images as a matrix product that never builds its large
 * matrix.
 *
 * All three maps of a convolution (forward, and the gradients with respect to image and filter) are
 *
 *     dst[n, i, j, o] = sum over tap (s, t), channel c of  src[n, y, x, c] * filter[s, t, c, o]
 *                       with y = i * stride_h + first_h + s * step_h,  x likewise
 *
 * or that map's adjoint in `filter`. The gradient with respect to the image is a convolution of the
 * upstream gradient, one for each phase of the stride; see kernels/conv2d.c. What lies outside of
 * the image is zero.
 *
 * A few rows of an image are copied with their padding into a buffer that fits the second-level
 * cache; there the sources of neighbouring positions are a constant stride apart, and those of
 * neighbouring taps adjacent, which is all that the tile kernels of gemm.h need.
 */
#ifndef TFSDK_CPU_CONV_H
#define TFSDK_CPU_CONV_H

#include "gemm.h"

typedef struct cpu_conv_axis {
  int64_t in;          /* extent of src */
  int64_t out;         /* positions */
  int64_t taps;        /* at least 1 */
  int64_t stride;      /* of positions in src */
  int64_t first, step; /* offset of the first tap, and from tap to tap (at least 1) */
} cpu_conv_axis;

typedef struct cpu_conv {
  int32_t dtype;
  int64_t batch;
  cpu_conv_axis h, w;
  const void *src;            /* at its first channel */
  int64_t src_pixel;          /* elements from pixel to pixel */
  int64_t channels;           /* that are read */
  const void *filter;         /* at tap (0, 0) */
  int64_t f_h, f_w, f_c, f_o; /* its strides, in elements; they may be negative */
  void *dst;
  int64_t dst_image, dst_row, dst_pixel; /* strides */
  int64_t n;                             /* output channels */
  /* Not NULL: its `finish` is called for each pixel of dst, all of whose channels are here. */
  tfsdk_run *finish;
} cpu_conv;

/* Bytes that cpu_conv_run needs, and does it. `threads` is what the loops of r may use. */
size_t cpu_conv_scratch(const cpu_conv *v, uint32_t threads);
void cpu_conv_run(tfsdk_run *r, const cpu_conv *v, uint32_t threads, void *scratch);

/* The adjoint in the filter: filter (as `df`, with f_o = 1 and f_c, f_w, f_h adjacent rows) is the
 * output, dst is read. */
size_t cpu_conv_filter_scratch(const cpu_conv *v, uint32_t threads);
void cpu_conv_filter_run(tfsdk_run *r, const cpu_conv *v, uint32_t threads, void *df,
                         void *scratch);

#endif
