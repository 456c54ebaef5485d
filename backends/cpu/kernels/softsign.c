/* Softsign: x / (1 + |x|); and its gradient from the inputs. */
#include "binary.h"
#include "unary.h"

CPU_UNARY(softsign, CPU_GRAIN_COPY,
          cpu_select(fabsf(x) > 0x1.fffffep127f, copysignf(1.0f, x), x / (1.0f + fabsf(x))),
          isinf(x) ? copysign(1.0, x) : x / (1.0 + fabs(x)))
/* a: gradients, b: features */
CPU_PAIR(softsign_grad, CPU_GRAIN_COPY, a / ((1.0f + fabsf(b)) * (1.0f + fabsf(b))),
         a / ((1.0 + fabs(b)) * (1.0 + fabs(b))))

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("Softsign", "vector", softsign)},
                                          {CPU_KERNEL("SoftsignGrad", "vector", softsign_grad)}};
TFSDK_UNIT_KERNELS(softsign, kernels);
