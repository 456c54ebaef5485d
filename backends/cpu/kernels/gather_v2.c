/* GatherV2: rows copied by index, spread over the threads. */
#include "common.h"

#include <tfsdk/shape.h>

typedef struct job {
  const char *x;
  char *y;
  const void *index;
  int wide; /* indices are int64 */
  int64_t outer, limit, n,
      row; /* per batch: outer axes; extent of the axis; indices; bytes of a row */
} job;

static int64_t index_of(const job *j, int64_t i) {
  return j->wide ? ((const int64_t *)j->index)[i] : ((const int32_t *)j->index)[i];
}

/* Row i of the output: batch, outer position, index. */
static void range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  for (int64_t i = begin; i < end; i++) {
    const int64_t k = i % j->n, o = i / j->n, b = o / j->outer;
    const int64_t from = o * j->limit + index_of(j, b * j->n + k);
    memcpy(j->y + i * j->row, j->x + from * j->row, (size_t)j->row);
  }
}

static int64_t product(const tfsdk_view *v, int64_t from, int64_t to) {
  int64_t n = 1;
  for (int64_t d = from; d < to; d++) n *= v->dim[d];
  return n;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *index = &r->in[1], *y = &r->out[0];
  int64_t axis = tfsdk_view_int(&r->in[2], 0), batch = tfsdk_attr_int(&r->attr, "batch_dims"), rows;
  job j = {.x = (const char *)x->data, .y = (char *)y->data, .index = index->data};
  (void)state;
  if (axis < 0) axis += x->rank;
  if (batch < 0) batch += index->rank;
  j.wide = index->dtype == TFSDK_INT64;
  j.outer = product(x, batch, axis);
  j.limit = x->dim[axis];
  j.n = product(index, batch, index->rank);
  j.row = product(x, axis + 1, x->rank) * (int64_t)tfsdk_dtype_size(x->dtype);
  for (int64_t i = 0; i < index->n_elem; i++)
    if (index_of(&j, i) < 0 || index_of(&j, i) >= j.limit)
      return TFSDK_FAIL(r, INVALID_ARGUMENT, "indices[%lld] = %lld is out of range [0, %lld)",
                        (long long)i, (long long)index_of(&j, i), (long long)j.limit);
  rows = product(x, 0, axis) * j.n;
  if (rows > 0 && j.row > 0)
    r->api->par_for(r, rows, cpu_row_grain(j.row / 4 + 16, CPU_GRAIN_COPY), range, &j);
  return NULL;
}

static const int32_t types[] = {TFSDK_FLOAT32, TFSDK_FLOAT64, TFSDK_FLOAT16, TFSDK_BFLOAT16,
                                TFSDK_INT32,   TFSDK_INT64,   TFSDK_UINT8,   0};
static const tfsdk_where where[] = {{"Tparams", types}};
static const tfsdk_kerneldef kernels[] = {{TFSDK_KERNEL_HEAD("GatherV2", "cpu", 100),
                                           .label = "threads", .where = where, .n_where = 1,
                                           .host_in = 4, .compute = compute}};
TFSDK_UNIT_KERNELS(gather_v2, kernels);
