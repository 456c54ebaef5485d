/* segment.c - see segment.h. */
#include <math.h>
#include "segment.h"

/* ---------------------------------------------------------------------------------- shape rules */

/* out = [segments] + data.shape[ids_rank:] */
static void rows_to_segments(tfsdk_infer *c, int64_t segments, int32_t ids_rank) {
  const tfsdk_shape *x = &c->in[0].shape;
  tfsdk_shape y = tfsdk_shape_vector(segments);
  if (x->rank < 0 || ids_rank < 0) return;
  for (int32_t i = ids_rank; i < x->rank; i++) y.dim[y.rank++] = x->dim[i];
  c->out[0].shape = y;
}

static tfsdk_status *need_rank(const tfsdk_infer *c, int32_t least) {
  const tfsdk_shape *x = &c->in[0].shape;
  if (x->rank < 0 || x->rank >= least) return NULL;
  return TFSDK_FAIL(c, INVALID_ARGUMENT, "'data' must have at least rank %d, but its shape is %s",
                    (int)least, tfsdk_shape_text(x).s);
}

tfsdk_status *array_segment_infer(tfsdk_infer *c) {
  tfsdk_shape ids;
  int64_t n;
  TFSDK_TRY(tfsdk_with_rank(c, 1, 1, &ids));
  TFSDK_TRY(need_rank(c, 1));
  if (c->in[0].shape.rank > 0)
    TFSDK_TRY(tfsdk_merge_dim(c, c->in[0].shape.dim[0], ids.dim[0],
                              "one segment id for each row of data", &n));
  rows_to_segments(c, -1, 1);
  return NULL;
}

/* The scalar num_segments, input i; -1 unknown. */
static tfsdk_status *segments_arg(const tfsdk_infer *c, uint32_t i, int64_t *out) {
  const tfsdk_view *v = array_value(c, i);
  TFSDK_TRY(array_scalar_arg(c, i));
  *out = -1;
  if (v == NULL) return NULL;
  *out = tfsdk_view_int(v, 0);
  if (*out < 0)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'num_segments' is %lld, but must not be negative",
                      (long long)*out);
  return NULL;
}

tfsdk_status *array_unsorted_infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape, *ids = &c->in[1].shape;
  int64_t segments, n;
  TFSDK_TRY(segments_arg(c, 2, &segments));
  if (ids->rank < 0 || x->rank < 0) return NULL;
  TFSDK_TRY(need_rank(c, ids->rank));
  for (int32_t i = 0; i < ids->rank; i++)
    TFSDK_TRY(tfsdk_merge_dim(c, x->dim[i], ids->dim[i],
                              "the shape of segment_ids must begin the shape of data", &n));
  rows_to_segments(c, segments, ids->rank);
  return NULL;
}

tfsdk_status *array_sparse_infer(tfsdk_infer *c) {
  tfsdk_shape indices, ids;
  int64_t n, segments = -1;
  TFSDK_TRY(tfsdk_with_rank(c, 1, 1, &indices));
  TFSDK_TRY(tfsdk_with_rank(c, 2, 1, &ids));
  TFSDK_TRY(tfsdk_merge_dim(c, indices.dim[0], ids.dim[0], "one segment id for each index", &n));
  TFSDK_TRY(need_rank(c, 1));
  if (c->n_in > 3) TFSDK_TRY(segments_arg(c, 3, &segments));
  rows_to_segments(c, segments, 1);
  return NULL;
}

/* -------------------------------------------------------------------------------------- kernels */

typedef struct job {
  const tfsdk_view *data, *ids, *indices; /* indices NULL: row k of data */
  int64_t rows, inner, segments;
  int op, sorted;
} job;

static int64_t row_of(const job *j, int64_t k) {
  return j->indices != NULL ? array_index(j->indices, k) : k;
}

static tfsdk_status *check_ids(const tfsdk_run *r, const job *j) {
  int64_t last = 0;
  for (int64_t k = 0; k < j->rows; k++) {
    int64_t id = array_index(j->ids, k);
    if (id >= j->segments || (j->sorted && id < 0))
      return array_bad_index(r, "segment_ids", id, k, j->segments);
    if (j->sorted && id < last)
      return TFSDK_FAIL(r, INVALID_ARGUMENT,
                        "segment ids must not fall, but segment_ids[%lld] = %lld follows %lld",
                        (long long)k, (long long)id, (long long)last);
    last = id;
  }
  return NULL;
}

static tfsdk_status *run_sum(tfsdk_run *r, const job *j) {
  int64_t *count = NULL;
  array_sum sum;
  void *room;
  TFSDK_TRY(array_sum_begin(r, r->out[0].dtype, j->segments * j->inner, &sum));
  if (j->op != ARRAY_SEG_SUM) {
    TFSDK_TRY(r->api->workspace(r, ((size_t)j->segments + 1) * sizeof *count, &room));
    count = (int64_t *)room;
    memset(count, 0, (size_t)j->segments * sizeof *count);
  }
  for (int64_t k = 0; k < j->rows; k++) {
    int64_t id = array_index(j->ids, k);
    if (id < 0) continue;
    array_sum_add(&sum, id * j->inner, j->data, row_of(j, k) * j->inner, j->inner, 1);
    if (count != NULL) count[id]++;
  }
  for (int64_t s = 0; count != NULL && s < j->segments; s++) {
    double by = (double)count[s];
    if (count[s] > 1)
      array_sum_divide(&sum, s * j->inner, j->inner, j->op == ARRAY_SEG_MEAN ? by : sqrt(by));
  }
  array_sum_end(&sum, &r->out[0]);
  return NULL;
}

static tfsdk_status *run_combine(tfsdk_run *r, const job *j) {
  const tfsdk_view *y = &r->out[0];
  size_t size = tfsdk_dtype_size(y->dtype), row = size * (size_t)j->inner;
  int op = j->op == ARRAY_SEG_PROD ? ARRAY_MUL : j->op == ARRAY_SEG_MIN ? ARRAY_MIN : ARRAY_MAX;
  int64_t seen = -1; /* sorted: the segment of the last row */
  if (op == ARRAY_MUL)
    array_fill(y->data, y->dtype, 1, y->n_elem);
  else if (j->sorted)
    memset(y->data, 0, (size_t)y->n_elem * size);
  else
    array_fill_limit(y->data, y->dtype, op == ARRAY_MIN, y->n_elem);
  for (int64_t k = 0; k < j->rows; k++) {
    int64_t id = array_index(j->ids, k);
    const char *from = (const char *)j->data->data + (size_t)row_of(j, k) * row;
    int first = j->sorted && id != seen && op != ARRAY_MUL;
    if (id < 0) continue;
    TFSDK_TRY(array_combine(array_host_of(r), first ? ARRAY_SET : op, y->dtype,
                            (char *)y->data + (size_t)id * row, from, 1, j->inner));
    seen = id;
  }
  return NULL;
}

/* Gives the output its memory and reduces. */
static tfsdk_status *run(tfsdk_run *r, job *j) {
  int64_t dim[TFSDK_MAX_RANK + 1] = {0};
  int32_t first = j->indices != NULL ? 1 : j->ids->rank;
  uint32_t rank = 1;
  int infer_count = j->segments < 0;
  if (infer_count) j->segments = 0;
  for (int32_t i = first; i < j->data->rank; i++) dim[rank++] = j->data->dim[i];
  j->rows = j->ids->n_elem;
  j->inner = array_extent(dim, 1, (int32_t)rank);
  for (int64_t k = 0; infer_count && k < j->rows; k++)
    if (array_index(j->ids, k) >= j->segments) j->segments = array_index(j->ids, k) + 1;
  TFSDK_TRY(check_ids(r, j));
  dim[0] = j->segments;
  TFSDK_TRY(array_alloc(r, 0, rank, dim));
  if (r->out[0].n_elem == 0) return NULL;
  return j->op <= ARRAY_SEG_SQRT_N ? run_sum(r, j) : run_combine(r, j);
}

tfsdk_status *array_segment_run(tfsdk_run *r, int op) {
  job j = {&r->in[0], &r->in[1], NULL, 0, 0, -1, op, 1};
  TFSDK_REQUIRE(r, j.ids->n_elem == j.data->dim[0], "%lld segment ids for %lld rows of data",
                (long long)j.ids->n_elem, (long long)j.data->dim[0]);
  return run(r, &j);
}

tfsdk_status *array_unsorted_run(tfsdk_run *r, int op) {
  job j = {&r->in[0], &r->in[1], NULL, 0, 0, 0, op, 0};
  j.segments = tfsdk_view_int(&r->in[2], 0);
  return run(r, &j);
}

tfsdk_status *array_sparse_run(tfsdk_run *r, int op) {
  job j = {&r->in[0], &r->in[2], &r->in[1], 0, 0, -1, op, 1};
  TFSDK_REQUIRE(r, j.ids->n_elem == j.indices->n_elem, "%lld segment ids for %lld indices",
                (long long)j.ids->n_elem, (long long)j.indices->n_elem);
  TFSDK_TRY(array_check_indices(r, 1, "indices", j.data->dim[0]));
  if (r->n_in > 3) j.segments = tfsdk_view_int(&r->in[3], 0);
  return run(r, &j);
}

int array_combiner(const char *text) {
  return strcmp(text, "mean") == 0    ? ARRAY_SEG_MEAN
         : strcmp(text, "sqrtn") == 0 ? ARRAY_SEG_SQRT_N
                                      : ARRAY_SEG_SUM;
}

/* ------------------------------------------------------------------------------------ gradients */

tfsdk_val array_segment_rows(tfsdk_ctx *c, tfsdk_val dy, tfsdk_val ids, const char *combiner) {
  tfsdk_attrval a = tfsdk_a_string("combiner", combiner);
  tfsdk_val in[2];
  in[0] = dy;
  in[1] = ids;
  return tfsdk_emit(c, "SegmentRows", in, 2, &a, 1);
}

/* `op`(x, ids[, num_segments]) of the forward node's ids. */
static tfsdk_val reduce(tfsdk_ctx *c, tfsdk_gradcall *g, const char *op, tfsdk_val x) {
  tfsdk_val in[3];
  in[0] = x;
  in[1] = tfsdk_input(g, 1);
  in[2] = g->n_in > 2 ? tfsdk_input(g, 2) : tfsdk_none();
  return tfsdk_emit(c, op, in, g->n_in, NULL, 0);
}

static tfsdk_val cast_like(tfsdk_ctx *c, tfsdk_val x, tfsdk_val like) {
  tfsdk_attrval to = tfsdk_a_dtype("DstT", tfsdk_type(c, like).dtype);
  return tfsdk_emit(c, "Cast", &x, 1, &to, 1);
}

tfsdk_status *array_segment_grad_ties(tfsdk_ctx *c, tfsdk_gradcall *g, const char *sum) {
  tfsdk_val x = tfsdk_input(g, 0), ids = tfsdk_input(g, 1), zero = tfsdk_scalar_like(c, x, 0);
  tfsdk_val best =
      tfsdk_emit2(c, "Equal", x, array_segment_rows(c, tfsdk_output(g, 0), ids, "sum"));
  tfsdk_val ties = reduce(c, g, sum, cast_like(c, best, x));
  tfsdk_val share = tfsdk_emit2(c, "DivNoNan", tfsdk_dy(g, 0), ties);
  return tfsdk_set_dx(
      g, 0, tfsdk_emit3(c, "SelectV2", best, array_segment_rows(c, share, ids, "sum"), zero));
}

/* The product of the others: product / x, but for zeros, where it is the product of what is not
 * zero if the segment has no second zero. */
tfsdk_status *array_segment_grad_prod(tfsdk_ctx *c, tfsdk_gradcall *g, const char *sum,
                                      const char *product) {
  tfsdk_val x = tfsdk_input(g, 0), ids = tfsdk_input(g, 1), y = tfsdk_output(g, 0);
  tfsdk_val zero = tfsdk_scalar_like(c, x, 0), one = tfsdk_scalar_like(c, x, 1);
  tfsdk_val is_zero = tfsdk_emit2(c, "Equal", x, zero);
  tfsdk_val zeros = reduce(c, g, sum, cast_like(c, is_zero, x));
  tfsdk_val safe = tfsdk_emit3(c, "SelectV2", is_zero, one, x);
  tfsdk_val rest = reduce(c, g, product, safe);
  tfsdk_val alone = tfsdk_emit3(c, "SelectV2", tfsdk_emit2(c, "Greater", zeros, one), zero, rest);
  tfsdk_val others =
      tfsdk_emit3(c, "SelectV2", is_zero, array_segment_rows(c, alone, ids, "sum"),
                  tfsdk_emit2(c, "RealDiv", array_segment_rows(c, y, ids, "sum"), safe));
  return tfsdk_set_dx(
      g, 0, tfsdk_emit2(c, "Mul", others, array_segment_rows(c, tfsdk_dy(g, 0), ids, "sum")));
}

tfsdk_status *array_segment_grad_sparse(tfsdk_ctx *c, tfsdk_gradcall *g, const char *combiner) {
  return tfsdk_set_dx_slices(g, 0, tfsdk_input(g, 1),
                             array_segment_rows(c, tfsdk_dy(g, 0), tfsdk_input(g, 2), combiner));
}
