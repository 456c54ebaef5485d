/* Asinh: y = arsinh x. dx = dy / cosh(y), which is dy / sqrt(1 + x^2) without overflow of the
 * square. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, asinh(x))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val y = tfsdk_output(g, 0), dy = tfsdk_dy(g, 0);
  return tfsdk_set_dx(g, 0, v_div(c, dy, tfsdk_emit1(c, "Cosh", y)));
}

static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Asinh", "inverse hyperbolic sine"), TFSDK_EW_UNARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = arsinh x. dx = dy / cosh(y), which is dy / sqrt(1 + x^2) without overflow of "
            "the square.",
     .reference = compute, .grad = grad, .grad_out = 1, .samples = samples},
};
TFSDK_UNIT_OPS(asinh, ops);
