/* RealDiv: z = x / y; IEEE 754 says what division by zero gives. dx = dz / y, dy = -x / y^2 dz. The
 * gradients are summed over the axes along which an input was stretched. */
#include <tfsdk/elementwise.h>
#include <tfsdk/rewrite.h>
#include "calc.h"

TFSDK_BINARY(compute, TFSDK_EW_FLOATS, a / b)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), y = tfsdk_input(g, 1), dz = tfsdk_dy(g, 0);
  tfsdk_val dx = tfsdk_none(), dy = tfsdk_none();
  if (tfsdk_wants(g, 0)) dx = v_div(c, dz, y);
  if (tfsdk_wants(g, 1)) dy = v_mul(c, dz, v_div(c, v_div(c, v_neg(c, x), y), y));
  return v_set_dx2(c, g, dx, dy);
}

static const char *const samples[] = {"T[2,3](-2,2) ; T[2,3](0.3,2)",
                                      "T[2,1,3](-2,2) ; T[4,1](0.3,2)", NULL};
/* x / 1 = x */
static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  if (tfsdk_all_are(c, w->in[1], 1) && tfsdk_covers(c, w->in[0], w->in[1]))
    return tfsdk_set_rewritten(w, 0, w->in[0]);
  return NULL;
}

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("RealDiv", "quotient of floating numbers"), TFSDK_EW_BINARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS),
     .doc = "z = x / y; IEEE 754 says what division by zero gives. dx = dz / y, dy = -x / y^2 "
            "dz. The gradients are summed over the axes along which an input was stretched.",
     .reference = compute, .grad = grad, .grad_in = 3, .rewrite = rewrite, .samples = samples},
};
TFSDK_UNIT_OPS(real_div, ops);
