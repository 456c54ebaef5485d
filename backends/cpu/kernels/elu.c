/* Elu: x for x >= 0, else e^x - 1; and its gradient from the outputs. */
#include "binary.h"
#include "unary.h"

CPU_UNARY(elu, CPU_GRAIN_HEAVY, cpu_select(x < 0.0f, cpu_expm1_below(x), x), x < 0 ? expm1(x) : x)
/* a: gradients, b: outputs */
CPU_PAIR(elu_grad, CPU_GRAIN_COPY, cpu_select(b < 0.0f, a *(b + 1.0f), a),
         b < 0 ? a * (b + 1.0) : a)

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("Elu", "vector", elu)},
                                          {CPU_KERNEL("EluGrad", "vector", elu_grad)}};
TFSDK_UNIT_KERNELS(elu, kernels);
