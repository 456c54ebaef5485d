/* depth.h - what SpaceToDepth and DepthToSpace share.
 *
 * NHWC: position (h, w) = (i * B + p, j * B + q) and channel c of the wide image is position (i, j)
 * and channel (p * B + q) * C + c of the deep one. NCHW has the same channels, in front.
 * NCHW_VECT_C keeps four channels as a last axis: [n, c / 4, h, w, 4]. */
#ifndef OPS_ARRAY_DEPTH_H
#define OPS_ARRAY_DEPTH_H

#include "array.h"

#define ARRAY_DEPTH_ATTRS                                                                          \
  {"T", "dtype", NULL, "type of the elements", 0, 0},                                              \
      {"block_size", "int", NULL, "B: height and width of a block", 2, 65536}, {                   \
    "data_format", "string{NHWC,NCHW,NCHW_VECT_C}", "NHWC", "which axes are which", 0, 0           \
  }

tfsdk_status *array_depth_infer(tfsdk_infer *c, int to_depth);
tfsdk_status *array_depth_run(tfsdk_run *r, int to_depth);
/* dx = the opposite op of dy. */
tfsdk_status *array_depth_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *opposite);

#endif
