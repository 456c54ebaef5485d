/* Sign: y = sign(x); NaN for NaN. The gradient is zero. */
#include <tfsdk/elementwise.h>
#include "calc.h"

TFSDK_UNARY(compute_float, TFSDK_EW_FLOATS, x > 0 ? (T)1 : x < 0 ? (T)-1 : x)
TFSDK_UNARY(compute_int, TFSDK_EW_SIGNED, x > 0 ? 1 : x < 0 ? -1 : 0)
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return tfsdk_dtype_kind(r->in[0].dtype) == 'f' ? compute_float(state, r) : compute_int(state, r);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit1(c, "ZerosLike", tfsdk_dy(g, 0)));
}

static const char *const samples[] = {"T[2,3](0.1,2)", "nograd float32{-1,0,1}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Sign", "-1, 0 or 1 as x is negative, zero or positive"), TFSDK_EW_UNARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS_SIGNED), .doc = "y = sign(x); NaN for NaN. The gradient is zero.",
     .reference = compute, .grad = grad, .samples = samples},
};
TFSDK_UNIT_OPS(sign, ops);
