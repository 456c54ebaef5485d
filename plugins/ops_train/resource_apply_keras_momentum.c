/* ResourceApplyKerasMomentum: momentum, the rate part of the velocity (TensorFlow's op).
 * Formula and source: momentum.h.
 */
#include "momentum.h"

KERAS_MOMENTUM_STEPS

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return momentum_run(r, &plain, &nesterov, 0);
}

static const tfsdk_arg in[] = {MOMENTUM_STATE, TRAIN_GRAD("grad"), MOMENTUM_NUMBER};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING, MOMENTUM_ATTR};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3] ; T[](0.1,1) ; T[2,3] ; T[](0.1,1)",
    "var:float32[0,3] ; var:float32[0,3] ; float32[](0.1,1) ; float32[0,3] ; float32[](0.1,1) | "
    "use_nesterov=true",
    "var:float32[2,3] ; var:float32[2,3] ; float32[](0.1,1) ; float32[2,3] ; float32[](0.1,1) | "
    "use_nesterov=true",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceApplyKerasMomentum",
                  "one step of momentum, the rate part of the velocity"),
    .doc = KERAS_MOMENTUM_DOC,
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_apply_keras_momentum, ops);
