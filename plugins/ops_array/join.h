/* join.h - what ConcatV2 and Concat share: they differ in where the axis stands. */
#ifndef OPS_ARRAY_JOIN_H
#define OPS_ARRAY_JOIN_H

#include "array.h"

/* Inputs first..first+n-1 are joined along the axis that input `axis` says. */
tfsdk_status *array_join_infer(tfsdk_infer *c, uint32_t first, uint32_t n, uint32_t axis);
tfsdk_status *array_join_compute(tfsdk_run *r, uint32_t first, uint32_t n, uint32_t axis);
tfsdk_status *array_join_grad(tfsdk_ctx *c, tfsdk_gradcall *g, uint32_t first, uint32_t n,
                              uint32_t axis);

#endif
