/* Reciprocal: y = 1 / x. dx = -y^2 dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, (T)1 / x)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "ReciprocalGrad", tfsdk_output(g, 0), tfsdk_dy(g, 0)));
}

TFSDK_BINARY(compute_grad, TFSDK_EW_FLOATS, -b *a *a)

/* z = -y^2 dy. dz/dy = -2 y dy and dz/d(dy) = -y^2. */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val y = tfsdk_input(g, 0), dy = tfsdk_input(g, 1), u = tfsdk_dy(g, 0);
  TFSDK_TRY(tfsdk_set_dx(g, 0, v_scale(c, v_mul(c, v_mul(c, u, dy), y), -2)));
  return tfsdk_set_dx(g, 1, tfsdk_emit2(c, "ReciprocalGrad", y, u));
}

static const char *const grad_samples[] = {"T[2,3](0.5,2) ; T[2,3]", NULL};
static const char *const samples[] = {"T[2,3](0.3,2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Reciprocal", "1 / x"), TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = 1 / x. dx = -y^2 dy.", .reference = compute, .grad = grad, .grad_out = 1,
     .samples = samples},
    {TFSDK_OP_HEAD("ReciprocalGrad", "the gradient of Reciprocal"), TFSDK_EW_Y_DY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS), .doc = "z = -y^2 dy.", .reference = compute_grad,
     .grad = grad_grad, .grad_in = 3, .samples = grad_samples},
};
TFSDK_UNIT_OPS(reciprocal, ops);
