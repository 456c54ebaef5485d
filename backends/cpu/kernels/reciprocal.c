/* Reciprocal, and Inv, its older name: 1 / x; and its gradient from the outputs. */
#include "binary.h"
#include "unary.h"

CPU_UNARY(reciprocal, CPU_GRAIN_COPY, 1.0f / x, 1.0 / x)
/* a: outputs, b: gradients */
CPU_PAIR(reciprocal_grad, CPU_GRAIN_COPY, -b *a *a, -b *a *a)

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("Reciprocal", "vector", reciprocal)},
    {CPU_KERNEL("Inv", "vector", reciprocal)},
    {CPU_KERNEL("ReciprocalGrad", "vector", reciprocal_grad)},
    {CPU_KERNEL("InvGrad", "vector", reciprocal_grad)},
};
TFSDK_UNIT_KERNELS(reciprocal, kernels);
