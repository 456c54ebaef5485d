/* accumulate.h - running sums in more precision than the elements have.
 *
 * Elements are added in double (complex: a pair of doubles) and rounded once at the end; integers
 * are added modulo 2^64, whose low bits are the sum in the element's own type. So a float16 sum of
 * many rows is right to the last bit. */
#ifndef OPS_ARRAY_ACCUMULATE_H
#define OPS_ARRAY_ACCUMULATE_H

#include "array.h"

typedef struct array_sum {
  void *cell; /* double, or uint64 for integers; n of them, 2n for complex */
  int64_t n;
  int32_t dtype;
} array_sum;

/* n sums, all 0. */
tfsdk_status *array_sum_begin(tfsdk_run *r, int32_t dtype, int64_t n, array_sum *out);
/* cell[to + i] += scale * x[from + i] for i < n. Integers are not scaled. */
void array_sum_add(const array_sum *s, int64_t to, const tfsdk_view *x, int64_t from, int64_t n,
                   double scale);
/* cell[to .. to + n) /= by; floats and complex only. */
void array_sum_divide(const array_sum *s, int64_t to, int64_t n, double by);
/* Rounds all sums into `out`, a view of n elements. */
void array_sum_end(const array_sum *s, const tfsdk_view *out);

#endif
