/* ResourceSparseApplyFtrl: FTRL on some rows (TensorFlow's op).
 * Formula and source: ftrl.h.
 */
#include "ftrl.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return ftrl_run(r, 0, 1);
}

static const tfsdk_arg in[] = {FTRL_STATE, TRAIN_ROWS, TRAIN_INDICES, FTRL_NUMBERS, FTRL_POWER};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_TINDICES, TRAIN_ATTR_LOCKING,
                                     FTRL_ATTR};
static const char *const samples[] = {
    "var:T[4,3] ; var:T[4,3](0.1,2) ; var:T[4,3] ; T[2,3] ; int32{2,0} ; T[](0.1,1) ; T[](0,0.1) ; "
    "T[](0,0.1) ; T(-0.5)",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceSparseApplyFtrl", "one step of FTRL on some rows"),
    .doc = FTRL_DOC TRAIN_SPARSE_DOC,
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_sparse_apply_ftrl, ops);
