/* The count of a shift, brought to 0..bits - 1: C leaves everything else undefined. */
#ifndef OPS_MATH_SHIFT_H
#define OPS_MATH_SHIFT_H

#include <stdint.h>

/* large: the count is above 63, also where it does not fit int64_t */
static inline int shift_count(int64_t count, int large, int bits) {
  return large || count >= bits ? bits - 1 : count < 0 ? 0 : (int)count;
}

#endif
