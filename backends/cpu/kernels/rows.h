/* rows.h - rows picked and changed by index, as in tables of embeddings. Rows lie anywhere, so the
 * ones that come soon are asked for ahead of their time. */
#ifndef TFSDK_CPU_ROWS_H
#define TFSDK_CPU_ROWS_H

#include "common.h"

#define CPU_ROWS_AHEAD 8    /* rows */
#define CPU_ROWS_LINES 8    /* of a row are asked for; the processor sees the rest coming */
#define CPU_ROWS_GRAIN 8192 /* elements of a piece: rows are waited for */

typedef struct cpu_index {
  const void *at;
  int wide; /* int64 */
} cpu_index;

static inline cpu_index cpu_index_of(const tfsdk_view *v) {
  return (cpu_index){v->data, v->dtype == TFSDK_INT64};
}

CPU_INLINE int64_t cpu_index_at(const cpu_index *x, int64_t i) {
  return x->wide ? ((const int64_t *)x->at)[i] : ((const int32_t *)x->at)[i];
}

static inline tfsdk_status *cpu_index_check(const tfsdk_run *r, const tfsdk_view *v,
                                            int64_t limit) {
  const cpu_index x = cpu_index_of(v);
  for (int64_t i = 0; i < v->n_elem; i++)
    if (cpu_index_at(&x, i) < 0 || cpu_index_at(&x, i) >= limit)
      return TFSDK_FAIL(r, INVALID_ARGUMENT, "indices[%lld] = %lld is out of range [0, %lld)",
                        (long long)i, (long long)cpu_index_at(&x, i), (long long)limit);
  return NULL;
}

CPU_INLINE void cpu_row_soon(const char *row, int64_t bytes) {
  for (int64_t i = 0; i < bytes && i < CPU_ROWS_LINES * 64; i += 64) __builtin_prefetch(row + i);
}

/* y[b, o, k] = x[b, o, index[b, k]]: rows of `row` bytes. */
typedef struct cpu_pick {
  const char *x;
  char *y;
  cpu_index index;
  int64_t outer, limit, n, row; /* outer axes; rows to pick from; rows picked; bytes of a row */
} cpu_pick;

static void cpu_pick_range(void *user, int64_t begin, int64_t end) {
  const cpu_pick *j = (const cpu_pick *)user;
  int64_t k = begin % j->n, o = begin / j->n, b = o / j->outer;
  for (int64_t i = begin; i < end; i++) {
    const char *from = j->x + o * j->limit * j->row;
    if (k + CPU_ROWS_AHEAD < j->n)
      cpu_row_soon(from + cpu_index_at(&j->index, b * j->n + k + CPU_ROWS_AHEAD) * j->row, j->row);
    memcpy(j->y + i * j->row, from + cpu_index_at(&j->index, b * j->n + k) * j->row,
           (size_t)j->row);
    if (++k == j->n) {
      k = 0;
      b = ++o / j->outer;
    }
  }
}

static inline int64_t cpu_extent(const tfsdk_view *v, int64_t from, int64_t to) {
  int64_t n = 1;
  for (int64_t d = from; d < to; d++) n *= v->dim[d];
  return n;
}

/* Picks along `axis`, behind `batch` axes that x and the indices share, into y. */
static inline tfsdk_status *cpu_pick_run(tfsdk_run *r, const tfsdk_view *x, const tfsdk_view *index,
                                         int64_t axis, int64_t batch, char *y) {
  cpu_pick j = {.x = (const char *)x->data, .y = y, .index = cpu_index_of(index)};
  j.outer = cpu_extent(x, batch, axis);
  j.limit = x->dim[axis];
  j.n = cpu_extent(index, batch, index->rank);
  j.row = cpu_extent(x, axis + 1, x->rank) * (int64_t)tfsdk_dtype_size(x->dtype);
  TFSDK_TRY(cpu_index_check(r, index, j.limit));
  const int64_t rows = cpu_extent(x, 0, axis) * j.n;
  if (rows > 0 && j.row > 0)
    r->api->par_for(r, rows, cpu_row_grain(j.row / 4 + 16, CPU_ROWS_GRAIN), cpu_pick_range, &j);
  return NULL;
}

#endif
