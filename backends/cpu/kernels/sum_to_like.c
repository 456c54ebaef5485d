/* SumToLike: the sum over the axes along which a smaller tensor was broadcast. */
#include "common.h"
#include "reduce.h"

#include <string.h>

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0], *y = &r->out[0];
  (void)state;
  if (x->rank == y->rank && x->n_elem == y->n_elem) { /* nothing to add: the same bits */
    if (!(x->flags & TFSDK_VIEW_SUPPLIED)) return r->api->forward(r, 0, 0);
    if (y->n_elem == 0) return NULL;
    const void *from = r->api->supply(r, 0, y->n_elem, y->data);
    if (from != y->data) memcpy(y->data, from, y->byte_size);
    return NULL;
  }
  return cpu_reduce(r, x, cpu_reduce_mask_like(x, y), CPU_FOLD_SUM, 1, y->data);
}

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("SumToLike", "vector", compute), .traits = TFSDK_KERNEL_SUPPLIED}};
TFSDK_UNIT_KERNELS(sum_to_like, kernels);
