/* distinct.h - finding equal elements by hashing, for Unique and its kin and for ListDiff.
 *
 * An item is one element, or with an axis one slice across it. Floats are equal by value: 0 and -0
 * are, a NaN equals nothing. Strings are equal byte for byte. */
#ifndef OPS_ARRAY_DISTINCT_H
#define OPS_ARRAY_DISTINCT_H

#include "array.h"

/* x as [outer, n, inner]: item i is x[:, i, :]. */
typedef struct array_items {
  const tfsdk_view *x;
  int64_t outer, n, inner;
} array_items;

typedef struct array_table {
  array_items items;
  int64_t *slot; /* positions of items, -1 free */
  int64_t n_slots;
} array_table;

/* An empty table with room for all items. */
tfsdk_status *array_table_begin(tfsdk_run *r, const array_items *items, array_table *out);
/* The position of an item of the table that equals item i of `of`, or -1. With add (then of is the
 * table's own) item i itself is put in when there is none. */
int64_t array_table_find(array_table *t, const array_items *of, int64_t i, int add);

/* The axis of the V2 ops: input 1, a vector of one member or none. -1: not known. */
tfsdk_status *array_unique_axis(const tfsdk_infer *c, int32_t *out);
/* The whole of the Unique ops: outputs y, idx and, if there are three, count. axis -1: x is a
 * vector. */
tfsdk_status *array_unique_run(tfsdk_run *r, int32_t axis);

#endif
