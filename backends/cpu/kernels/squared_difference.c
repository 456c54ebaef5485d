/* SquaredDifference: (a - b)^2. */
#include "binary.h"

CPU_BINARY(squared_difference, CPU_GRAIN_COPY, (a - b) * (a - b), (a - b) * (a - b))

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("SquaredDifference", "vector", squared_difference)},
};
TFSDK_UNIT_KERNELS(squared_difference, kernels);
