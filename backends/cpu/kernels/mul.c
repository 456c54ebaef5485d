/* Mul: a * b. */
#include "binary.h"

CPU_BINARY(mul, CPU_GRAIN_COPY, a *b, a *b)

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Mul", "vector", mul)},
};
TFSDK_UNIT_KERNELS(mul, kernels);
