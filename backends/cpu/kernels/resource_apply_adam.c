/* ResourceApplyAdam. Inputs: var m v beta1_power beta2_power lr beta1 beta2 epsilon grad. */
#include "apply.h"

enum { LR, BETA1, ONE_BETA1, ONE_BETA2, EPSILON };
CPU_APPLY(plain, 3, s1 += (g - s1) * k[ONE_BETA1]; s2 += (g * g - s2) * k[ONE_BETA2];
          var -= s1 * k[LR] / (sqrt(s2) + k[EPSILON]);)
CPU_APPLY(nesterov, 3, s1 += (g - s1) * k[ONE_BETA1]; s2 += (g * g - s2) * k[ONE_BETA2];
          var -= (g * k[ONE_BETA1] + s1 * k[BETA1]) * k[LR] / (sqrt(s2) + k[EPSILON]);)

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const double power1 = cpu_apply_number(r, 3), power2 = cpu_apply_number(r, 4);
  const double beta1 = cpu_apply_number(r, 6), beta2 = cpu_apply_number(r, 7);
  const double gain1 = tfsdk_attr_float(&r->attr, "_gain1");
  const double gain2 = tfsdk_attr_float(&r->attr, "_gain2");
  const double k[CPU_APPLY_NUMBERS] = {[LR] =
                                           cpu_apply_number(r, 5) * sqrt(1 - power2) / (1 - power1),
                                       [BETA1] = beta1,
                                       [ONE_BETA1] = gain1 != 0 ? gain1 : 1 - beta1,
                                       [ONE_BETA2] = gain2 != 0 ? gain2 : 1 - beta2,
                                       [EPSILON] = cpu_apply_number(r, 8)};
  (void)state;
  if (tfsdk_attr_int(&r->attr, "use_nesterov"))
    return cpu_apply_run(r, 3, 9, nesterov_f32, nesterov_f64, k);
  return cpu_apply_run(r, 3, 9, plain_f32, plain_f64, k);
}

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("ResourceApplyAdam", "vector", compute)}};
TFSDK_UNIT_KERNELS(resource_apply_adam, kernels);
