/* Relu6: min(max(x, 0), 6), and its gradient, 0 at both bounds. */
#include "binary.h"
#include "unary.h"

CPU_UNARY(relu6, CPU_GRAIN_COPY, cpu_select(x < 0.0f, 0.0f, cpu_select(x > 6.0f, 6.0f, x)),
          x<0.0 ? 0.0 : x> 6.0 ? 6.0 : x)
CPU_PAIR(relu6_grad, CPU_GRAIN_COPY, cpu_select((b > 0.0f) & (b < 6.0f), a, 0.0f),
         b > 0.0 && b < 6.0 ? a : 0.0)

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Relu6", "vector", relu6)},
    {CPU_KERNEL("Relu6Grad", "vector", relu6_grad)},
};
TFSDK_UNIT_KERNELS(relu6, kernels);
