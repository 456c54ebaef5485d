/* EuclideanNorm, VectorNorm: the root of the sum of squares over axes, accumulated in double, so
 * that squares of floats neither overflow nor vanish. dx = dy x / y. Where y is 0 there is no
 * derivative: the first op gives NaN, as in TensorFlow, and only there; the second, which tf.norm
 * uses, gives 0, a member of the subdifferential. */
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

/* x / y is at most 1, however small y is; dy / y would overflow. */
static tfsdk_status *grad_vector(tfsdk_ctx *c, tfsdk_gradcall *g) {
  int64_t keep = tfsdk_attr_int(&g->attr, "keep_dims");
  tfsdk_val x = tfsdk_input(g, 0), axis = tfsdk_input(g, 1);
  tfsdk_val slope = tfsdk_emit2(c, "DivNoNan", x, v_spread(c, tfsdk_output(g, 0), x, axis, keep));
  return tfsdk_set_dx(g, 0, v_mul(c, slope, v_spread(c, tfsdk_dy(g, 0), x, axis, keep)));
}

REDUCE_ARGS("T")
REDUCE_ATTRS(TFSDK_T_NUMBERS)
static const tfsdk_attrdef vector_attr[] = {
    {"T", TFSDK_T_FLOATS, NULL, "element type", 0, 0}, REDUCE_ATTR_KEEP, REDUCE_ATTR_TIDX};
static const char *const samples[] = {REDUCE_SAMPLES, NULL};
static const char *const vector_samples[] = {REDUCE_SAMPLES, "nograd float32{0,0} ; int32{0}",
                                             "nograd float32{1e-30,0} ; int32{0}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("EuclideanNorm", "square root of the sum of squares over axes"), REDUCE_SCHEMA,
     .doc =
         "sqrt(sum of x^2) along the axes; integers are truncated. The norm has no derivative at "
         "zero: "
         "a zero row gets a gradient of NaN there, as in TensorFlow; other rows are not touched.",
     .reference = compute, .grad = grad, .grad_in = 3, .grad_out = 1, .samples = samples},
    {TFSDK_OP_HEAD("VectorNorm", "Euclidean length over axes, with gradient 0 at zero"), .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = vector_attr,
     .n_attr = TFSDK_COUNT(vector_attr), .infer = reduce_infer, .const_in = 2,
     .doc =
         "sqrt(sum of x^2) along the axes. The gradient is dy x / y, and 0 where y is 0: 0 is in "
         "the subdifferential there, and a vector of zeros does not spoil what is trained.",
     .reference = compute_float, .grad = grad_vector, .grad_in = 3, .grad_out = 1,
     .samples = vector_samples},
};
TFSDK_UNIT_OPS(euclidean_norm, ops);
