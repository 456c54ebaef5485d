/* UnsortedSegmentSum in float32. Each piece of work owns some of the segments and goes through all
 * ids, so that no two threads add to one row and rows are added in their order. Sums are in double.
 */
#include "common.h"

#include <tfsdk/shape.h>

#define PIECES 16
#define PIECE  65536 /* additions worth a piece */

typedef struct job {
  const float *x;
  const void *id;
  int wide; /* ids are int64 */
  int64_t rows, segments, row, pieces;
  float *y;
  double *sum;
} job;

static int64_t id_of(const job *j, int64_t i) {
  return j->wide ? ((const int64_t *)j->id)[i] : ((const int32_t *)j->id)[i];
}

CPU_CLONES static void add(double *sum, const float *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) sum[i] += (double)x[i];
}
CPU_CLONES static void store(const double *sum, float *y, int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i] = (float)sum[i];
}

static void range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  for (int64_t p = begin; p < end; p++) {
    const int64_t s0 = j->segments * p / j->pieces, s1 = j->segments * (p + 1) / j->pieces;
    memset(j->sum + s0 * j->row, 0, (size_t)((s1 - s0) * j->row) * sizeof *j->sum);
    for (int64_t i = 0; i < j->rows; i++) {
      const int64_t id = id_of(j, i);
      if (id >= s0 && id < s1) add(j->sum + id * j->row, j->x + i * j->row, j->row);
    }
    store(j->sum + s0 * j->row, j->y + s0 * j->row, (s1 - s0) * j->row);
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *ids = &r->in[1], *y = &r->out[0];
  job j = {.x = (const float *)x->data, .id = ids->data, .y = (float *)y->data};
  void *room;
  (void)state;
  j.wide = ids->dtype == TFSDK_INT64;
  j.rows = ids->n_elem;
  j.segments = y->dim[0];
  for (int64_t i = 0; i < j.rows; i++)
    if (id_of(&j, i) >= j.segments)
      return TFSDK_FAIL(r, INVALID_ARGUMENT, "segment_ids[%lld] = %lld is out of range [0, %lld)",
                        (long long)i, (long long)id_of(&j, i), (long long)j.segments);
  if (y->n_elem == 0) return NULL;
  j.row = y->n_elem / j.segments;
  TFSDK_TRY(r->api->workspace(r, (size_t)y->n_elem * sizeof(double), &room));
  j.sum = (double *)room;
  /* a piece more costs a look at all ids */
  j.pieces = cpu_max(cpu_min(cpu_min((x->n_elem + y->n_elem) / PIECE, PIECES), j.segments), 1);
  r->api->par_for(r, j.pieces, 1, range, &j);
  return NULL;
}

static const int32_t types[] = {TFSDK_FLOAT32, 0};
static const tfsdk_where where[] = {{"T", types}};
static const tfsdk_kerneldef kernels[] = {{TFSDK_KERNEL_HEAD("UnsortedSegmentSum", "cpu", 100),
                                           .label = "threads", .where = where, .n_where = 1,
                                           .host_in = 4, .compute = compute}};
TFSDK_UNIT_KERNELS(unsorted_segment_sum, kernels);
