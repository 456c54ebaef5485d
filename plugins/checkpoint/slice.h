/* Slices of partitioned tensors, put into the whole. */
#ifndef TFSDK_CHECKPOINT_SLICE_H
#define TFSDK_CHECKPOINT_SLICE_H

#include <string.h>
#include <tfsdk/shape.h>

/* Elements of `width` bytes: the slice of shape `part` that begins at `start`, row-major in `from`, to its place in a tensor
 * of shape `whole`. All fits: start + part <= whole. */
static inline void slice_place(const tfsdk_shape *whole, const int64_t *start,
                               const tfsdk_shape *part, size_t width, const char *from, char *to) {
  int64_t index[TFSDK_MAX_RANK] = {0};
  int32_t rank = part->rank, last = rank - 1;
  int64_t n = tfsdk_shape_elements(part);
  if (n == 0) return;
  int64_t row = rank > 0 ? part->dim[last] : 1;
  for (int64_t done = 0; done < n; done += row) { /* rows of the last axis */
    int64_t at = 0;
    for (int32_t i = 0; i < rank; i++)
      at = at * whole->dim[i] + start[i] + (i < last ? index[i] : 0);
    memcpy(to + (size_t)at * width, from + (size_t)done * width, (size_t)row * width);
    for (int32_t i = last - 1; i >= 0; i--) {
      if (++index[i] < part->dim[i]) break;
      index[i] = 0;
    }
  }
}

#endif
