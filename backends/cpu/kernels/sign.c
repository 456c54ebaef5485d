/* Sign: -1, 0 or 1; zeros keep their sign, NaN stays. */
#include "unary.h"

CPU_UNARY(sign, CPU_GRAIN_COPY, cpu_select(x > 0.0f, 1.0f, cpu_select(x < 0.0f, -1.0f, x)),
          x > 0   ? 1.0
          : x < 0 ? -1.0
                  : x)

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("Sign", "vector", sign)}};
TFSDK_UNIT_KERNELS(sign, kernels);
