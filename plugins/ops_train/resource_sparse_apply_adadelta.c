/* ResourceSparseApplyAdadelta: Adadelta on some rows (TensorFlow's op).
 * Formula and source: adadelta.h.
 */
#include "adadelta.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return adadelta_run(r, 1);
}

static const tfsdk_arg in[] = {ADADELTA_STATE, TRAIN_ROWS, TRAIN_INDICES};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[4,3] ; var:T[4,3](0.1,2) ; var:T[4,3](0.1,2) ; T[](0.1,1) ; T[](0.1,0.9) ; "
    "T[](0.01,0.1) ; T[2,3] ; int32{2,0}",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceSparseApplyAdadelta", "one step of Adadelta on some rows"),
    .doc = ADADELTA_DOC TRAIN_SPARSE_DOC,
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_sparse_apply_adadelta, ops);
