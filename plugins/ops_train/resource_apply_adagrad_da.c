/* ResourceApplyAdagradDA: Adagrad by dual averaging (TensorFlow's op).
 * Formula and source: adagrad_da.h.
 */
#include "adagrad_da.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return adagrad_da_run(r, 0);
}

static const tfsdk_arg in[] = {ADAGRAD_DA_STATE, TRAIN_GRAD("grad"), ADAGRAD_DA_NUMBERS};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3] ; var:T[2,3](0.1,2) ; T[2,3] ; T[](0.1,1) ; T[](0,0.1) ; T[](0,0.1) ; "
    "int64(3)",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceApplyAdagradDA", "one step of Adagrad by dual averaging"),
    .doc = ADAGRAD_DA_DOC,
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_apply_adagrad_da, ops);
