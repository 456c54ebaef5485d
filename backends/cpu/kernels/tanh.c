/* Tanh and its gradient (1 - y^2) dy. */
#include "binary.h"
#include "unary.h"

CPU_UNARY(hyperbolic, CPU_GRAIN_HEAVY, cpu_tanh(x), tanh(x))
CPU_PAIR(hyperbolic_grad, CPU_GRAIN_COPY, b *(1.0f - a * a), b *(1.0 - a * a))

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Tanh", "vector", hyperbolic)},
    {CPU_KERNEL("TanhGrad", "vector", hyperbolic_grad)},
};
TFSDK_UNIT_KERNELS(tanh, kernels);
