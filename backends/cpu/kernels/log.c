/* Log: the natural logarithm. */
#include "unary.h"

CPU_UNARY(logarithm, CPU_GRAIN_HEAVY, cpu_log(x), log(x))

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Log", "vector", logarithm)},
};
TFSDK_UNIT_KERNELS(log, kernels);
