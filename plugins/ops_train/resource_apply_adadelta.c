/* ResourceApplyAdadelta: Adadelta (TensorFlow's op).
 * Formula and source: adadelta.h.
 */
#include "adadelta.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return adadelta_run(r, 0);
}

static const tfsdk_arg in[] = {ADADELTA_STATE, TRAIN_GRAD("grad")};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3](0.1,2) ; var:T[2,3](0.1,2) ; T[](0.1,1) ; T[](0.1,0.9) ; "
    "T[](0.01,0.1) ; T[2,3]",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceApplyAdadelta", "one step of Adadelta"),
    .doc = ADADELTA_DOC,
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_apply_adadelta, ops);
