/* ResourceApplyAdaMax (TensorFlow's op): Adam with the infinity norm.
 *
 *     m = beta1 m + (1 - beta1) grad
 *     v = max(beta2 v, |grad|)
 *     var -= lr / (1 - beta1_power) m / (v + epsilon)
 *
 * Kingma and Ba, "Adam: a method for stochastic optimization", 2015, section 7.1.
 */
#include "train.h"

enum { LR, ONE_BETA1, BETA2, EPSILON };
/* s1 is m, s2 v. A NaN of the gradient stays one. */
TRAIN_STEP(step, 3, s1 += (g - s1) * k[ONE_BETA1]; number size = fabs(g), old = s2 * k[BETA2];
           s2 = old > size ? old : size; var -= k[LR] * s1 / (s2 + k[EPSILON]);)

/* var m v beta1_power lr beta1 beta2 epsilon grad */
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const double k[TRAIN_MAX_NUMBERS] = {
      [LR] = train_number(r, 4) / (1 - train_number(r, 3)),
      [ONE_BETA1] = 1 - train_number(r, 5),
      [BETA2] = train_number(r, 6),
      [EPSILON] = train_number(r, 7),
  };
  (void)state;
  return train_dense(r, &step, 8, k);
}

static const tfsdk_arg in[] = {
    TRAIN_VAR("the variable"),
    TRAIN_SLOT("m", "the mean of gradients"),
    TRAIN_SLOT("v", "the fading maximum of their sizes"),
    TRAIN_NUMBER("beta1_power", "beta1 to the power of the step's number, from 1"),
    TRAIN_NUMBER("lr", "the learning rate"),
    TRAIN_NUMBER("beta1", "how much of m stays"),
    TRAIN_NUMBER("beta2", "how much of v stays"),
    TRAIN_NUMBER("epsilon", "added to v"),
    TRAIN_GRAD("grad"),
};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3] ; var:T[2,3](0.1,2) ; T[](0.1,0.9) ; T[](0.1,1) ; T[](0.1,0.9) ; "
    "T[](0.1,0.9) ; T[](0.01,0.1) ; T[2,3]",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceApplyAdaMax", "one step of AdaMax"),
    .doc = "`m = beta1 * m + (1 - beta1) * grad; v = max(beta2 * v, abs(grad)); "
           "var -= lr / (1 - beta1_power) * m / (v + epsilon)`.",
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_apply_ada_max, ops);
