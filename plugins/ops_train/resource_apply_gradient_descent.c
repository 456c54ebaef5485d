/* ResourceApplyGradientDescent: gradient descent (TensorFlow's op of that name).
 *
 *     var -= alpha * delta
 */
#include "train.h"

enum { ALPHA };
TRAIN_STEP(step, 1, var -= k[ALPHA] * g;)

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const double k[TRAIN_MAX_NUMBERS] = {[ALPHA] = train_number(r, 1)};
  (void)state;
  return train_dense(r, &step, 2, k);
}

static const tfsdk_arg in[] = {
    TRAIN_VAR("the variable"),
    TRAIN_NUMBER("alpha", "the learning rate"),
    TRAIN_GRAD("delta"),
};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[2,3] ; T[](0.1,1) ; T[2,3]",
    "var:float32[0,3] ; float32[](0.1,1) ; float32[0,3]",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceApplyGradientDescent", "one step of gradient descent"),
    .doc = "`var -= alpha * delta`",
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_apply_gradient_descent, ops);
