/* Rsqrt: y = 1 / sqrt(x). dx = -y^3 dy / 2. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, (T)1 / sqrt(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "RsqrtGrad", tfsdk_output(g, 0), tfsdk_dy(g, 0)));
}

TFSDK_BINARY(compute_grad, TFSDK_EW_FLOATS, (T)-0.5 * b * (a * a * a))

/* z = -y^3 dy / 2. dz/dy = -3 y^2 dy / 2 and dz/d(dy) = -y^3 / 2. */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val y = tfsdk_input(g, 0), dy = tfsdk_input(g, 1), u = tfsdk_dy(g, 0);
  tfsdk_val s = v_scale(c, v_mul(c, v_mul(c, u, dy), v_square(c, y)), -1.5);
  TFSDK_TRY(tfsdk_set_dx(g, 0, s));
  return tfsdk_set_dx(g, 1, tfsdk_emit2(c, "RsqrtGrad", y, u));
}

static const char *const grad_samples[] = {"T[2,3](0.5,2) ; T[2,3]", NULL};
static const char *const samples[] = {"T[2,3](0.1,2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Rsqrt", "1 / square root"), TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = 1 / sqrt(x). dx = -y^3 dy / 2.", .reference = compute, .grad = grad, .grad_out = 1,
     .samples = samples},
    {TFSDK_OP_HEAD("RsqrtGrad", "the gradient of Rsqrt"), TFSDK_EW_Y_DY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS), .doc = "z = -y^3 dy / 2.", .reference = compute_grad,
     .grad = grad_grad, .grad_in = 3, .samples = grad_samples},
};
TFSDK_UNIT_OPS(rsqrt, ops);
