/* Erf. */
#include "unary.h"

CPU_UNARY(error_function, CPU_GRAIN_HEAVY, cpu_erf(x), erf(x))

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("Erf", "vector", error_function)}};
TFSDK_UNIT_KERNELS(erf, kernels);
