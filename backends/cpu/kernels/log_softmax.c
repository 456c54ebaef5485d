/* LogSoftmax over the last axis: x - max - log(sum of exponentials), two subtractions, since a huge
 * maximum would swallow the logarithm. Exponentials go through a small block, piece by piece. */
#include "softmax.h"

typedef struct job {
  const float *x;
  float *y;
  int64_t n;
} job;

CPU_CLONES static void subtract(float *y, int64_t n, float by) {
  for (int64_t i = 0; i < n; i++) y[i] -= by;
}

static void range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t n = j->n, block = cpu_softmax_rows(n);
  CPU_ALIGNED(64) float e[CPU_SOFTMAX_BLOCK];
  double sum[CPU_SOFTMAX_BLOCK];
  for (int64_t r = begin; r < end; r += block) {
    const int64_t rows = cpu_min(block, end - r);
    float *y = j->y + r * n;
    cpu_softmax_shift(j->x + r * n, y, rows, n);
    if (n <= CPU_SOFTMAX_BLOCK) {
      cpu_softmax_exp(y, e, rows * n);
      cpu_softmax_sums(e, rows, n, sum);
    } else {
      sum[0] = 0;
      for (int64_t i = 0; i < n; i += CPU_SOFTMAX_BLOCK)
        sum[0] += cpu_softmax_long(y + i, e, cpu_min(n - i, CPU_SOFTMAX_BLOCK), 0);
    }
    for (int64_t i = 0; i < rows; i++) subtract(y + i * n, n, (float)log(sum[i]));
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

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL_F32("LogSoftmax", "vector", compute)}};
TFSDK_UNIT_KERNELS(log_softmax, kernels);
