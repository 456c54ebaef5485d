/* Abs: y = |x|. The gradient is dy * sign(x), 0 at x = 0. For integers the smallest number stays
 * itself, as in two's complement. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

/* Negation is done unsigned: the smallest integer is its own negative. */
TFSDK_UNARY(compute_float, TFSDK_EW_FLOATS, fabs(x))
TFSDK_UNARY(compute_int, TFSDK_EW_SIGNED, x < 0 ? -(uint64_t)x : (uint64_t)x)
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return tfsdk_dtype_kind(r->in[0].dtype) == 'f' ? compute_float(state, r) : compute_int(state, r);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, v_mul(c, tfsdk_dy(g, 0), tfsdk_emit1(c, "Sign", tfsdk_input(g, 0))));
}

static const char *const samples[] = {"T[2,3](0.1,2)", "nograd float32{-1,0,1}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Abs", "absolute value"), TFSDK_EW_UNARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS_SIGNED),
     .doc = "y = |x|. The gradient is dy * sign(x), 0 at x = 0. For integers the smallest "
            "number stays itself, as in two's complement.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(abs, ops);
