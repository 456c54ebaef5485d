/* ResourceApplyFtrl: FTRL (TensorFlow's op).
 * Formula and source: ftrl.h.
 */
#include "ftrl.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return ftrl_run(r, 0, 0);
}

static const tfsdk_arg in[] = {FTRL_STATE, TRAIN_GRAD("grad"), FTRL_NUMBERS, FTRL_POWER};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING, FTRL_ATTR};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3](0.1,2) ; var:T[2,3] ; T[2,3] ; T[](0.1,1) ; T[](0,0.1) ; T[](0,0.1) ; "
    "T(-0.5)",
    "var:float32[3] ; var:float32[3](0.1,2) ; var:float32[3] ; float32[3] ; float32[](0.1,1) ; "
    "float32[](0,0.1) ; float32[](0,0.1) ; float32(-0.7) | multiply_linear_by_lr=true",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceApplyFtrl", "one step of FTRL"),
    .doc = FTRL_DOC,
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_apply_ftrl, ops);
