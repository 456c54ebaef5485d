/* reduce.h - sums, maxima and minima over any axes, in float32 and float64.
 *
 * Sums are kept in double, whatever the element type, and rounded once. The cut into pieces, and
 * with it the order of the additions, depends on the shape alone.
 */
#ifndef TFSDK_CPU_REDUCE_H
#define TFSDK_CPU_REDUCE_H

#include "cpu.h"

enum cpu_fold { CPU_FOLD_SUM = 0, CPU_FOLD_MAX = 1, CPU_FOLD_MIN = 2 };

/* Reduces the axes in `mask` (bit d: axis d) of x into `out`, whose elements follow the order of
 * the axes that are left. Sums are divided by `divisor`. Maximum and minimum are NaN if an element
 * is. */
tfsdk_status *cpu_reduce(tfsdk_run *r, const tfsdk_view *x, uint32_t mask, enum cpu_fold fold,
                         double divisor, void *out);

/* The mask of the axes that a host vector names, and of those along which x was broadcast from
 * `like`. */
uint32_t cpu_reduce_mask(const tfsdk_view *axes, int32_t rank);
uint32_t cpu_reduce_mask_like(const tfsdk_view *x, const tfsdk_view *like);

#endif
