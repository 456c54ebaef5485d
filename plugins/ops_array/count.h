/* count.h - what Bincount and DenseBincount share: adding 1, or a weight, to the bin of each
 * number. */
#ifndef OPS_ARRAY_COUNT_H
#define OPS_ARRAY_COUNT_H

#include "accumulate.h"

/* Rows of numbers x (input 0) into rows of `size` bins (input 1); weights are input 2, or 1 each if
 * that is empty. Numbers of size or more are dropped, negative ones are an error. `binary`: 1 where
 * a number occurs, weights do not count. */
tfsdk_status *array_count_infer(tfsdk_infer *c, int matrix);
tfsdk_status *array_count_run(tfsdk_run *r, int64_t rows, int binary);

#define ARRAY_COUNT_TYPES "dtype{int32,int64,float32,float64}"

#endif
