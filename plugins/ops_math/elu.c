/* Elu: y = x for x > 0, else e^x - 1 (Clevert, Unterthiner, Hochreiter, arXiv:1511.07289). dx = dy
 * for y >= 0, else (y + 1) dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, x < 0 ? expm1(x) : x)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "EluGrad", tfsdk_dy(g, 0), tfsdk_output(g, 0)));
}

/* a: gradients, b: outputs */
TFSDK_BINARY(compute_grad, TFSDK_EW_FLOATS, b < 0 ? a * (b + (T)1) : a)

/* backprops = gradients where outputs >= 0, else (outputs + 1) gradients. Its derivative with
 * respect to outputs is gradients where outputs < 0. */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val u = tfsdk_dy(g, 0);
  tfsdk_val dy = tfsdk_input(g, 0), y = tfsdk_input(g, 1);
  tfsdk_val below = tfsdk_emit2(c, "Less", y, v_num(c, y, 0));
  TFSDK_TRY(tfsdk_set_dx(g, 0, tfsdk_emit2(c, "EluGrad", u, y)));
  return tfsdk_set_dx(g, 1, v_where(c, below, v_mul(c, u, dy)));
}

static const char *const grad_samples[] = {"T[2,3] ; T[2,3](-0.9,-0.1)", "T[2,3] ; T[2,3](0.1,2)",
                                           NULL};
static const char *const samples[] = {"T[2,3](0.1,2)", "T[2,3](-2,-0.1)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Elu", "x for x > 0, e^x - 1 below"), TFSDK_EW_ACTIVATION_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = x for x > 0, else e^x - 1 (Clevert, Unterthiner, Hochreiter, "
            "arXiv:1511.07289). dx = dy for y >= 0, else (y + 1) dy.",
     .reference = compute, .grad = grad, .grad_out = 1, .samples = samples},
    {TFSDK_OP_HEAD("EluGrad", "the gradient of Elu"), TFSDK_EW_GRADIENTS_OUTPUTS_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "backprops = gradients where outputs >= 0, else (outputs + 1) gradients. Its "
            "derivative with respect to outputs is gradients where outputs < 0.",
     .reference = compute_grad, .grad = grad_grad, .grad_in = 3, .samples = grad_samples},
};
TFSDK_UNIT_OPS(elu, ops);
