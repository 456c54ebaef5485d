/* SoftmaxCrossEntropyWithLogits: loss = -sum(labels * log softmax) and gradient sum(labels) softmax
 * - labels. A label of 0 counts nothing, whatever its logarithm. Logits and labels may be broadcast
 * rows or columns. */
#include "softmax.h"

typedef struct job {
  const float *x, *label;
  int64_t x_row, x_col, l_row, l_col; /* steps; 0 where broadcast */
  float *loss, *backprop;
  int64_t n;
} job;

/* Sums of labels and of labels times shifted logits. */
CPU_CLONES static void weigh(const float *label, int64_t step, const float *shifted, int64_t n,
                             double *weight, double *product) {
  double w = 0, p = 0;
  for (int64_t i = 0; i < n; i++) {
    double l = (double)label[i * step];
    w += l;
    p += l != 0 ? l * (double)shifted[i] : 0;
  }
  *weight = w;
  *product = p;
}
CPU_CLONES static void finish(float *y, const float *label, int64_t step, int64_t n, float by) {
  for (int64_t i = 0; i < n; i++) y[i] = y[i] * by - label[i * step];
}

static void range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t n = j->n, block = cpu_softmax_rows(n);
  double sum[CPU_SOFTMAX_BLOCK], weight[CPU_SOFTMAX_BLOCK], product[CPU_SOFTMAX_BLOCK];
  for (int64_t r = begin; r < end; r += block) {
    const int64_t rows = cpu_min(block, end - r);
    float *y = j->backprop + r * n;
    for (int64_t i = 0; i < rows; i++) {
      const float *x = j->x + (r + i) * j->x_row;
      if (j->x_col == 0) {
        for (int64_t k = 0; k < n; k++) y[i * n + k] = x[0];
        x = y + i * n;
      }
      cpu_softmax_shift(x, y + i * n, 1, n);
      weigh(j->label + (r + i) * j->l_row, j->l_col, y + i * n, n, &weight[i], &product[i]);
    }
    cpu_softmax_exp(y, y, rows * n);
    cpu_softmax_sums(y, rows, n, sum);
    for (int64_t i = 0; i < rows; i++) {
      j->loss[r + i] = (float)(weight[i] * log(sum[i]) - product[i]);
      finish(y + i * n, j->label + (r + i) * j->l_row, j->l_col, n, (float)(weight[i] / sum[i]));
    }
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *label = &r->in[1], *y = &r->out[1];
  job j = {.x = (const float *)x->data, .label = (const float *)label->data, .n = y->dim[1]};
  (void)state;
  j.x_row = x->dim[0] == 1 ? 0 : x->dim[1], j.x_col = x->dim[1] == 1 ? 0 : 1;
  j.l_row = label->dim[0] == 1 ? 0 : label->dim[1], j.l_col = label->dim[1] == 1 ? 0 : 1;
  j.loss = (float *)r->out[0].data;
  j.backprop = (float *)y->data;
  if (y->n_elem > 0)
    r->api->par_for(r, y->dim[0], cpu_row_grain(j.n, CPU_GRAIN_HEAVY), range, &j);
  else if (y->dim[0] > 0) /* rows of no classes */
    memset(r->out[0].data, 0, r->out[0].byte_size);
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL_F32("SoftmaxCrossEntropyWithLogits", "vector", compute)}};
TFSDK_UNIT_KERNELS(softmax_cross_entropy_with_logits, kernels);
