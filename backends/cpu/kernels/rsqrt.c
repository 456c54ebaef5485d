/* Rsqrt: 1 / sqrt(x), and its gradient -y^3 dy / 2. */
#include "binary.h"
#include "unary.h"

CPU_UNARY(rsqrt, CPU_GRAIN_COPY, 1.0f / sqrtf(x), 1.0 / sqrt(x))
CPU_PAIR(rsqrt_grad, CPU_GRAIN_COPY, -0.5f * b * (a * a * a), -0.5 * b * (a * a * a))

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Rsqrt", "vector", rsqrt)},
    {CPU_KERNEL("RsqrtGrad", "vector", rsqrt_grad)},
};
TFSDK_UNIT_KERNELS(rsqrt, kernels);
