/* ResourceApplyProximalGradientDescent: proximal descent (TensorFlow's op).
 * Formula and source: proximal_gradient_descent.h.
 */
#include "proximal_gradient_descent.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return proximal_run(r, 0);
}

static const tfsdk_arg in[] = {PROXIMAL_STATE, TRAIN_GRAD("delta")};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[2,3] ; T[](0.1,1) ; T[](0,0.5) ; T[](0,0.5) ; T[2,3]",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceApplyProximalGradientDescent", "one step of proximal descent"),
    .doc = PROXIMAL_DOC("delta"),
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_apply_proximal_gradient_descent, ops);
