/* Min over axes; NaN if an element is. */
#include "common.h"
#include "reduce.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return cpu_reduce(r, &r->in[0], cpu_reduce_mask(&r->in[1], r->in[0].rank), CPU_FOLD_MIN, 1,
                    r->out[0].data);
}

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Min", "vector", compute), .traits = TFSDK_KERNEL_SUPPLIED, .host_in = 2}};
TFSDK_UNIT_KERNELS(min, kernels);
