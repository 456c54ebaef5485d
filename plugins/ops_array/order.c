/* order.c - see order.h. */
#include "order.h"

#define ORDER(x, y)       ((x) < (y) ? -1 : (x) > (y))
#define FLOAT_ORDER(x, y) ((x) != (x) || (y) != (y) ? ((y) != (y)) - ((x) != (x)) : ORDER(x, y))
#define CASE(id, S)                                                                                \
  case TFSDK_##id: {                                                                               \
    const S x = ((const S *)a->data)[i], y = ((const S *)b->data)[j];                              \
    return ORDER(x, y);                                                                            \
  }

int array_compare(const tfsdk_view *a, int64_t i, const tfsdk_view *b, int64_t j) {
  switch (a->dtype) {
    CASE(INT64, int64_t)
    CASE(UINT64, uint64_t)
    CASE(INT32, int32_t)
    CASE(UINT32, uint32_t)
    CASE(INT16, int16_t)
    CASE(UINT16, uint16_t)
    CASE(INT8, int8_t)
    CASE(UINT8, uint8_t)
    CASE(BOOL, uint8_t)
  default: {
    const double x = tfsdk_view_number(a, i), y = tfsdk_view_number(b, j);
    return FLOAT_ORDER(x, y);
  }
  }
}

/* Merge sort from the bottom up. */
void array_sort(const tfsdk_view *x, int64_t *at, int64_t n, int falling, int64_t *room) {
  int64_t *from = at, *to = room;
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t lo = 0; lo < n; lo += 2 * width) {
      int64_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
      int64_t i = lo, j = mid;
      for (int64_t k = lo; k < hi; k++) {
        int second = i == mid;
        if (i < mid && j < hi) {
          int order = array_compare(x, from[j], x, from[i]);
          second = falling ? order > 0 : order < 0;
        }
        to[k] = second ? from[j++] : from[i++];
      }
    }
    int64_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != at) memcpy(at, from, (size_t)n * sizeof *at);
}

int64_t array_bound(const tfsdk_view *x, int64_t first, int64_t n, const tfsdk_view *v, int64_t j,
                    int upper) {
  int64_t lo = 0, hi = n;
  while (lo < hi) {
    int64_t mid = lo + (hi - lo) / 2;
    int order = array_compare(x, first + mid, v, j);
    if (upper ? order <= 0 : order < 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}
