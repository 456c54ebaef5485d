/* ResourceSparseApplyAdagradDA: Adagrad by dual averaging on some rows (TensorFlow's op).
 * Formula and source: adagrad_da.h.
 */
#include "adagrad_da.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return adagrad_da_run(r, 1);
}

static const tfsdk_arg in[] = {ADAGRAD_DA_STATE, TRAIN_ROWS, TRAIN_INDICES, ADAGRAD_DA_NUMBERS};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[4,3] ; var:T[4,3] ; var:T[4,3](0.1,2) ; T[2,3] ; int32{2,0} ; T[](0.1,1) ; T[](0,0.1) ; "
    "T[](0,0.1) ; int64(3)",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceSparseApplyAdagradDA",
                  "one step of Adagrad by dual averaging on some rows"),
    .doc = ADAGRAD_DA_DOC TRAIN_SPARSE_DOC,
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_sparse_apply_adagrad_da, ops);
