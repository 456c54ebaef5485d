/* Neg: -x. */
#include "unary.h"

CPU_UNARY(neg, CPU_GRAIN_COPY, -x, -x)

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Neg", "vector", neg)},
};
TFSDK_UNIT_KERNELS(neg, kernels);
