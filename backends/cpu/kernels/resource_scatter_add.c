/* ResourceScatterAdd and ResourceScatterSub of floats: rows added to rows of a variable. Each piece
 * of work owns some of the variable's rows and goes through all indices, so that no two threads
 * change one row and equal indices add up in their order. */
#include "rows.h"

#include <tfsdk/shape.h>

#define PIECES 8

typedef struct job {
  char *v;
  const char *x;
  cpu_index index;
  void (*add)(void *v, const void *x, int64_t n);
  int64_t n, limit, row, bytes, step, pieces; /* step: from update to update */
} job;

#define ADD(name, T, op)                                                                           \
  CPU_CLONES static void name(void *v, const void *x, int64_t n) {                                 \
    T *restrict to = (T *)v;                                                                       \
    const T *restrict from = (const T *)x;                                                         \
    for (int64_t i = 0; i < n; i++) to[i] = to[i] op from[i];                                      \
  }
ADD(add_f32, float, +)
ADD(add_f64, double, +)
ADD(sub_f32, float, -)
ADD(sub_f64, double, -)

static void range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t first = j->limit * begin / j->pieces, last = j->limit * end / j->pieces;
  for (int64_t i = 0; i < j->n; i++) {
    const int64_t at = cpu_index_at(&j->index, i);
    if (i + CPU_ROWS_AHEAD < j->n) {
      const int64_t soon = cpu_index_at(&j->index, i + CPU_ROWS_AHEAD);
      if (soon >= first && soon < last) cpu_row_soon(j->v + soon * j->bytes, j->bytes);
    }
    if (at >= first && at < last) j->add(j->v + at * j->bytes, j->x + i * j->step, j->row);
  }
}

static tfsdk_status *run(tfsdk_run *r, int less) {
  const tfsdk_view *index = &r->in[1], *x = &r->in[2];
  tfsdk_view v;
  void *room;
  int same, scalar = x->rank == 0;
  job j = {.x = (const char *)x->data, .index = cpu_index_of(index), .n = index->n_elem};
  TFSDK_TRY(r->api->var_mutable(r, 0, &v)); /* nothing is changed before all is checked */
  TFSDK_REQUIRE(r, v.dtype == x->dtype, "the variable has type %s, but updates has %s",
                tfsdk_dtype_name(v.dtype), tfsdk_dtype_name(x->dtype));
  TFSDK_REQUIRE(r, v.rank > 0, "the variable is a scalar: it has no rows");
  same = scalar || x->rank == index->rank + v.rank - 1;
  for (int32_t d = 0; same && !scalar && d < x->rank; d++)
    same = x->dim[d] == (d < index->rank ? index->dim[d] : v.dim[d - index->rank + 1]);
  if (!same) {
    const tfsdk_shape have = tfsdk_shape_of_view(x), shape = tfsdk_shape_of_view(&v);
    return TFSDK_FAIL(r, INVALID_ARGUMENT,
                      "updates must have the shape of the indices and then of a row of the "
                      "variable %s, or be a scalar, but has %s",
                      tfsdk_shape_text(&shape).s, tfsdk_shape_text(&have).s);
  }
  TFSDK_TRY(cpu_index_check(r, index, v.dim[0]));
  j.add = v.dtype == TFSDK_FLOAT32 ? (less ? sub_f32 : add_f32) : (less ? sub_f64 : add_f64);
  j.v = (char *)v.data;
  j.limit = v.dim[0];
  j.row = cpu_extent(&v, 1, v.rank);
  j.bytes = j.row * (int64_t)tfsdk_dtype_size(v.dtype);
  j.step = j.bytes;
  if (j.bytes * j.n == 0) return NULL;
  if (scalar) { /* one row for all */
    TFSDK_TRY(r->api->workspace(r, (size_t)j.bytes, &room));
    for (int64_t i = 0; i < j.row; i++)
      memcpy((char *)room + i * (j.bytes / j.row), x->data, (size_t)(j.bytes / j.row));
    j.x = (const char *)room;
    j.step = 0;
  }
  /* a piece more costs a look at all indices */
  j.pieces = cpu_max(cpu_min(cpu_min(j.n * j.row / CPU_ROWS_GRAIN, PIECES), j.limit), 1);
  r->api->par_for(r, j.pieces, 1, range, &j);
  return NULL;
}

static tfsdk_status *add(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, 0);
}
static tfsdk_status *sub(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, 1);
}

static const tfsdk_where where[] = {{"dtype", cpu_float_types}};
static const tfsdk_kerneldef kernels[] = {
    {TFSDK_KERNEL_HEAD("ResourceScatterAdd", "cpu", 100), .label = "rows", .where = where,
     .n_where = 1, .compute = add},
    {TFSDK_KERNEL_HEAD("ResourceScatterSub", "cpu", 100), .label = "rows", .where = where,
     .n_where = 1, .compute = sub}};
TFSDK_UNIT_KERNELS(resource_scatter_add, kernels);
