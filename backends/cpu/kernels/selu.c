/* Selu: scale x for x >= 0, else scale alpha (e^x - 1); and its gradient from the outputs. */
#include "binary.h"
#include "unary.h"

/* Klambauer et al., arXiv:1706.02515 */
#define SCALE       1.0507009873554804934193349852946
#define SCALE_ALPHA 1.7580993408473768599402175208123

CPU_UNARY(selu, CPU_GRAIN_HEAVY,
          cpu_select(x < 0.0f, (float)SCALE_ALPHA *cpu_expm1_below(x), (float)SCALE *x),
          x < 0 ? SCALE_ALPHA * expm1(x) : SCALE * x)
/* a: gradients, b: outputs */
CPU_PAIR(selu_grad, CPU_GRAIN_COPY,
         cpu_select(b < 0.0f, a *(b + (float)SCALE_ALPHA), a *(float)SCALE),
         b < 0 ? a * (b + SCALE_ALPHA) : a * SCALE)

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("Selu", "vector", selu)},
                                          {CPU_KERNEL("SeluGrad", "vector", selu_grad)}};
TFSDK_UNIT_KERNELS(selu, kernels);
