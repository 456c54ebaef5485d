/* Square: y = x^2. dx = 2 x dy. Integers wrap around. */
#include <tfsdk/elementwise.h>
#include "calc.h"

TFSDK_UNARY(compute, TFSDK_EW_NUMBERS_WRAP, x *x)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, v_mul(c, tfsdk_dy(g, 0), v_scale(c, tfsdk_input(g, 0), 2)));
}

static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Square", "x * x"), TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_NUMBERS),
     .doc = "y = x^2. dx = 2 x dy. Integers wrap around.", .reference = compute, .grad = grad,
     .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(square, ops);
