/* pick.c - see pick.h. */
#include "pick.h"

tfsdk_status *array_gather_shape(const array_host *c, const tfsdk_shape *params,
                                 const tfsdk_shape *indices, int32_t axis, int64_t batch_dims,
                                 tfsdk_shape *out) {
  tfsdk_shape y = tfsdk_shape_scalar();
  int32_t batch = (int32_t)batch_dims;
  *out = tfsdk_shape_unknown();
  if (indices->rank >= 0) {
    TFSDK_REQUIRE(c, batch_dims >= -indices->rank && batch_dims <= indices->rank,
                  "batch_dims %lld is out of range for indices of shape %s", (long long)batch_dims,
                  tfsdk_shape_text(indices).s);
    if (batch < 0) batch += indices->rank;
  }
  if (params->rank < 0 || indices->rank < 0) return NULL;
  TFSDK_REQUIRE(c, params->rank > 0, "params is a scalar: there is nothing to index");
  TFSDK_REQUIRE(c, batch < params->rank, "batch_dims %d is out of range for params of shape %s",
                (int)batch, tfsdk_shape_text(params).s);
  TFSDK_REQUIRE(c, axis < 0 || batch <= axis, "batch_dims %d must not pass axis %d", (int)batch,
                (int)axis);
  for (int32_t i = 0; i < batch; i++)
    TFSDK_REQUIRE(c, params->dim[i] < 0 || indices->dim[i] < 0 || params->dim[i] == indices->dim[i],
                  "batch axes of params %s and indices %s differ", tfsdk_shape_text(params).s,
                  tfsdk_shape_text(indices).s);
  y.rank = params->rank - 1 + indices->rank - batch;
  TFSDK_REQUIRE(c, y.rank <= TFSDK_MAX_RANK, "the result would have rank %d; %d is the highest",
                (int)y.rank, TFSDK_MAX_RANK);
  if (axis < 0) {
    *out = tfsdk_shape_of_rank(y.rank);
    return NULL;
  }
  y.rank = 0;
  for (int32_t i = 0; i < axis; i++)
    y.dim[y.rank++] = i < batch && params->dim[i] < 0 ? indices->dim[i] : params->dim[i];
  for (int32_t i = batch; i < indices->rank; i++) y.dim[y.rank++] = indices->dim[i];
  for (int32_t i = axis + 1; i < params->rank; i++) y.dim[y.rank++] = params->dim[i];
  *out = y;
  return NULL;
}

typedef struct job {
  const tfsdk_view *params, *indices;
  int64_t batch, outer, limit, inner, n; /* n: indices of one batch */
} job;

static void write(array_sink *s, const void *user) {
  const job *j = (const job *)user;
  for (int64_t b = 0; b < j->batch; b++) {
    for (int64_t o = 0; o < j->outer; o++) {
      int64_t base = (b * j->outer + o) * j->limit;
      for (int64_t k = 0; k < j->n; k++)
        array_put(s, j->params, (base + array_index(j->indices, b * j->n + k)) * j->inner, 1,
                  j->inner);
    }
  }
}

tfsdk_status *array_gather_run(tfsdk_run *r, const tfsdk_view *params, const tfsdk_view *indices,
                               int32_t axis, int64_t batch_dims, uint32_t rank,
                               const int64_t *dim) {
  int32_t batch = (int32_t)(batch_dims < 0 ? batch_dims + indices->rank : batch_dims);
  job j = {params, indices, 0, 0, params->dim[axis], 0, 0};
  j.batch = array_extent(params->dim, 0, batch);
  j.outer = array_extent(params->dim, batch, axis);
  j.inner = array_extent(params->dim, axis + 1, params->rank);
  j.n = array_extent(indices->dim, batch, indices->rank);
  for (int64_t k = 0; k < indices->n_elem; k++) {
    int64_t at = array_index(indices, k);
    if (at < 0 || at >= j.limit) return array_bad_index(r, "indices", at, k, j.limit);
  }
  return dim != NULL ? array_write_as(r, 0, rank, dim, write, &j) : array_write(r, 0, write, &j);
}

/* The shape of dy with the index axes joined into one: [-1, dy.shape[index_rank:]...]. */
static tfsdk_val rows_shape(tfsdk_ctx *c, tfsdk_val indices, tfsdk_val dy) {
  int32_t index_rank = tfsdk_type(c, indices).shape.rank, n = 1, known = 1;
  tfsdk_typed_shape t = tfsdk_type(c, dy);
  int64_t list[TFSDK_MAX_RANK + 1] = {-1}, first = 1, from = index_rank;
  tfsdk_attrval to_end = tfsdk_a_int("end_mask", 1);
  tfsdk_val in[4], join[3];
  for (int32_t k = index_rank; index_rank >= 0 && k < t.shape.rank; k++) {
    list[n++] = t.shape.dim[k];
    known &= t.shape.dim[k] > 0; /* beside a 0 the -1 could not be told */
  }
  if (index_rank >= 0 && t.shape.rank >= index_rank && known)
    return array_int_const(c, TFSDK_INT32, list, (uint32_t)n);
  in[0] = array_emit_shape(c, dy, TFSDK_INT32);
  in[1] = index_rank >= 0 ? array_int_const(c, TFSDK_INT32, &from, 1)
                          : tfsdk_emit2(c, "ExpandDims", tfsdk_emit1(c, "Rank", indices),
                                        tfsdk_int_scalar(c, 0));
  in[2] = in[3] = array_int_const(c, TFSDK_INT32, &first, 1);
  join[0] = tfsdk_emit2(c, "ExpandDims", tfsdk_emit1(c, "Size", indices), tfsdk_int_scalar(c, 0));
  join[1] = tfsdk_emit(c, "StridedSlice", in, 4, &to_end, 1);
  join[2] = tfsdk_int_scalar(c, 0);
  return tfsdk_emit(c, "ConcatV2", join, 3, NULL, 0);
}

tfsdk_status *array_gather_slices(tfsdk_ctx *c, tfsdk_gradcall *g, uint32_t i, tfsdk_val indices,
                                  tfsdk_val dy) {
  int64_t flat = -1;
  tfsdk_val rows, list;
  if (tfsdk_type(c, indices).shape.rank == 1) return tfsdk_set_dx_slices(g, i, indices, dy);
  rows = tfsdk_emit2(c, "Reshape", dy, rows_shape(c, indices, dy));
  list = tfsdk_emit2(c, "Reshape", indices, array_int_const(c, TFSDK_INT32, &flat, 1));
  return tfsdk_set_dx_slices(g, i, list, rows);
}
