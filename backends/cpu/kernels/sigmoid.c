/* Sigmoid: 1 / (1 + e^-x), and its gradient y (1 - y) dy. */
#include "binary.h"
#include "unary.h"

CPU_UNARY(sigmoid, CPU_GRAIN_HEAVY, cpu_sigmoid(x),
          x >= 0 ? 1.0 / (1.0 + exp(-x)) : exp(x) / (1.0 + exp(x)))
CPU_PAIR(sigmoid_grad, CPU_GRAIN_COPY, b *a *(1.0f - a), b *a *(1.0 - a))

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Sigmoid", "vector", sigmoid)},
    {CPU_KERNEL("SigmoidGrad", "vector", sigmoid_grad)},
};
TFSDK_UNIT_KERNELS(sigmoid, kernels);
