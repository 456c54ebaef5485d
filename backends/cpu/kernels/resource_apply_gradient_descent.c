/* ResourceApplyGradientDescent: var -= alpha * delta. */
#include "apply.h"

enum { ALPHA };
CPU_APPLY(step, 1, var -= k[ALPHA] * g;)

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const double k[CPU_APPLY_NUMBERS] = {[ALPHA] = cpu_apply_number(r, 1)};
  (void)state;
  return cpu_apply_run(r, 1, 2, step_f32, step_f64, k);
}

static const tfsdk_kerneldef kernels[] = {
    {CPU_KERNEL("ResourceApplyGradientDescent", "vector", compute)}};
TFSDK_UNIT_KERNELS(resource_apply_gradient_descent, kernels);
