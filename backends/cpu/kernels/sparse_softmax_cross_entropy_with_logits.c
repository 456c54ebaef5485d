/* SparseSoftmaxCrossEntropyWithLogits: loss and gradient in one pass over the logits. */
#include "softmax.h"

typedef struct job {
  const float *x;
  const void *label;
  int wide; /* labels are int64 */
  float *loss, *backprop;
  int64_t n;
} job;

static int64_t label_of(const job *j, int64_t row) {
  return j->wide ? ((const int64_t *)j->label)[row] : ((const int32_t *)j->label)[row];
}

static void range(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  const int64_t n = j->n, block = cpu_softmax_rows(n);
  double sum[CPU_SOFTMAX_BLOCK];
  for (int64_t r = begin; r < end; r += block) {
    const int64_t rows = cpu_min(block, end - r);
    float *y = j->backprop + r * n;
    if (rows == 1) {
      const float *x = j->x + r * n, top = cpu_softmax_max(x, n);
      j->loss[r] = x[label_of(j, r)] - top;
      sum[0] = cpu_softmax_long(x, y, n, top);
    } else {
      cpu_softmax_shift(j->x + r * n, y, rows, n);
      for (int64_t i = 0; i < rows; i++) j->loss[r + i] = y[i * n + label_of(j, r + i)];
      cpu_softmax_exp(y, y, rows * n);
      cpu_softmax_sums(y, rows, n, sum);
    }
    for (int64_t i = 0; i < rows; i++) {
      j->loss[r + i] = (float)(log(sum[i]) - (double)j->loss[r + i]);
      cpu_softmax_scale(y + i * n, n, (float)(1 / sum[i]));
      y[i * n + label_of(j, r + i)] -= 1;
    }
  }
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *label = &r->in[1];
  job j = {.x = (const float *)x->data, .label = label->data, .wide = label->dtype == TFSDK_INT64};
  (void)state;
  j.loss = (float *)r->out[0].data;
  j.backprop = (float *)r->out[1].data;
  j.n = x->dim[1];
  for (int64_t i = 0; i < label->n_elem; i++)
    TFSDK_REQUIRE(r, label_of(&j, i) >= 0 && label_of(&j, i) < j.n,
                  "labels[%lld] is %lld, but there are %lld classes: 0..%lld", (long long)i,
                  (long long)label_of(&j, i), (long long)j.n, (long long)j.n - 1);
  if (x->n_elem > 0) r->api->par_for(r, x->dim[0], cpu_row_grain(j.n, CPU_GRAIN_HEAVY), range, &j);
  return NULL;
}

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL_F32("SparseSoftmaxCrossEntropyWithLogits", "vector", compute)}};
TFSDK_UNIT_KERNELS(sparse_softmax_cross_entropy_with_logits, kernels);
