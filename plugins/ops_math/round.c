/* Round: y is the nearest integer; halves go to the even one. Integers stay as they are. */
#include <tfsdk/elementwise.h>
#include <tgmath.h>

TFSDK_UNARY(compute_float, TFSDK_EW_FLOATS, rint(x))
TFSDK_UNARY(compute_int, TFSDK_EW_SIGNED, x)
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return tfsdk_dtype_kind(r->in[0].dtype) == 'f' ? compute_float(state, r) : compute_int(state, r);
}

static const char *const samples[] = {"T[2,3]", "float32{-1.5,-0.5,0.5,1.5,2.5}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Round", "nearest integer, halves to even"), TFSDK_EW_UNARY_STEP_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS_SIGNED),
     .doc = "y is the nearest integer; halves go to the even one. Integers stay as they are.",
     .reference = compute,
     .no_grad_reason = "a step function: its derivative is zero almost everywhere",
     .samples = samples},
};
TFSDK_UNIT_OPS(round, ops);
