/* batch_space.h - what the SpaceToBatch and BatchToSpace ops share.
 *
 * Axes 1..M of x are spatial. Position s of the padded spatial axes is (s / B, s mod B) axis by
 * axis; the second part goes into the batch axis, in front: batch' = (offset, row by row) * batch +
 * b. */
#ifndef OPS_ARRAY_BATCH_SPACE_H
#define OPS_ARRAY_BATCH_SPACE_H

#include "array.h"

/* Where block shape and borders come from: an input and input 1 (old forms: the attribute
 * block_size and two spatial axes). `border` is paddings or crops, a [M, 2] matrix. */
typedef struct array_blocks {
  int32_t m; /* spatial axes */
  int64_t block[TFSDK_MAX_RANK], before[TFSDK_MAX_RANK], after[TFSDK_MAX_RANK];
  int known_block, known_border;
} array_blocks;

/* block_in < 0: the attribute block_size. */
tfsdk_status *array_batch_space_infer(tfsdk_infer *c, int to_batch, int block_in,
                                      uint32_t border_in);
tfsdk_status *array_batch_space_run(tfsdk_run *r, int to_batch, int block_in, uint32_t border_in);
/* dx = the opposite op of dy. */
tfsdk_status *array_batch_space_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *opposite);

#endif
