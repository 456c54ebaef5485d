/* ResourceApplyAdamWithAmsgrad: Adam with AMSGrad (TensorFlow's op).
 * Formula and source: adam.h.
 */
#include "adam.h"

/* s1 is m, s2 v, s3 vhat. */
TRAIN_STEP(step, 4, s1 += (g - s1) * k[ONE_BETA1]; s2 += (g * g - s2) * k[ONE_BETA2];
           s3 = s3 > s2 ? s3 : s2; var -= s1 * k[LR] / (sqrt(s3) + k[EPSILON]);)

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return adam_run(r, &step);
}

static const tfsdk_arg in[] = {ADAM_STATE, TRAIN_SLOT("vhat", "the largest v so far"), ADAM_NUMBERS,
                               TRAIN_GRAD("grad")};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING, ADAM_GAINS};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3] ; var:T[2,3](0.1,2) ; var:T[2,3](0.1,2) ; T[](0.1,0.9) ; T[](0.1,0.9) "
    "; T[](0.1,1) ; T[](0.1,0.9) ; T[](0.1,0.9) ; T[](0.01,0.1) ; T[2,3]",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceApplyAdamWithAmsgrad", "one step of Adam with AMSGrad"),
    .doc = "As ResourceApplyAdam, with the largest `v` so far under the root: "
           "`vhat = max(vhat, v); var -= lr_t * m / (sqrt(vhat) + epsilon)`.",
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_apply_adam_with_amsgrad, ops);
