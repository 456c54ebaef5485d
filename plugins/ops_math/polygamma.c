/* Polygamma: the a-th derivative of the digamma function at x. dx = polygamma(a + 1, x) dz; there
 * is no gradient for the order a. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "gamma.h"

TFSDK_BINARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, gamma_polygamma(a, b))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val a = tfsdk_input(g, 0), x = tfsdk_input(g, 1), dz = tfsdk_dy(g, 0);
  tfsdk_val slope = tfsdk_emit2(c, "Polygamma", v_plus(c, a, 1), x);
  return v_set_dx2(c, g, tfsdk_none(), v_mul(c, dz, slope));
}

static const tfsdk_arg in[] = {
    {"a", "T", "the order: a whole number; it has no gradient", TFSDK_ARG_NONDIFF, 0},
    {"x", "T", "any shape", 0, 0},
};
static const tfsdk_arg out[] = {{"z", "T", "a and x broadcast together", 0, 0}};
static const char *const samples[] = {"float32{0,1,2} ; float32[3](0.5,3)",
                                      "float64{{1},{3}} ; float64[3](0.5,3)",
                                      "float16(1) ; float16[3](0.5,3)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Polygamma", "derivatives of the digamma function"), .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), TFSDK_EW_T(TFSDK_T_FLOATS),
     .infer = tfsdk_ew_infer2, .flags = TFSDK_OP_ELEMENTWISE,
     .doc = "z = the a-th derivative of digamma at x: (-1)^(a+1) a! zeta(a + 1, x). NaN for an "
            "order that is "
            "not a whole number. dx = polygamma(a + 1, x) dz.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
};
TFSDK_UNIT_OPS(polygamma, ops);
