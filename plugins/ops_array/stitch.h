/* stitch.h - what DynamicStitch and ParallelDynamicStitch share: (N lists of indices, N of data).
 * Where an index occurs more than once the last one wins, in both: results do not depend on
 * threads. */
#ifndef OPS_ARRAY_STITCH_H
#define OPS_ARRAY_STITCH_H

#include "array.h"

tfsdk_status *array_stitch_infer(tfsdk_infer *c);
tfsdk_status *array_stitch_run(tfsdk_run *r);
tfsdk_status *array_stitch_grad(tfsdk_ctx *c, tfsdk_gradcall *g);

#endif
