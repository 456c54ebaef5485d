/* in_top.h - what InTopK and InTopKV2 share: (predictions [batch, classes], targets [batch]). */
#ifndef OPS_ARRAY_IN_TOP_H
#define OPS_ARRAY_IN_TOP_H

#include "array.h"

tfsdk_status *array_in_top_infer(tfsdk_infer *c);
/* y[b]: fewer than k predictions of row b are greater than that of the target. Ties at the border
 * count as inside. False if the target is no class or its prediction, or a greater one, is not
 * finite. */
tfsdk_status *array_in_top_run(tfsdk_run *r, int64_t k);

#endif
