/* Selu: y = scale x for x > 0, else scale alpha (e^x - 1), with scale 1.0507 and alpha 1.67326
 * (Klambauer et al., arXiv:1706.02515). dx = scale dy for y >= 0, else (y + scale alpha) dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

/* Chosen so that mean 0 and variance 1 are a fixed point of a layer (arXiv:1706.02515). */
#define SCALE       1.0507009873554804934193349852946
#define SCALE_ALPHA 1.7580993408473768599402175208123

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, x < 0 ? (T)SCALE_ALPHA * expm1(x) : (T)SCALE * x)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "SeluGrad", tfsdk_dy(g, 0), tfsdk_output(g, 0)));
}

/* a: gradients, b: outputs */
TFSDK_BINARY(compute_grad, TFSDK_EW_FLOATS, b < 0 ? a * (b + (T)SCALE_ALPHA) : a * (T)SCALE)

/* backprops = scale gradients where outputs >= 0, else (outputs + scale alpha) gradients. Its
 * derivative with respect to outputs is gradients where outputs < 0. */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val u = tfsdk_dy(g, 0);
  tfsdk_val dy = tfsdk_input(g, 0), y = tfsdk_input(g, 1);
  tfsdk_val below = tfsdk_emit2(c, "Less", y, v_num(c, y, 0));
  TFSDK_TRY(tfsdk_set_dx(g, 0, tfsdk_emit2(c, "SeluGrad", u, y)));
  return tfsdk_set_dx(g, 1, v_where(c, below, v_mul(c, u, dy)));
}

static const char *const grad_samples[] = {"T[2,3] ; T[2,3](-1.5,-0.1)", "T[2,3] ; T[2,3](0.1,2)",
                                           NULL};
static const char *const samples[] = {"T[2,3](0.1,2)", "T[2,3](-2,-0.1)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Selu", "self-normalising exponential unit"), TFSDK_EW_ACTIVATION_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = scale x for x > 0, else scale alpha (e^x - 1), with scale 1.0507 and alpha "
            "1.67326 (Klambauer et al., arXiv:1706.02515). dx = scale dy for y >= 0, else (y + "
            "scale alpha) dy.",
     .reference = compute, .grad = grad, .grad_out = 1, .samples = samples},
    {TFSDK_OP_HEAD("SeluGrad", "the gradient of Selu"), TFSDK_EW_GRADIENTS_OUTPUTS_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "backprops = scale gradients where outputs >= 0, else (outputs + scale alpha) "
            "gradients. Its derivative with respect to outputs is gradients where outputs < 0.",
     .reference = compute_grad, .grad = grad_grad, .grad_in = 3, .samples = grad_samples},
};
TFSDK_UNIT_OPS(selu, ops);
