/* EuclideanNorm: the root of the sum of squares over axes, accumulated in double, so that squares
 * of floats neither overflow nor vanish. dx = x dy / y: NaN where y is 0, as in TensorFlow, and
 * only there. */
#include "reduce.h"
#include "calc.h"

REDUCE(compute_float, TFSDK_EW_FLOATS_AS_DOUBLE, 0, s + x * x, sqrt(s))
REDUCE(compute_int, REDUCE_INTS, 0, s + x * x, (uint64_t)sqrt((double)s))
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return tfsdk_dtype_kind(r->in[0].dtype) == 'f' ? compute_float(state, r) : compute_int(state, r);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0);
  tfsdk_val q = v_div(c, tfsdk_dy(g, 0), tfsdk_output(g, 0));
  return tfsdk_set_dx(
      g, 0,
      v_mul(c, x, v_spread(c, q, x, tfsdk_input(g, 1), tfsdk_attr_int(&g->attr, "keep_dims"))));
}

REDUCE_ARGS("T")
REDUCE_ATTRS(TFSDK_T_NUMBERS)
static const char *const samples[] = {REDUCE_SAMPLES, NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("EuclideanNorm", "square root of the sum of squares over axes"), REDUCE_SCHEMA,
     .doc =
         "sqrt(sum of x^2) along the axes; integers are truncated. The norm has no derivative at "
         "zero: "
         "a zero row gets a gradient of NaN there, as in TensorFlow; other rows are not touched.",
     .reference = compute, .grad = grad, .grad_in = 3, .grad_out = 1, .samples = samples},
};
TFSDK_UNIT_OPS(euclidean_norm, ops);
