/* Softmax over the last axis. */
#include "softmax.h"

typedef struct job {
  const float *x;
  float *y;
  int64_t n;
} job;

static void range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t n = j->n, block = cpu_softmax_rows(n);
  double sum[CPU_SOFTMAX_BLOCK];
  for (int64_t r = begin; r < end; r += block) {
    const int64_t rows = cpu_min(block, end - r);
    float *y = j->y + r * n;
    if (rows == 1) {
      sum[0] = cpu_softmax_long(j->x + r * n, y, n, cpu_softmax_max(j->x + r * n, n));
    } else {
      cpu_softmax_shift(j->x + r * n, y, rows, n);
      cpu_softmax_exp(y, y, rows * n);
      cpu_softmax_sums(y, rows, n, sum);
    }
    for (int64_t i = 0; i < rows; i++) cpu_softmax_scale(y + i * n, n, (float)(1 / sum[i]));
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  job j = {(const float *)x->data, (float *)r->out[0].data, x->dim[x->rank - 1]};
  (void)state;
  if (x->n_elem > 0)
    r->api->par_for(r, x->n_elem / j.n, cpu_row_grain(j.n, CPU_GRAIN_HEAVY), range, &j);
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL_F32("Softmax", "vector", compute)}};
TFSDK_UNIT_KERNELS(softmax, kernels);
