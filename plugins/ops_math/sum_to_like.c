/* SumToLike: the gradient of broadcasting. Sums x over the axes along which a tensor of like's
 * shape was stretched to x's: those in front of its rank, and those where it has extent 1. */
#include <tfsdk/rewrite.h>
#include "reduce.h"
#include "calc.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape, *like = &c->in[1].shape;
  c->out[0].shape = *like;
  if (x->rank < 0 || like->rank < 0) return NULL;
  for (int32_t i = 1; i <= like->rank; i++) {
    int64_t n = like->dim[like->rank - i], m = i <= x->rank ? x->dim[x->rank - i] : -2;
    if (m == -2 || (n >= 0 && m >= 0 && n != m && n != 1))
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "shape %s does not broadcast to %s",
                        tfsdk_shape_text(like).s, tfsdk_shape_text(x).s);
  }
  return NULL;
}

REDUCE_OVER(compute_sum, REDUCE_NUMBERS, reduce_begin_like(&job, &r->in[0], &r->out[0]), 0, s + x,
            s)

/* Equal shapes need no work at all: in graphs with unknown extents that is the usual case. */
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  if (r->in[0].rank == r->out[0].rank && r->in[0].n_elem == r->out[0].n_elem)
    return r->api->forward(r, 0, 0);
  return compute_sum(state, r);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val none = tfsdk_int_vector(c, NULL, 0);
  return tfsdk_set_dx(g, 0, v_spread(c, tfsdk_dy(g, 0), tfsdk_input(g, 0), none, 1));
}

static const tfsdk_arg in[] = {
    {"x", "T", "a shape to which like's broadcasts", 0, 0},
    {"like", "T2", "gives the output's shape", TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0},
};
static const tfsdk_arg out[] = {{"output", "T", "of like's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", TFSDK_T_NUMBERS, NULL, "element type", 0, 0},
    {"T2", "dtype", NULL, "element type of like", 0, 0},
};
static const char *const samples[] = {"T[2,3] ; T[3]", "T[2,3,4] ; float32[2,1,4]",
                                      "T[2,3] ; int32(1)", "T[2,3] ; bool[2,3]", NULL};
/* Nothing is summed between equal shapes. */
static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  tfsdk_typed_shape x = tfsdk_type(c, w->in[0]), like = tfsdk_type(c, w->in[1]);
  if (tfsdk_same_shape(&x.shape, &like.shape)) return tfsdk_set_rewritten(w, 0, w->in[0]);
  return NULL;
}

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SumToLike", "x summed down to the shape of another tensor"), .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer,
     .doc = "The gradient of broadcasting: sums x over the axes along which a tensor of like's "
            "shape is "
            "stretched when it is broadcast to x's shape. Accumulates as Sum does.",
     .reference = compute, .grad = grad, .grad_shape = 1, .rewrite = rewrite, .samples = samples},
};
TFSDK_UNIT_OPS(sum_to_like, ops);
