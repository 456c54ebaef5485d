/* count.c - see count.h. */
#include "count.h"

tfsdk_status *array_count_infer(tfsdk_infer *c, int matrix) {
  const tfsdk_shape *x = &c->in[0].shape, *w = &c->in[2].shape;
  const tfsdk_view *v = array_value(c, 1);
  tfsdk_shape y = tfsdk_shape_vector(-1), merged;
  int64_t size = -1;
  TFSDK_TRY(array_scalar_arg(c, 1));
  if (v != NULL) {
    size = tfsdk_view_int(v, 0);
    if (size < 0)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "'size' is %lld, but must not be negative",
                        (long long)size);
  }
  if (w->rank >= 0 && tfsdk_shape_elements(w) != 0)
    TFSDK_TRY(
        tfsdk_merge(c, w, x, "'weights' must be empty or have the shape of the numbers", &merged));
  if (matrix && x->rank < 0) return NULL;
  if (matrix && x->rank != 1 && x->rank != 2)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'input' must have rank 1 or 2, but its shape is %s",
                      tfsdk_shape_text(x).s);
  if (matrix && x->rank == 2) {
    y.rank = 2;
    y.dim[0] = x->dim[0];
  }
  y.dim[y.rank - 1] = size;
  c->out[0].shape = y;
  return NULL;
}

tfsdk_status *array_count_run(tfsdk_run *r, int64_t rows, int binary) {
  const tfsdk_view *x = &r->in[0], *w = &r->in[2], *y = &r->out[0];
  int64_t size = tfsdk_view_int(&r->in[1], 0), n = rows > 0 ? x->n_elem / rows : 0;
  tfsdk_view one = *y; /* of weights' type, for the case without weights */
  double unit;
  array_sum sum;
  one.data = &unit;
  array_fill(&unit, y->dtype, 1, 1);
  for (int64_t i = 0; i < x->n_elem; i++)
    TFSDK_REQUIRE(r, tfsdk_view_int(x, i) >= 0, "number %lld at position %lld is negative",
                  (long long)tfsdk_view_int(x, i), (long long)i);
  if (y->n_elem == 0) return NULL;
  if (binary) {
    memset(y->data, 0, (size_t)y->n_elem * tfsdk_dtype_size(y->dtype));
    for (int64_t i = 0; i < x->n_elem; i++) {
      int64_t bin = tfsdk_view_int(x, i);
      if (bin < size)
        array_fill((char *)y->data + (size_t)(i / n * size + bin) * tfsdk_dtype_size(y->dtype),
                   y->dtype, 1, 1);
    }
    return NULL;
  }
  TFSDK_TRY(array_sum_begin(r, y->dtype, y->n_elem, &sum));
  for (int64_t i = 0; i < x->n_elem; i++) {
    int64_t bin = tfsdk_view_int(x, i);
    if (bin < size)
      array_sum_add(&sum, i / n * size + bin, w->n_elem > 0 ? w : &one, w->n_elem > 0 ? i : 0, 1,
                    1);
  }
  array_sum_end(&sum, y);
  return NULL;
}
