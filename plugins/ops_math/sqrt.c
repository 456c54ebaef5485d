/* Sqrt: y = sqrt(x), NaN for x < 0. dx = dy / (2 y), and 0 where dy is 0, so that an infinite slope
 * at 0 that nobody asks for does no harm. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, sqrt(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "SqrtGrad", tfsdk_output(g, 0), tfsdk_dy(g, 0)));
}

TFSDK_BINARY(compute_grad, TFSDK_EW_FLOATS, b == 0 ? (T)0 : b * (T)0.5 / a)

/* z = dy / (2 y), 0 where dy is 0. dz/dy = -z / y and dz/d(dy) = 1 / (2 y). */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val q = v_div(c, tfsdk_dy(g, 0), tfsdk_input(g, 0));
  TFSDK_TRY(tfsdk_set_dx(g, 0, v_neg(c, v_mul(c, q, tfsdk_output(g, 0)))));
  return tfsdk_set_dx(g, 1, v_scale(c, q, 0.5));
}

static const char *const grad_samples[] = {"T[2,3](0.5,2) ; T[2,3]", NULL};
static const char *const samples[] = {"T[2,3](0.1,2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Sqrt", "square root"), TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = sqrt(x), NaN for x < 0. dx = dy / (2 y), and 0 where dy is 0, so that an "
            "infinite slope at 0 that nobody asks for does no harm.",
     .reference = compute, .grad = grad, .grad_out = 1, .samples = samples},
    {TFSDK_OP_HEAD("SqrtGrad", "the gradient of Sqrt"), TFSDK_EW_Y_DY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS), .doc = "z = dy / (2 y), 0 where dy is 0.",
     .reference = compute_grad, .grad = grad_grad, .grad_in = 1, .grad_out = 1,
     .samples = grad_samples},
};
TFSDK_UNIT_OPS(sqrt, ops);
