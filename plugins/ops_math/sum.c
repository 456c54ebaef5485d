/* Sum: adds over axes. Accumulates in double, integers in 64 bits; integer results wrap around. The
 * sum of nothing is 0. Gradient: dy spread over the axes again. */
#include "reduce.h"
#include "calc.h"

REDUCE(compute, REDUCE_NUMBERS, 0, s + x, s)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0,
                      v_spread(c, tfsdk_dy(g, 0), tfsdk_input(g, 0), tfsdk_input(g, 1),
                               tfsdk_attr_int(&g->attr, "keep_dims")));
}

REDUCE_ARGS("T")
REDUCE_ATTRS(TFSDK_T_NUMBERS)
static const char *const samples[] = {REDUCE_SAMPLES, NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Sum", "sum over axes"), REDUCE_SCHEMA,
     .doc =
         "Adds the elements along the axes; without axes it is the identity. Floating numbers are "
         "added in double and rounded once, integers wrap around. The sum of nothing is 0.",
     .reference = compute, .grad = grad, .grad_in = 2, .grad_shape = 1, .samples = samples},
};
TFSDK_UNIT_OPS(sum, ops);
