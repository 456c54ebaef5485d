/* BroadcastToLike: the gradient of sums and means, x repeated along the reduced axes, divided by
 * their number of elements for a mean. Rows of the output are copies of rows of x or one number
 * repeated.
 */
#include "common.h"

#include <tfsdk/elementwise.h>

typedef struct job {
  const char *x;
  char *y;
  int wide;
  double divisor;
  tfsdk_walk walk; /* at the first row */
} job;

#define LOOPS(name, T)                                                                             \
  CPU_CLONES static void name##_copy(const T *x, T *y, int64_t n, T by) {                          \
    if (by == 1)                                                                                   \
      memcpy(y, x, (size_t)n * sizeof *y);                                                         \
    else                                                                                           \
      for (int64_t i = 0; i < n; i++) y[i] = x[i] / by;                                            \
  }                                                                                                \
  CPU_CLONES static void name##_fill(const T *x, T *y, int64_t n, T by) {                          \
    const T v = by == 1 ? x[0] : x[0] / by;                                                        \
    for (int64_t i = 0; i < n; i++) y[i] = v;                                                      \
  }                                                                                                \
  static void name(const job *j, int64_t from, int64_t to, int64_t n) {                            \
    const T *x = (const T *)j->x + from;                                                           \
    T *y = (T *)j->y + to;                                                                         \
    if (j->walk.step[0])                                                                           \
      name##_copy(x, y, n, (T)j->divisor);                                                         \
    else                                                                                           \
      name##_fill(x, y, n, (T)j->divisor);                                                         \
  }
LOOPS(floats, float)
LOOPS(doubles, double)

static void piece(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  (j->wide ? doubles : floats)(j, begin * j->walk.step[0], begin, end - begin);
}

static void rows(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const tfsdk_walk *w = &j->walk;
  for (int64_t r = begin; r < end; r++) {
    int64_t left = r, from = 0;
    for (int32_t d = w->n_axes - 1; d >= 0; d--) {
      from += left % w->dim[d] * w->stride[0][d];
      left /= w->dim[d];
    }
    (j->wide ? doubles : floats)(j, from, r * w->n, w->n);
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *y = &r->out[0], *axes = &r->in[2];
  tfsdk_view x = r->in[0];
  int64_t dim[TFSDK_MAX_RANK], count = 1;
  uint32_t mask = 0;
  job j = {.x = (const char *)x.data, .y = (char *)y->data, .wide = y->dtype == TFSDK_FLOAT64};
  (void)state;
  for (int64_t i = 0; i < axes->n_elem; i++) {
    int64_t d = tfsdk_view_int(axes, i);
    mask |= 1u << (d < 0 ? d + y->rank : d);
  }
  if (!tfsdk_attr_int(&r->attr, "keep_dims")) { /* the reduced axes come back with extent 1 */
    int32_t from = 0;
    for (int32_t d = 0; d < y->rank; d++) dim[d] = mask >> d & 1u ? 1 : x.dim[from++];
    x.dim = dim;
    x.rank = y->rank;
  }
  if (tfsdk_attr_int(&r->attr, "mean"))
    for (int32_t d = 0; d < y->rank; d++)
      if (mask >> d & 1u) count *= y->dim[d];
  j.divisor = (double)count;
  tfsdk_walk_begin(&j.walk, &x, 1, y);
  if (j.walk.rows == 1)
    r->api->par_for(r, j.walk.n, CPU_GRAIN_COPY, piece, &j);
  else if (j.walk.rows > 1)
    r->api->par_for(r, j.walk.rows, cpu_row_grain(j.walk.n, CPU_GRAIN_COPY), rows, &j);
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("BroadcastToLike", "vector", compute), .host_in = 4}};
TFSDK_UNIT_KERNELS(broadcast_to_like, kernels);
