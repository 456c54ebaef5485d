/* Exp: e^x. */
#include "unary.h"

CPU_UNARY(exponential, CPU_GRAIN_HEAVY, cpu_exp(x), exp(x))

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Exp", "vector", exponential)},
};
TFSDK_UNIT_KERNELS(exp, kernels);
