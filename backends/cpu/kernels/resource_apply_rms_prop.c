/* ResourceApplyRMSProp. Inputs: var ms mom lr rho momentum epsilon grad. */
#include "apply.h"

enum { LR, ONE_RHO, MOMENTUM, EPSILON };
CPU_APPLY(step, 3, s1 += (g * g - s1) * k[ONE_RHO];
          s2 = s2 * k[MOMENTUM] + k[LR] * g / sqrt(s1 + k[EPSILON]); var -= s2;)

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const double k[CPU_APPLY_NUMBERS] = {[LR] = cpu_apply_number(r, 3),
                                       [ONE_RHO] = 1 - cpu_apply_number(r, 4),
                                       [MOMENTUM] = cpu_apply_number(r, 5),
                                       [EPSILON] = cpu_apply_number(r, 6)};
  (void)state;
  return cpu_apply_run(r, 3, 7, step_f32, step_f64, k);
}

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("ResourceApplyRMSProp", "vector", compute)}};
TFSDK_UNIT_KERNELS(resource_apply_rms_prop, kernels);
