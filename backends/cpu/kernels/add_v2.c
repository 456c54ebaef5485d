/* AddV2, and Add, its older name. */
#include "binary.h"

CPU_BINARY(add, CPU_GRAIN_COPY, a + b, a + b)

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("AddV2", "vector", add)},
    {CPU_KERNEL("Add", "vector", add)},
};
TFSDK_UNIT_KERNELS(add_v2, kernels);
