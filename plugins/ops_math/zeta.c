/* Zeta: Hurwitz's zeta function, z = sum over k >= 0 of (q + k)^-x. dq = -x zeta(x + 1, q) dz;
 * there is no gradient for x. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "gamma.h"

TFSDK_BINARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, gamma_zeta(a, b))

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), q = tfsdk_input(g, 1), dz = tfsdk_dy(g, 0);
  tfsdk_val slope = v_mul(c, v_neg(c, x), tfsdk_emit2(c, "Zeta", v_plus(c, x, 1), q));
  return v_set_dx2(c, g, tfsdk_none(), v_mul(c, dz, slope));
}

static const tfsdk_arg in[] = {
    {"x", "T", "the exponent, above 1; it has no gradient", TFSDK_ARG_NONDIFF, 0},
    {"q", "T", "the first base", 0, 0},
};
static const tfsdk_arg out[] = {{"z", "T", "x and q broadcast together", 0, 0}};
static const char *const samples[] = {"T[2,3](1.5,4) ; T[2,3](0.5,3)",
                                      "T[2,1,3](1.5,4) ; T[4,1](0.5,3)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Zeta", "Hurwitz's zeta function"), .in = in, .n_in = TFSDK_COUNT(in),
     .out = out, .n_out = TFSDK_COUNT(out), TFSDK_EW_T(TFSDK_T_FLOATS), .infer = tfsdk_ew_infer2,
     .flags = TFSDK_OP_ELEMENTWISE,
     .doc = "z = sum over k >= 0 of (q + k)^-x; infinite for x = 1 and where q is 0 or a negative "
            "integer, "
            "NaN for x < 1. dq = -x zeta(x + 1, q) dz.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
};
TFSDK_UNIT_OPS(zeta, ops);
