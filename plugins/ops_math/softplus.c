/* Softplus: y = ln(1 + e^x), computed as max(x, 0) + log1p(e^-|x|). dx = dy sigmoid(x). */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "SoftplusGrad", tfsdk_dy(g, 0), tfsdk_input(g, 0)));
}

/* a: gradients, b: features */
TFSDK_BINARY(compute_grad, TFSDK_EW_FLOATS, a / ((T)1 + exp(-b)))

/* backprops = gradients sigmoid(features). With s the sigmoid its derivative with respect to
 * features is gradients s (1 - s). */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val u = tfsdk_dy(g, 0);
  tfsdk_val dy = tfsdk_input(g, 0), x = tfsdk_input(g, 1);
  tfsdk_val slope = tfsdk_emit2(c, "SigmoidGrad", tfsdk_emit1(c, "Sigmoid", x), v_mul(c, u, dy));
  TFSDK_TRY(tfsdk_set_dx(g, 0, tfsdk_emit2(c, "SoftplusGrad", u, x)));
  return tfsdk_set_dx(g, 1, slope);
}

static const char *const grad_samples[] = {"T[2,3] ; T[2,3]", NULL};
static const char *const samples[] = {"T[2,3]", "nograd float32{-100,-20,0,20,100,1000}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Softplus", "ln(1 + e^x)"), TFSDK_EW_ACTIVATION_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = ln(1 + e^x), computed as max(x, 0) + log1p(e^-|x|). dx = dy sigmoid(x).",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
    {TFSDK_OP_HEAD("SoftplusGrad", "the gradient of Softplus"), TFSDK_EW_GRADIENTS_FEATURES_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "backprops = gradients sigmoid(features). With s the sigmoid its derivative with "
            "respect to features is gradients s (1 - s).",
     .reference = compute_grad, .grad = grad_grad, .grad_in = 3, .samples = grad_samples},
};
TFSDK_UNIT_OPS(softplus, ops);
