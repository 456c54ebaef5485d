/* rows.c - see rows.h. */
#include "rows.h"

/* indices.shape + v.shape[1:]; unknown if one of them is. */
static tfsdk_status *updates_shape(const array_host *c, const tfsdk_shape *v,
                                   const tfsdk_shape *indices, tfsdk_shape *out) {
  *out = tfsdk_shape_unknown();
  TFSDK_REQUIRE(c, v->rank != 0, "the variable is a scalar: it has no rows");
  if (v->rank < 0 || indices->rank < 0) return NULL;
  TFSDK_REQUIRE(c, indices->rank + v->rank - 1 <= TFSDK_MAX_RANK,
                "updates would have rank %d; %d is the highest", (int)(indices->rank + v->rank - 1),
                TFSDK_MAX_RANK);
  *out = *indices;
  for (int32_t i = 1; i < v->rank; i++) out->dim[out->rank++] = v->dim[i];
  return NULL;
}

tfsdk_status *array_rows_infer(tfsdk_infer *c) {
  tfsdk_shape want;
  TFSDK_TRY(updates_shape(array_host_of(c), &c->in[0].shape, &c->in[1].shape, &want));
  if (c->in[2].shape.rank == 0) return NULL;
  return tfsdk_merge(c, &c->in[2].shape, &want,
                     "'updates' must be indices.shape + variable.shape[1:]", &want);
}

tfsdk_status *array_rows_run(tfsdk_run *r, int op) {
  const tfsdk_view *indices = &r->in[1], *updates = &r->in[2];
  tfsdk_shape shape, index_shape = tfsdk_shape_of_view(indices), want;
  tfsdk_shape given = tfsdk_shape_of_view(updates);
  tfsdk_view v;
  int64_t inner;
  size_t size, row;
  int scalar = updates->rank == 0;
  TFSDK_TRY(r->api->var_mutable(r, 0, &v)); /* nothing is changed before all is checked */
  TFSDK_REQUIRE(r, v.dtype == updates->dtype, "the variable has type %s, but updates has %s",
                tfsdk_dtype_name(v.dtype), tfsdk_dtype_name(updates->dtype));
  shape = tfsdk_shape_of_view(&v);
  TFSDK_TRY(updates_shape(array_host_of(r), &shape, &index_shape, &want));
  TFSDK_REQUIRE(r, scalar || tfsdk_same_shape(&want, &given),
                "updates must have the shape %s, or be a scalar, but has %s",
                tfsdk_shape_text(&want).s, tfsdk_shape_text(&given).s);
  TFSDK_TRY(array_check_indices(r, 1, "indices", v.dim[0]));
  inner = array_extent(v.dim, 1, v.rank);
  size = tfsdk_dtype_size(v.dtype);
  row = (size_t)inner * size;
  TFSDK_REQUIRE(r, size > 0, "rows of a %s variable cannot be changed", tfsdk_dtype_name(v.dtype));
  for (int64_t k = 0; inner > 0 && k < indices->n_elem; k++)
    TFSDK_TRY(array_combine(
        array_host_of(r), op, v.dtype, (char *)v.data + (size_t)array_index(indices, k) * row,
        (const char *)updates->data + (scalar ? 0 : (size_t)k * row), scalar ? 0 : 1, inner));
  return NULL;
}
