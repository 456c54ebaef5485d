/* ResourceSparseApplyProximalGradientDescent: proximal descent on some rows (TensorFlow's op).
 * Formula and source: proximal_gradient_descent.h.
 */
#include "proximal_gradient_descent.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return proximal_run(r, 1);
}

static const tfsdk_arg in[] = {PROXIMAL_STATE, TRAIN_ROWS, TRAIN_INDICES};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[4,3] ; T[](0.1,1) ; T[](0,0.5) ; T[](0,0.5) ; T[2,3] ; int32{2,0}",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceSparseApplyProximalGradientDescent",
                  "one step of proximal descent on some rows"),
    .doc = PROXIMAL_DOC("grad") TRAIN_SPARSE_DOC,
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_sparse_apply_proximal_gradient_descent, ops);
