/* Abs: |x|. */
#include "unary.h"

CPU_UNARY(absolute, CPU_GRAIN_COPY, fabsf(x), fabs(x))

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Abs", "vector", absolute)},
};
TFSDK_UNIT_KERNELS(abs, kernels);
