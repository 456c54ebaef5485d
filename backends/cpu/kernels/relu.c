/* Relu and its gradient; relu'(0) = 0, NaN stays NaN. */
#include "binary.h"
#include "unary.h"

CPU_UNARY(relu, CPU_GRAIN_COPY, x < 0.0f ? 0.0f : x, x < 0.0 ? 0.0 : x)
CPU_PAIR(relu_grad, CPU_GRAIN_COPY, cpu_select(b > 0.0f, a, 0.0f), b > 0.0 ? a : 0.0)

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("Relu", "vector", relu)},
                                          {CPU_KERNEL("ReluGrad", "vector", relu_grad)}};
TFSDK_UNIT_KERNELS(relu, kernels);
