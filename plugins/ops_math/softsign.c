/* Softsign: y = x / (1 + |x|), 1 and -1 at the infinities. dx = dy / (1 + |x|)^2. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, isinf(x) ? (x > 0 ? (T)1 : (T)-1) : x / ((T)1 + fabs(x)))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "SoftsignGrad", tfsdk_dy(g, 0), tfsdk_input(g, 0)));
}

/* a: gradients, b: features */
TFSDK_BINARY(compute_grad, TFSDK_EW_FLOATS, a / (((T)1 + fabs(b)) * ((T)1 + fabs(b))))

/* backprops = gradients / (1 + |features|)^2. Its derivative with respect to features is -2
 * gradients sign(features) / (1 + |features|)^3. */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val u = tfsdk_dy(g, 0);
  tfsdk_val dy = tfsdk_input(g, 0), x = tfsdk_input(g, 1);
  tfsdk_val once = tfsdk_emit2(c, "SoftsignGrad", u, x);
  tfsdk_val size = v_plus(c, tfsdk_emit1(c, "Abs", x), 1);
  tfsdk_val rate = v_div(c, v_scale(c, tfsdk_emit1(c, "Sign", x), -2), size);
  TFSDK_TRY(tfsdk_set_dx(g, 0, once));
  return tfsdk_set_dx(g, 1, v_mul(c, v_mul(c, once, dy), rate));
}

static const char *const grad_samples[] = {"T[2,3] ; T[2,3](0.1,2)", NULL};
static const char *const samples[] = {"T[2,3](0.1,2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Softsign", "x / (1 + |x|)"), TFSDK_EW_ACTIVATION_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = x / (1 + |x|), 1 and -1 at the infinities. dx = dy / (1 + |x|)^2.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
    {TFSDK_OP_HEAD("SoftsignGrad", "the gradient of Softsign"), TFSDK_EW_GRADIENTS_FEATURES_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "backprops = gradients / (1 + |features|)^2. Its derivative with respect to "
            "features is -2 gradients sign(features) / (1 + |features|)^3.",
     .reference = compute_grad, .grad = grad_grad, .grad_in = 3, .samples = grad_samples},
};
TFSDK_UNIT_OPS(softsign, ops);
