/* Neg: y = -x. Integers wrap around. */
#include <tfsdk/elementwise.h>
#include <tfsdk/rewrite.h>
#include "calc.h"

TFSDK_UNARY(compute_float, TFSDK_EW_FLOATS, -x)
TFSDK_UNARY(compute_int, TFSDK_EW_INTS_WRAP, (T)0 - x)
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return tfsdk_dtype_kind(r->in[0].dtype) == 'f' ? compute_float(state, r) : compute_int(state, r);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, v_neg(c, tfsdk_dy(g, 0)));
}

static const char *const samples[] = {"T[2,3]", NULL};
/* -(-x) = x */
static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  tfsdk_maker m;
  (void)c;
  if (tfsdk_made_by(w, w->in[0], "Neg", &m)) return tfsdk_set_rewritten(w, 0, m.in[0]);
  return NULL;
}

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Neg", "negative"), TFSDK_EW_UNARY_SCHEMA, TFSDK_EW_T(TFSDK_T_NUMBERS),
     .doc = "y = -x. Integers wrap around.", .reference = compute, .grad = grad, .rewrite = rewrite,
     .samples = samples},
};
TFSDK_UNIT_OPS(neg, ops);
