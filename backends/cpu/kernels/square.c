/* Square: x^2. */
#include "unary.h"

CPU_UNARY(square, CPU_GRAIN_COPY, x *x, x *x)

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Square", "vector", square)},
};
TFSDK_UNIT_KERNELS(square, kernels);
