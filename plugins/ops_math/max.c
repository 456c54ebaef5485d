/* Max: the largest element along axes; NaN if one of them is. Of nothing: -inf, or the smallest
 * integer. Gradient: dy in equal parts to the elements that equal the result, so that the parts add
 * up to dy. */
#include "reduce.h"
#include "calc.h"

REDUCE(compute, TFSDK_EW_NUMBERS, (T)REDUCE_LOWEST(T), x > s || x != x ? x : s, s)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  int64_t keep = tfsdk_attr_int(&g->attr, "keep_dims");
  tfsdk_val x = tfsdk_input(g, 0), axis = tfsdk_input(g, 1), y = tfsdk_output(g, 0);
  tfsdk_val dy = tfsdk_dy(g, 0);
  tfsdk_val hit = tfsdk_emit2(c, "Equal", x, v_spread(c, y, x, axis, keep));
  tfsdk_val share = v_cast_like(c, hit, dy);
  tfsdk_val part = v_div(c, dy, v_reduce(c, "Sum", share, axis, keep));
  return tfsdk_set_dx(g, 0, v_mul(c, share, v_spread(c, part, x, axis, keep)));
}

REDUCE_ARGS("T")
REDUCE_ATTRS(TFSDK_T_NUMBERS)
static const char *const samples[] = {REDUCE_SAMPLES, "nograd float32{1,2,2,2} ; int32{0}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Max", "largest element over axes"), REDUCE_SCHEMA,
     .doc = "The largest element along the axes, NaN if one of them is NaN. Of nothing it is -inf, "
            "or the smallest integer. "
            "Elements that tie share the gradient equally.",
     .reference = compute, .grad = grad, .grad_in = 3, .grad_out = 1, .samples = samples},
};
TFSDK_UNIT_OPS(max, ops);
