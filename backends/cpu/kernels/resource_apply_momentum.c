/* ResourceApplyMomentum: accum = momentum accum + grad; var -= lr accum, or looking ahead
 * (Nesterov) var -= lr (grad + momentum accum). Inputs: var accum lr grad momentum. */
#include "apply.h"

enum { LR, MOMENTUM };
CPU_APPLY(plain, 2, s1 = s1 * k[MOMENTUM] + g; var -= s1 * k[LR];)
CPU_APPLY(nesterov, 2, s1 = s1 * k[MOMENTUM] + g; var -= (g + s1 * k[MOMENTUM]) * k[LR];)

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const double k[CPU_APPLY_NUMBERS] = {
      [LR] = cpu_apply_number(r, 2), [MOMENTUM] = cpu_apply_number(r, 4)};
  (void)state;
  if (tfsdk_attr_int(&r->attr, "use_nesterov"))
    return cpu_apply_run(r, 2, 3, nesterov_f32, nesterov_f64, k);
  return cpu_apply_run(r, 2, 3, plain_f32, plain_f64, k);
}

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("ResourceApplyMomentum", "vector", compute)}};
TFSDK_UNIT_KERNELS(resource_apply_momentum, kernels);
