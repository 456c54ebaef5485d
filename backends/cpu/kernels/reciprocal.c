/* Reciprocal, and Inv, its older name: 1 / x. */
#include "unary.h"

CPU_UNARY(reciprocal, CPU_GRAIN_COPY, 1.0f / x, 1.0 / x)

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Reciprocal", "vector", reciprocal)},
    {CPU_KERNEL("Inv", "vector", reciprocal)},
};
TFSDK_UNIT_KERNELS(reciprocal, kernels);
