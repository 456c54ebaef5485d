/* Mean: the sum over axes divided by the number of elements. Integers truncate towards zero; the
 * mean of nothing is NaN, for integers 0. Gradient: dy / count, spread over the axes again. */
#include "reduce.h"
#include "calc.h"

REDUCE(compute_float, TFSDK_EW_FLOATS_AS_DOUBLE, 0, s + x, s / (double)count)
REDUCE(compute_signed, REDUCE_SIGNED, 0, s + x, count == 0 ? 0 : (int64_t)s / count)
REDUCE(compute_unsigned, REDUCE_UNSIGNED, 0, s + x, count == 0 ? 0 : s / (uint64_t)count)
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  switch (tfsdk_dtype_kind(r->in[0].dtype)) {
  case 'f': return compute_float(state, r);
  case 'i': return compute_signed(state, r);
  default: return compute_unsigned(state, r);
  }
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val in[3];
  tfsdk_attrval attrs[2];
  in[0] = tfsdk_dy(g, 0);
  in[1] = tfsdk_input(g, 0);
  in[2] = tfsdk_input(g, 1);
  attrs[0] = tfsdk_a_bool("keep_dims", tfsdk_attr_int(&g->attr, "keep_dims"));
  attrs[1] = tfsdk_a_bool("mean", 1);
  return tfsdk_set_dx(g, 0, tfsdk_emit(c, "BroadcastToLike", in, 3, attrs, 2));
}

REDUCE_ARGS("T")
REDUCE_ATTRS(TFSDK_T_NUMBERS)
static const char *const samples[] = {REDUCE_SAMPLES, NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Mean", "mean over axes"), REDUCE_SCHEMA,
     .doc = "The sum of the elements along the axes divided by their number. Integers truncate "
            "towards "
            "zero, as in TensorFlow. The mean of nothing is NaN, for integers 0.",
     .reference = compute, .grad = grad, .grad_in = 2, .grad_shape = 1, .samples = samples},
};
TFSDK_UNIT_OPS(mean, ops);
