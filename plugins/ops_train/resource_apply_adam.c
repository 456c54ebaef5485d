/* ResourceApplyAdam and ResourceApplyAdamWithAmsgrad (TensorFlow's ops).
 *
 *     lr_t = lr sqrt(1 - beta2_power) / (1 - beta1_power)
 *     m = beta1 m + (1 - beta1) grad
 *     v = beta2 v + (1 - beta2) grad^2
 *     var -= lr_t m / (sqrt(v) + epsilon)
 *     Nesterov: var -= lr_t (beta1 m + (1 - beta1) grad) / (sqrt(v) + epsilon)
 *     AMSGrad:  vhat = max(vhat, v), and its root in the place of v's
 *
 * Kingma and Ba, "Adam: a method for stochastic optimization", 2015, in the form that its section 2
 * ends with, as TensorFlow has it: epsilon is added before the bias of v is corrected, and is thus
 * epsilon-hat. Reddi, Kale, Kumar, "On the convergence of Adam and beyond", 2018. Rows whose m and
 * v are zero do not move.
 */
#include "train.h"

enum { LR, BETA1, ONE_BETA1, ONE_BETA2, EPSILON };
/* s1 is m, s2 v, s3 vhat. */
TRAIN_STEP(plain, 3, s1 += (g - s1) * k[ONE_BETA1]; s2 += (g * g - s2) * k[ONE_BETA2];
           var -= s1 * k[LR] / (sqrt(s2) + k[EPSILON]);)
TRAIN_STEP(nesterov, 3, s1 += (g - s1) * k[ONE_BETA1]; s2 += (g * g - s2) * k[ONE_BETA2];
           var -= (g * k[ONE_BETA1] + s1 * k[BETA1]) * k[LR] / (sqrt(s2) + k[EPSILON]);)
TRAIN_STEP(amsgrad, 4, s1 += (g - s1) * k[ONE_BETA1]; s2 += (g * g - s2) * k[ONE_BETA2];
           s3 = s3 > s2 ? s3 : s2; var -= s1 * k[LR] / (sqrt(s3) + k[EPSILON]);)

/* var m v [vhat] beta1_power beta2_power lr beta1 beta2 epsilon grad */
static tfsdk_status *run(tfsdk_run *r, const train_step *step) {
  uint32_t at = step->n_state;
  double power1 = train_number(r, at), power2 = train_number(r, at + 1);
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, at + 2) * sqrt(1 - power2) / (1 - power1),
      [BETA1] = train_number(r, at + 3),
      [ONE_BETA1] = 1 - train_number(r, at + 3),
      [ONE_BETA2] = 1 - train_number(r, at + 4),
      [EPSILON] = train_number(r, at + 5),
  };
  return train_dense(r, step, at + 6, k);
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, train_flag(r, "use_nesterov") ? &nesterov : &plain);
}
static tfsdk_status *compute_amsgrad(void *state, tfsdk_run *r) {
  (void)state;
  return run(r, &amsgrad);
}

#define STATE                                                                                      \
  TRAIN_VAR("the variable"), TRAIN_SLOT("m", "the mean of gradients"),                             \
      TRAIN_SLOT("v", "the mean of squared gradients")
#define NUMBERS                                                                                    \
  TRAIN_NUMBER("beta1_power", "beta1 to the power of the step's number, from 1"),                  \
      TRAIN_NUMBER("beta2_power", "beta2 to the same power"),                                      \
      TRAIN_NUMBER("lr", "the learning rate"), TRAIN_NUMBER("beta1", "how much of m stays"),       \
      TRAIN_NUMBER("beta2", "how much of v stays"), TRAIN_NUMBER("epsilon", "added to the root")
static const tfsdk_arg in[] = {STATE, NUMBERS, TRAIN_GRAD("grad")};
static const tfsdk_arg in_amsgrad[] = {STATE, TRAIN_SLOT("vhat", "the largest v so far"), NUMBERS,
                                       TRAIN_GRAD("grad")};
static const tfsdk_attrdef attr[] = {
    TRAIN_ATTR_T,
    TRAIN_ATTR_LOCKING,
    {"use_nesterov", "bool", "false", "look ahead along m (Dozat's Nadam)", 0, 0},
};
static const tfsdk_attrdef attr_amsgrad[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3] ; var:T[2,3](0.1,2) ; T[](0.1,0.9) ; T[](0.1,0.9) ; T[](0.1,1) ; "
    "T[](0.1,0.9) ; T[](0.1,0.9) ; T[](0.01,0.1) ; T[2,3]",
    "var:float32[3] ; var:float32[3] ; var:float32[3](0.1,2) ; float32[](0.1,0.9) ; "
    "float32[](0.1,0.9) ; float32[](0.1,1) ; float32[](0.1,0.9) ; float32[](0.1,0.9) ; "
    "float32[](0.01,0.1) ; float32[3] | use_nesterov=true",
    NULL,
};
static const char *const samples_amsgrad[] = {
    "var:T[2,3] ; var:T[2,3] ; var:T[2,3](0.1,2) ; var:T[2,3](0.1,2) ; T[](0.1,0.9) ; "
    "T[](0.1,0.9) ; T[](0.1,1) ; T[](0.1,0.9) ; T[](0.1,0.9) ; T[](0.01,0.1) ; T[2,3]",
    NULL,
};
static const tfsdk_opdef ops[] = {
    {
        TFSDK_OP_HEAD("ResourceApplyAdam", "one step of Adam"),
        .doc = "`lr_t = lr * sqrt(1 - beta2_power) / (1 - beta1_power); "
               "m = beta1 * m + (1 - beta1) * grad; v = beta2 * v + (1 - beta2) * grad^2; "
               "var -= lr_t * m / (sqrt(v) + epsilon)`; with `use_nesterov` "
               "`beta1 * m + (1 - beta1) * grad` stands in the place of the last `m`. epsilon is "
               "added before the correction of v's bias, as in TensorFlow.",
        TRAIN_RECORD(in, attr, compute, samples),
    },
    {
        TFSDK_OP_HEAD("ResourceApplyAdamWithAmsgrad", "one step of Adam with AMSGrad"),
        .doc = "As ResourceApplyAdam, with the largest `v` so far under the root: "
               "`vhat = max(vhat, v); var -= lr_t * m / (sqrt(vhat) + epsilon)`.",
        TRAIN_RECORD(in_amsgrad, attr_amsgrad, compute_amsgrad, samples_amsgrad),
    }};
TFSDK_UNIT_OPS(resource_apply_adam, ops);
