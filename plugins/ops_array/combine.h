/* combine.h - old = old OP new, element by element, for every number type: what scatters and
 * segment reductions do with the elements that meet at one place.
 *
 * Integers wrap around; division truncates, and by zero is an error. 16-bit floats are computed in
 * float. A NaN wins in minimum and maximum. */
#ifndef OPS_ARRAY_COMBINE_H
#define OPS_ARRAY_COMBINE_H

#include "array.h"

enum array_op { ARRAY_SET, ARRAY_ADD, ARRAY_SUB, ARRAY_MUL, ARRAY_DIV, ARRAY_MIN, ARRAY_MAX };

/* dst[i] = dst[i] OP src[i * src_stride] for i < n. SET works for every type of fixed size, ADD SUB
 * MUL DIV for complex too, MIN and MAX for real numbers. */
tfsdk_status *array_combine(const array_host *c, int op, int32_t dtype, void *dst, const void *src,
                            int64_t src_stride, int64_t n);
/* Sets n elements to the lowest (high = 0) or highest finite number of the type. */
void array_fill_limit(void *data, int32_t dtype, int high, int64_t n);

#endif
