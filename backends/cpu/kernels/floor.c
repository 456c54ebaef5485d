/* Floor, Ceil, Round and Rint (halves to even). */
#include "unary.h"

CPU_UNARY(down, CPU_GRAIN_COPY, floorf(x), floor(x))
CPU_UNARY(up, CPU_GRAIN_COPY, ceilf(x), ceil(x))
CPU_UNARY(nearest, CPU_GRAIN_COPY, rintf(x), rint(x))

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("Floor", "vector", down)},
                                          {CPU_KERNEL("Ceil", "vector", up)},
                                          {CPU_KERNEL("Round", "vector", nearest)},
                                          {CPU_KERNEL("Rint", "vector", nearest)}};
TFSDK_UNIT_KERNELS(floor, kernels);
