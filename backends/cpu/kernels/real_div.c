/* RealDiv: a / b. */
#include "binary.h"

CPU_BINARY(real_div, CPU_GRAIN_COPY, a / b, a / b)

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("RealDiv", "vector", real_div)},
};
TFSDK_UNIT_KERNELS(real_div, kernels);
