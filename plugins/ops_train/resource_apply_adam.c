/* ResourceApplyAdam: Adam (TensorFlow's op).
 * Formula and source: adam.h.
 */
#include "adam.h"

/* s1 is m, s2 v. */
TRAIN_STEP(plain, 3, s1 += (g - s1) * k[ONE_BETA1]; s2 += (g * g - s2) * k[ONE_BETA2];
           var -= s1 * k[LR] / (sqrt(s2) + k[EPSILON]);)
TRAIN_STEP(nesterov, 3, s1 += (g - s1) * k[ONE_BETA1]; s2 += (g * g - s2) * k[ONE_BETA2];
           var -= (g * k[ONE_BETA1] + s1 * k[BETA1]) * k[LR] / (sqrt(s2) + k[EPSILON]);)

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return adam_run(r, train_flag(r, "use_nesterov") ? &nesterov : &plain);
}

static const tfsdk_arg in[] = {ADAM_STATE, ADAM_NUMBERS, TRAIN_GRAD("grad")};
static const tfsdk_attrdef attr[] = {
    TRAIN_ATTR_T,
    TRAIN_ATTR_LOCKING,
    {"use_nesterov", "bool", "false", "look ahead along m (Dozat's Nadam)", 0, 0},
    ADAM_GAINS};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3] ; var:T[2,3](0.1,2) ; T[](0.1,0.9) ; T[](0.1,0.9) ; T[](0.1,1) ; "
    "T[](0.1,0.9) ; T[](0.1,0.9) ; T[](0.01,0.1) ; T[2,3]",
    "var:float32[3] ; var:float32[3] ; var:float32[3](0.1,2) ; float32[](0.1,0.9) ; "
    "float32[](0.1,0.9) ; float32[](0.1,1) ; float32[](0.1,0.9) ; float32[](0.1,0.9) ; "
    "float32[](0.01,0.1) ; float32[3] | use_nesterov=true",
    "var:float32[3] ; var:float32[3] ; var:float32[3](0.1,2) ; float32[](0.1,0.9) ; "
    "float32[](0.1,0.9) ; float32[](0.1,1) ; float32[](0.1,0.9) ; float32[](0.1,0.9) ; "
    "float32[](0.01,0.1) ; float32[3] | _gain1=0.1 _gain2=0.001",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceApplyAdam", "one step of Adam"),
    .doc = "`lr_t = lr * sqrt(1 - beta2_power) / (1 - beta1_power); "
           "m = beta1 * m + (1 - beta1) * grad; v = beta2 * v + (1 - beta2) * grad^2; "
           "var -= lr_t * m / (sqrt(v) + epsilon)`; with `use_nesterov` "
           "`beta1 * m + (1 - beta1) * grad` stands in the place of the last `m`. epsilon is "
           "added before the correction of v's bias, as in TensorFlow.",
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_apply_adam, ops);
