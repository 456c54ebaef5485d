/* ClipByValue: t limited to low..high. The gradient goes to t where low <= t <= high (at the bounds
 * too), to the bound elsewhere; NaN stays NaN. */
#include <tfsdk/elementwise.h>
#include "calc.h"

/* The bounds may be stretched to t's shape, not t to theirs. */
static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s = tfsdk_shape_unknown();
  const tfsdk_shape *t = &c->in[0].shape;
  TFSDK_TRY(tfsdk_ew_infer3(c));
  s = c->out[0].shape;
  c->out[0].shape = *t;
  if (tfsdk_shape_whole(t) && tfsdk_shape_whole(&s) && !tfsdk_same_shape(t, &s))
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "bounds of shapes %s and %s do not fit t of shape %s",
                      tfsdk_shape_text(&c->in[1].shape).s, tfsdk_shape_text(&c->in[2].shape).s,
                      tfsdk_shape_text(t).s);
  return NULL;
}

TFSDK_TERNARY(compute, TFSDK_EW_NUMBERS, a<b ? b : a> c ? c : a)

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val t = tfsdk_input(g, 0), low = tfsdk_input(g, 1), high = tfsdk_input(g, 2);
  tfsdk_val dy = tfsdk_dy(g, 0), zero = v_num(c, dy, 0);
  tfsdk_val below = tfsdk_emit2(c, "Less", t, low);
  tfsdk_val above = tfsdk_emit2(c, "Greater", t, high);
  if (tfsdk_wants(g, 0)) {
    tfsdk_val outside = tfsdk_emit2(c, "LogicalOr", below, above);
    TFSDK_TRY(tfsdk_set_dx(g, 0, tfsdk_emit3(c, "SelectV2", outside, zero, dy)));
  }
  if (tfsdk_wants(g, 1))
    TFSDK_TRY(tfsdk_set_dx(g, 1, tfsdk_sum_like(c, v_where(c, below, dy), low)));
  if (tfsdk_wants(g, 2)) {
    /* where t is below low, low wins, even over a smaller high */
    tfsdk_val d = v_where(c, above, tfsdk_emit3(c, "SelectV2", below, zero, dy));
    TFSDK_TRY(tfsdk_set_dx(g, 2, tfsdk_sum_like(c, d, high)));
  }
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {
    {"t", "T", "any shape", 0, 0},
    {"clip_value_min", "T", "a scalar, or a shape that broadcasts to t's", 0, 0},
    {"clip_value_max", "T", "a scalar, or a shape that broadcasts to t's", 0, 0},
};
static const tfsdk_arg out[] = {{"output", "T", "of t's shape", 0, 0}};
static const char *const samples[] = {"float32[2,3] ; float32(-1) ; float32(1)",
                                      "float64[2,3] ; float64[2,3](-2,-1) ; float64[3](1,2)",
                                      "int32[2,3] ; int32(-1) ; int32(2)",
                                      "uint8{0,5,200} ; uint8(3) ; uint8(100)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ClipByValue", "t limited to a range"), .in = in, .n_in = TFSDK_COUNT(in),
     .out = out, .n_out = TFSDK_COUNT(out), TFSDK_EW_T(TFSDK_T_NUMBERS), .infer = infer,
     .flags = TFSDK_OP_ELEMENTWISE, .may_alias = tfsdk_ew_alias0,
     .doc = "The bound where t is outside of it, else t. At a bound the gradient goes to t. NaN "
            "stays NaN.",
     .reference = compute, .grad = grad, .grad_in = 7, .samples = samples},
};
TFSDK_UNIT_OPS(clip_by_value, ops);
