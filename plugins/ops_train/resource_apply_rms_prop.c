/* ResourceApplyRMSProp: RMSProp (TensorFlow's op).
 * Formula and source: rms_prop.h.
 */
#include "rms_prop.h"

RMS_PROP_STEP

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return rms_prop_run(r, &step, 0);
}

static const tfsdk_arg in[] = {RMS_PROP_STATE, TRAIN_GRAD("grad")};
static const tfsdk_attrdef attr[] = {TRAIN_ATTR_T, TRAIN_ATTR_LOCKING};
static const char *const samples[] = {
    "var:T[2,3] ; var:T[2,3](0.1,2) ; var:T[2,3] ; T[](0.1,1) ; T[](0.1,0.9) ; T[](0.1,0.9) ; "
    "T[](0.01,0.1) ; T[2,3]",
    NULL,
};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("ResourceApplyRMSProp", "one step of RMSProp"),
    .doc = RMS_PROP_DOC,
    TRAIN_RECORD(in, attr, compute, samples),
}};
TFSDK_UNIT_OPS(resource_apply_rms_prop, ops);
