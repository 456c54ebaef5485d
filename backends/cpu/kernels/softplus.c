/* Softplus: log(1 + e^x), and its gradient sigmoid(features) * gradients. */
#include "binary.h"
#include "unary.h"

CPU_UNARY(softplus, CPU_GRAIN_HEAVY, cpu_softplus(x), x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)))
CPU_PAIR(softplus_grad, CPU_GRAIN_HEAVY, a / (1.0f + cpu_exp(-b)), a / (1.0 + exp(-b)))

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Softplus", "vector", softplus)},
    {CPU_KERNEL("SoftplusGrad", "vector", softplus_grad)},
};
TFSDK_UNIT_KERNELS(softplus, kernels);
