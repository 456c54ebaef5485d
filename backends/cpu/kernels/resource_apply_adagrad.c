/* ResourceApplyAdagrad: accum += grad^2 (unless update_slots is false); var -= lr grad /
 * sqrt(accum). Inputs: var accum lr grad. */
#include "apply.h"

enum { LR };
CPU_APPLY(learn, 2, s1 += g * g; var -= k[LR] * g / sqrt(s1);)
CPU_APPLY(keep, 2, var -= k[LR] * g / sqrt(s1);)

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const double k[CPU_APPLY_NUMBERS] = {[LR] = cpu_apply_number(r, 2)};
  (void)state;
  if (tfsdk_attr_int(&r->attr, "update_slots"))
    return cpu_apply_run(r, 2, 3, learn_f32, learn_f64, k);
  return cpu_apply_run(r, 2, 3, keep_f32, keep_f64, k);
}

static const tfsdk_kerneldef kernels[] = {{CPU_KERNEL("ResourceApplyAdagrad", "vector", compute)}};
TFSDK_UNIT_KERNELS(resource_apply_adagrad, kernels);
