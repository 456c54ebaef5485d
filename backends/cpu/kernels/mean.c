/* Mean over axes; of nothing it is NaN. */
#include "common.h"
#include "reduce.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  const uint32_t mask = cpu_reduce_mask(&r->in[1], x->rank);
  int64_t count = 1;
  (void)state;
  for (int32_t d = 0; d < x->rank; d++)
    if (mask >> d & 1u) count *= x->dim[d];
  return cpu_reduce(r, x, mask, CPU_FOLD_SUM, (double)count, r->out[0].data);
}

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Mean", "vector", compute), .traits = TFSDK_KERNEL_SUPPLIED, .host_in = 2}};
TFSDK_UNIT_KERNELS(mean, kernels);
