/* Sqrt and its gradient dy / (2 y), which is 0 where dy is 0. */
#include "binary.h"
#include "unary.h"

CPU_UNARY(root, CPU_GRAIN_COPY, sqrtf(x), sqrt(x))
CPU_PAIR(root_grad, CPU_GRAIN_COPY, cpu_select(b == 0.0f, 0.0f, b * 0.5f / a),
         b == 0.0 ? 0.0 : b * 0.5 / a)

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Sqrt", "vector", root)},
    {CPU_KERNEL("SqrtGrad", "vector", root_grad)},
};
TFSDK_UNIT_KERNELS(sqrt, kernels);
