/* slicing.h - the slice specification of StridedSlice and its kin: begin, end, strides and five
 * masks.
 *
 * Bit i of a mask speaks of entry i of begin, end and strides:
 *   begin_mask, end_mask   the entry is not there: from the start, up to the end (of the direction)
 *   ellipsis_mask          stands for as many whole axes as are left over
 *   new_axis_mask          no axis of x, but a new one of extent 1
 *   shrink_axis_mask       the one position begin[i]; the axis is dropped
 * Without an ellipsis all axes left over stand at the end. At one entry ellipsis beats new axis
 * beats shrink. A range's ends are cut to the axis; a single position outside it is an error. */
#ifndef OPS_ARRAY_SLICING_H
#define OPS_ARRAY_SLICING_H

#include "array.h"

typedef struct array_masks {
  int64_t begin, end, ellipsis, new_axis, shrink;
} array_masks;

typedef struct array_window {
  int32_t rank;                  /* of x */
  int64_t begin[TFSDK_MAX_RANK]; /* per axis of x: first position, step and count; -1 unknown */
  int64_t step[TFSDK_MAX_RANK], count[TFSDK_MAX_RANK];
  uint8_t dropped[TFSDK_MAX_RANK]; /* per axis of x: it is not in the slice */
  tfsdk_shape shape;               /* of the slice */
  uint8_t is_new[TFSDK_MAX_RANK];  /* per axis of the slice: it is not in x */
} array_window;

array_masks array_masks_of(const tfsdk_attrs *a);
/* begin, end, strides: views or NULL where unknown; n their length. x's shape has a known rank. */
tfsdk_status *array_window_make(const array_host *c, const tfsdk_shape *x, int64_t n,
                                const tfsdk_view *begin, const tfsdk_view *end,
                                const tfsdk_view *strides, const array_masks *m, array_window *out);
/* The same in a shape rule: input `first` is begin, then end and strides. When too little is known
 * to say even the rank, out->shape is unknown. */
tfsdk_status *array_window_infer(const tfsdk_infer *c, const tfsdk_shape *x, uint32_t first,
                                 array_window *out);
/* The same in a kernel, for a tensor of extents dim[rank]. */
tfsdk_status *array_window_run(const tfsdk_run *r, const int64_t *dim, int32_t rank, uint32_t first,
                               array_window *out);
/* The positions of a window in a tensor of extents dim. */
void array_window_walk(const array_window *win, const int64_t *dim, array_walk *w);
/* What is written into a slice must broadcast to it. */
tfsdk_status *array_window_check_value(const array_host *c, const tfsdk_shape *slice,
                                       const tfsdk_shape *value);
/* Writes value, repeated as broadcasting says, into the window of x. */
tfsdk_status *array_window_assign(tfsdk_run *r, const array_window *win, const tfsdk_view *x,
                                  const tfsdk_view *value);
/* The five attributes, for emitting. */
void array_masks_emit(const tfsdk_attrs *a, tfsdk_attrval out[5]);

#define ARRAY_MASK_ATTRS                                                                           \
  {                                                                                                \
      "begin_mask",                                                                                \
      "int",                                                                                       \
      "0",                                                                                         \
      "bit i: begin[i] is ignored, the range starts at its first end",                             \
      0,                                                                                           \
      0},                                                                                          \
      {"end_mask", "int", "0", "bit i: end[i] is ignored, the range goes to its last end", 0, 0},  \
      {"ellipsis_mask", "int", "0", "bit i: entry i stands for all axes left over", 0, 0},         \
      {"new_axis_mask", "int", "0", "bit i: entry i is a new axis of extent 1", 0, 0}, {           \
    "shrink_axis_mask", "int", "0", "bit i: entry i is one position, its axis is dropped", 0, 0    \
  }

#endif
