/* Sub: a - b. */
#include "binary.h"

CPU_BINARY(sub, CPU_GRAIN_COPY, a - b, a - b)

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Sub", "vector", sub)},
};
TFSDK_UNIT_KERNELS(sub, kernels);
