/* Igammac: the regularised upper incomplete gamma function,
 * z = Q(a, x) = 1 - P(a, x), the integral of t^(a-1) e^-t from x to infinity over Gamma(a).
 * dx = -x^(a-1) e^-x / Gamma(a) dz; da by differentiating the series and the continued fraction. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include "gamma.h"

TFSDK_BINARY(compute, TFSDK_EW_FLOATS_AS_DOUBLE, gamma_incomplete(a, b, 1).v)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val a = tfsdk_input(g, 0), x = tfsdk_input(g, 1), dz = tfsdk_dy(g, 0);
  tfsdk_val da = tfsdk_none(), dx = tfsdk_none();
  if (tfsdk_wants(g, 0)) {
    tfsdk_val by_a = tfsdk_emit2(c, "IgammaGradA", a, x);
    da = v_neg(c, v_mul(c, dz, by_a));
  }
  if (tfsdk_wants(g, 1)) { /* e^((a - 1) ln x - x - ln Gamma(a)) */
    tfsdk_val power = v_mul(c, v_plus(c, a, -1), tfsdk_emit1(c, "Log", x));
    tfsdk_val ln = v_sub(c, v_sub(c, power, x), tfsdk_emit1(c, "Lgamma", a));
    tfsdk_val density = tfsdk_emit1(c, "Exp", ln);
    dx = v_neg(c, v_mul(c, dz, density));
  }
  return v_set_dx2(c, g, da, dx);
}

static const tfsdk_arg in[] = {
    {"a", "T", "the shape parameter, above 0", 0, 0},
    {"x", "T", "the bound, not below 0", 0, 0},
};
static const tfsdk_arg out[] = {{"z", "T", "a and x broadcast together", 0, 0}};
static const char *const samples[] = {"T[2,3](0.5,3) ; T[2,3](0.5,4)",
                                      "T[2,1,3](0.5,3) ; T[4,1](0.5,4)", NULL};
#define IN_OUT                                                                                     \
  .in = in, .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out),                        \
  TFSDK_EW_T(TFSDK_T_FLOATS), .infer = tfsdk_ew_infer2, .flags = TFSDK_OP_ELEMENTWISE
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Igammac", "upper incomplete gamma function"), IN_OUT,
     .doc = "z = Q(a, x) = 1 - P(a, x), the integral of t^(a-1) e^-t from x to infinity over "
            "Gamma(a). NaN unless a > 0 and x >= 0.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
};
TFSDK_UNIT_OPS(igammac, ops);
