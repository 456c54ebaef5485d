/* AddV2: z = x + y. Integers wrap around. dx = dy = dz. The gradients are summed over the axes
 * along which an input was stretched. */
#include <tfsdk/elementwise.h>
#include <tfsdk/rewrite.h>
#include "calc.h"

TFSDK_BINARY(compute, TFSDK_EW_NUMBERS_WRAP, a + b)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return v_set_dx2(c, g, tfsdk_dy(g, 0), tfsdk_dy(g, 0));
}

static const char *const samples[] = {"T[2,3] ; T[2,3]", "T[2,1,3] ; T[4,1]", NULL};
/* 0 + y = y, x + 0 = x */
static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  if (tfsdk_all_are(c, w->in[0], 0) && tfsdk_covers(c, w->in[1], w->in[0]))
    return tfsdk_set_rewritten(w, 0, w->in[1]);
  if (tfsdk_all_are(c, w->in[1], 0) && tfsdk_covers(c, w->in[0], w->in[1]))
    return tfsdk_set_rewritten(w, 0, w->in[0]);
  return NULL;
}

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("AddV2", "sum"), TFSDK_EW_COMMUTATIVE_SCHEMA, TFSDK_EW_T(TFSDK_T_NUMBERS),
     .doc = "z = x + y. Integers wrap around. dx = dy = dz. The gradients are summed over the "
            "axes along which an input was stretched.",
     .reference = compute, .grad = grad, .grad_shape = 3, .rewrite = rewrite, .samples = samples},
};
TFSDK_UNIT_OPS(add_v2, ops);
