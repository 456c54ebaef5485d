/* order.h - comparing and sorting elements of any real type.
 *
 * NaN counts as smaller than every number, so that it comes last in a falling order and no
 * comparison depends on where it stands. */
#ifndef OPS_ARRAY_ORDER_H
#define OPS_ARRAY_ORDER_H

#include "array.h"

/* -1, 0, 1: element i of a is less than, equal to, greater than element j of b (same dtype). */
int array_compare(const tfsdk_view *a, int64_t i, const tfsdk_view *b, int64_t j);
/* Sorts the n positions in `at` so that the elements of x that they name rise (falling: fall);
 * equal elements keep their order. `room` has space for n positions. */
void array_sort(const tfsdk_view *x, int64_t *at, int64_t n, int falling, int64_t *room);
/* The first position p in [0, n) of the rising row x[first .. first + n) with x[p] >= v (upper: >
 * v). */
int64_t array_bound(const tfsdk_view *x, int64_t first, int64_t n, const tfsdk_view *v, int64_t j,
                    int upper);

#endif
