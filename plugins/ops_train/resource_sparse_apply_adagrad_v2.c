/* ResourceSparseApplyAdagradV2: Adagrad with an epsilon on some rows (TensorFlow's op).
 * Formula and source: adagrad.h.
 */
#include "adagrad.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return adagrad_run(r, 1, 1);
}

static const tfsdk_arg in[] = {ADAGRAD_V2_STATE, TRAIN_ROWS, TRAIN_INDICES};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING,
                                     ADAGRAD_ATTR};
static const char *const samples[] = {
    "var:T[4,3] ; var:T[4,3](0.1,2) ; T[](0.1,1) ; T[](0.01,0.1) ; T[2,3] ; int32{2,0}",
    "var:float32[4] ; var:float32[4](0.1,2) ; float32[](0.1,1) ; float32[](0.01,0.1) ; float32[2] "
    "; int64{1,1} | update_slots=false",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceSparseApplyAdagradV2",
                  "one step of Adagrad with an epsilon on some rows"),
    .doc = ADAGRAD_V2_DOC TRAIN_SPARSE_DOC,
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_sparse_apply_adagrad_v2, ops);
