/* BiasAdd, channels last, and its gradient with respect to the bias: the sum over all other axes.
 */
#include "binary.h"
#include "reduce.h"

static tfsdk_status *supports(const tfsdk_kbuild *b, int32_t *yes, char *why, size_t why_n) {
  if (strncmp(tfsdk_attr_string(&b->attr, "data_format"), "NC", 2) == 0)
    CPU_CANNOT("only with channels last");
  *yes = 1;
  return NULL;
}

CPU_BINARY(bias_add, CPU_GRAIN_COPY, a + b, a + b)

static tfsdk_status *bias_add_grad(void *state, tfsdk_run *r) {
  const tfsdk_view *dy = &r->in[0];
  (void)state;
  return cpu_reduce(r, dy, (1u << (dy->rank - 1)) - 1, CPU_FOLD_SUM, 1, r->out[0].data);
}

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("BiasAdd", "vector", bias_add), .supports = supports},
    {CPU_KERNEL("BiasAddGrad", "vector", bias_add_grad), .traits = TFSDK_KERNEL_SUPPLIED,
     .supports = supports},
};
TFSDK_UNIT_KERNELS(bias_add, kernels);
