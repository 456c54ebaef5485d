/* axis_map.h - outputs whose axes are each taken through a table: y[i, j, ...] = x[a[i], b[j],
 * ...]. Mirrored borders and rolled axes are of this kind. */
#ifndef OPS_ARRAY_AXIS_MAP_H
#define OPS_ARRAY_AXIS_MAP_H

#include "array.h"

typedef struct array_axis_map {
  int32_t rank;
  int64_t dim[TFSDK_MAX_RANK]; /* of y */
  int64_t *at[TFSDK_MAX_RANK]; /* dim[k] entries: position on x's axis k, times its stride */
} array_axis_map;

/* Gets room for the tables of an output of extents dim. */
tfsdk_status *array_axis_map_begin(tfsdk_run *r, const int64_t *dim, int32_t rank,
                                   array_axis_map *out);
/* Visits runs of y in order: elements first, first + 1, ... (n of them) of x. */
typedef void array_run_fn(void *user, int64_t first, int64_t n);
void array_axis_map_runs(const array_axis_map *m, array_run_fn *fn, void *user);
/* Output 0 = input 0 taken through the tables. */
tfsdk_status *array_axis_map_copy(tfsdk_run *r, const array_axis_map *m);

#endif
