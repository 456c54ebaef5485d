/* Maximum; NaN on either side gives NaN. */
#include "binary.h"

CPU_BINARY(maximum, CPU_GRAIN_COPY, cpu_select((a >= b) | (a != a), a, b), a >= b || a != a ? a : b)

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Maximum", "vector", maximum)},
};
TFSDK_UNIT_KERNELS(maximum, kernels);
