/* ResourceSparseApplyMomentum: momentum on some rows (TensorFlow's op).
 * Formula and source: momentum.h.
 */
#include "momentum.h"

MOMENTUM_STEPS

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return momentum_run(r, &plain, &nesterov, 1);
}

static const tfsdk_arg in[] = {MOMENTUM_STATE, TRAIN_ROWS, TRAIN_INDICES, MOMENTUM_NUMBER};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING,
                                     MOMENTUM_ATTR};
static const char *const samples[] = {
    "var:T[4,3] ; var:T[4,3] ; T[](0.1,1) ; T[2,3] ; int32{2,0} ; T[](0.1,1)",
    "var:float32[4] ; var:float32[4] ; float32[](0.1,1) ; float32[2] ; int64{1,1} ; "
    "float32[](0.1,1) | use_nesterov=true",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceSparseApplyMomentum", "one step of momentum on some rows"),
    .doc = MOMENTUM_DOC TRAIN_SPARSE_DOC,
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_sparse_apply_momentum, ops);
