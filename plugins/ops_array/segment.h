/* segment.h - what the segment ops share: rows of data are reduced into the segment that
 * segment_ids names.
 *
 *   Segment...          ids ascend from one row to the next; the last id tells the number of
 * segments UnsortedSegment...  any order; ids may have several axes, which stand for data's first
 * axes; rows with a negative id are dropped; num_segments is given SparseSegment...    row k is
 * data[indices[k]]; ids ascend; num_segments may be given
 *
 * A segment without rows holds 0, or what the reduction starts from: 1 for products, and for
 * UnsortedSegmentMax (Min) the lowest (highest) finite number. */
#ifndef OPS_ARRAY_SEGMENT_H
#define OPS_ARRAY_SEGMENT_H

#include "accumulate.h"
#include "combine.h"

enum array_segment_op {
  ARRAY_SEG_SUM,
  ARRAY_SEG_MEAN,   /* divided by the number of rows */
  ARRAY_SEG_SQRT_N, /* divided by its square root */
  ARRAY_SEG_PROD,
  ARRAY_SEG_MIN,
  ARRAY_SEG_MAX
};

/* The inputs are (data, segment_ids). */
tfsdk_status *array_segment_infer(tfsdk_infer *c);
tfsdk_status *array_segment_run(tfsdk_run *r, int op);
/* (data, segment_ids, num_segments) */
tfsdk_status *array_unsorted_infer(tfsdk_infer *c);
tfsdk_status *array_unsorted_run(tfsdk_run *r, int op);
/* (data, indices, segment_ids[, num_segments]) */
tfsdk_status *array_sparse_infer(tfsdk_infer *c);
tfsdk_status *array_sparse_run(tfsdk_run *r, int op);

/* The combiner attribute of SegmentRows. */
int array_combiner(const char *text);

/* Gradients of the first two families. `reduce` is the family's sum, `product` its product; the ids
 * are input 1, num_segments input 2 if there is one. max and min: rows that tie share equally. */
tfsdk_status *array_segment_grad_ties(tfsdk_ctx *c, tfsdk_gradcall *g, const char *sum);
tfsdk_status *array_segment_grad_prod(tfsdk_ctx *c, tfsdk_gradcall *g, const char *sum,
                                      const char *product);
/* rows[k] = dy[ids[k]], divided as the combiner says; zeros for negative ids. */
tfsdk_val array_segment_rows(tfsdk_ctx *c, tfsdk_val dy, tfsdk_val ids, const char *combiner);
/* Gradient of the sparse family: rows of data with their indices. */
tfsdk_status *array_segment_grad_sparse(tfsdk_ctx *c, tfsdk_gradcall *g, const char *combiner);

#endif
