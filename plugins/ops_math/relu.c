/* Relu: y = max(x, 0); NaN stays NaN. dx = dy where x > 0, else 0: the derivative at 0 is 0. */
#include <tfsdk/elementwise.h>
#include "calc.h"

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, x > 0 ? x : x == x ? (T)0 : x)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "ReluGrad", tfsdk_dy(g, 0), tfsdk_output(g, 0)));
}

/* a: gradients, b: features */
TFSDK_BINARY(compute_grad, TFSDK_EW_FLOATS, b > 0 ? a : (T)0)

/* backprops = gradients where features > 0, else 0. It is linear in gradients, and flat in
 * features. */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val u = tfsdk_dy(g, 0);
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "ReluGrad", u, tfsdk_input(g, 1)));
}

static const char *const grad_samples[] = {"T[2,3](0.1,2) ; T[2,3](-2,-0.1)",
                                           "T[2,3] ; T[2,3](0.1,2)", NULL};
static const char *const samples[] = {"T[2,3](0.1,2)", "T[2,3](-2,-0.1)", "nograd float32{-1,0,1}",
                                      NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Relu", "max(x, 0)"), TFSDK_EW_ACTIVATION_SCHEMA, TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "y = max(x, 0); NaN stays NaN. dx = dy where x > 0, else 0: the derivative at 0 is "
            "0.",
     .reference = compute, .grad = grad, .grad_out = 1, .samples = samples},
    {TFSDK_OP_HEAD("ReluGrad", "the gradient of Relu"), TFSDK_EW_GRADIENTS_FEATURES_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "backprops = gradients where features > 0, else 0. It is linear in gradients, and "
            "flat in features.",
     .reference = compute_grad, .grad = grad_grad, .grad_in = 2, .samples = grad_samples},
};
TFSDK_UNIT_OPS(relu, ops);
