/* pick.h - what GatherV2, Gather and ResourceGather share.
 *
 * params has the shape [batch..., outer..., limit, inner...], indices [batch..., rest...]; the
 * result is [batch..., outer..., rest..., inner...]. The axis of `limit` is the one that is
 * indexed. */
#ifndef OPS_ARRAY_PICK_H
#define OPS_ARRAY_PICK_H

#include "array.h"

/* Checks batch_dims (negative: from the end of indices) against both shapes. axis -1: unknown. */
tfsdk_status *array_gather_shape(const array_host *c, const tfsdk_shape *params,
                                 const tfsdk_shape *indices, int32_t axis, int64_t batch_dims,
                                 tfsdk_shape *out);
/* Writes output 0 = params[indices]; an index out of range is an error. The output has its shape
 * unless `dim` gives it one. */
tfsdk_status *array_gather_run(tfsdk_run *r, const tfsdk_view *params, const tfsdk_view *indices,
                               int32_t axis, int64_t batch_dims, uint32_t rank, const int64_t *dim);
/* Gradient along axis 0 without batch axes: rows for input i. dy: [indices..., inner...]. */
tfsdk_status *array_gather_slices(tfsdk_ctx *c, tfsdk_gradcall *g, uint32_t i, tfsdk_val indices,
                                  tfsdk_val dy);

#endif
