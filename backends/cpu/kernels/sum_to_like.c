/* SumToLike: the sum over the axes along which a smaller tensor was broadcast. */
#include "common.h"
#include "reduce.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *y = &r->out[0];
  (void)state;
  if (x->rank == y->rank && x->n_elem == y->n_elem) return r->api->forward(r, 0, 0);
  return cpu_reduce(r, x, cpu_reduce_mask_like(x, y), CPU_FOLD_SUM, 1, y->data);
}

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("SumToLike", "vector", compute)}};
TFSDK_UNIT_KERNELS(sum_to_like, kernels);
