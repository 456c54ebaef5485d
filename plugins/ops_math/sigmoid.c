/* Sigmoid: y = 1 / (1 + e^-x), computed from e^-|x| so that nothing overflows. dx = y (1 - y) dy.
 */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, x >= 0 ? (T)1 / ((T)1 + exp(-x)) : exp(x) / ((T)1 + exp(x)))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "SigmoidGrad", tfsdk_output(g, 0), tfsdk_dy(g, 0)));
}

TFSDK_BINARY(compute_grad, TFSDK_EW_FLOATS, b *a *((T)1 - a))

/* z = y (1 - y) dy. dz/dy = (1 - 2 y) dy and dz/d(dy) = y (1 - y). */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val y = tfsdk_input(g, 0), dy = tfsdk_input(g, 1), u = tfsdk_dy(g, 0);
  TFSDK_TRY(tfsdk_set_dx(g, 0, v_mul(c, v_mul(c, u, dy), v_from(c, 1, v_scale(c, y, 2)))));
  return tfsdk_set_dx(g, 1, tfsdk_emit2(c, "SigmoidGrad", y, u));
}

static const char *const grad_samples[] = {"T[2,3](0,1) ; T[2,3]", NULL};
static const char *const samples[] = {"T[2,3]", "nograd float32{-1000,0,1000}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Sigmoid", "the logistic function"), TFSDK_EW_UNARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = 1 / (1 + e^-x), computed from e^-|x| so that nothing overflows. dx = y (1 - "
            "y) dy.",
     .reference = compute, .grad = grad, .grad_out = 1, .samples = samples},
    {TFSDK_OP_HEAD("SigmoidGrad", "the gradient of Sigmoid"), TFSDK_EW_Y_DY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS), .doc = "z = y (1 - y) dy.", .reference = compute_grad,
     .grad = grad_grad, .grad_in = 3, .samples = grad_samples},
};
TFSDK_UNIT_OPS(sigmoid, ops);
