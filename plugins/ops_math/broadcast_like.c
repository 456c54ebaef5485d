/* BroadcastLike: x spread over the shape of another tensor by NumPy's rule. Element by element, so
 * that plans can fuse it: what is spread need never lie in memory. */
#include <tfsdk/elementwise.h>
#include "calc.h"

/* Elements are moved, not read: their size is all that matters. */
#define SPREAD_(type)                                                                              \
  for (tfsdk_walk_begin(&w, r->in, 1, &r->out[0]); w.rows > 0; tfsdk_walk_next(&w)) {              \
    const type *from = (const type *)r->in[0].data + w.at[0];                                      \
    type *to = (type *)r->out[0].data + w.out;                                                     \
    if (w.step[0] != 0)                                                                            \
      memcpy(to, from, (size_t)w.n * sizeof(type));                                                \
    else                                                                                           \
      for (int64_t i = 0; i < w.n; i++) to[i] = from[0];                                           \
  }                                                                                                \
  break
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_walk w;
  (void)state;
  switch (tfsdk_dtype_size(r->in[0].dtype)) {
  case 1: SPREAD_(uint8_t);
  case 2: SPREAD_(uint16_t);
  case 4: SPREAD_(uint32_t);
  case 8: SPREAD_(uint64_t);
  default: return tfsdk_ew_no_type(r);
  }
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *like = &c->in[1].shape;
  tfsdk_shape both = tfsdk_shape_unknown();
  c->out[0].shape = *like;
  if (like->rank < 0 || c->in[0].shape.rank < 0) return NULL;
  TFSDK_TRY(tfsdk_infer_broadcast(c, 0, 1, &both));
  for (int32_t d = 0; d < both.rank; d++)
    if (both.rank != like->rank ||
        (like->dim[d] >= 0 && both.dim[d] >= 0 && both.dim[d] != like->dim[d]))
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "x of shape %s cannot be broadcast to the shape %s",
                        tfsdk_shape_text(&c->in[0].shape).s, tfsdk_shape_text(like).s);
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_sum_like(c, tfsdk_dy(g, 0), tfsdk_input(g, 0)));
}

static const tfsdk_arg in[] = {
    {"x", "T", "a shape that broadcasts to like's", 0, 0},
    {"like", "T2", "gives the output's shape", TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0}};
static const tfsdk_arg out[] = {{"output", "T", "of like's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", TFSDK_T_ANY, NULL, "element type", 0, 0},
                                     {"T2", "dtype", NULL, "element type of like", 0, 0}};
static const char *const samples[] = {"T[3] ; float32[2,3]", "float32[2,1,3] ; int32[2,4,3]",
                                      "float32[] ; float32[2,2]", "T[2,3] ; bool[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("BroadcastLike", "x broadcast to the shape of another tensor"), .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .flags = TFSDK_OP_ELEMENTWISE, .infer = infer,
     .doc = "Repeats x as NumPy's broadcasting does until it has like's shape, which is all that "
            "is read of like. The gradient sums over what was repeated.",
     .reference = compute, .grad = grad, .grad_shape = 1, .samples = samples},
};
TFSDK_UNIT_OPS(broadcast_like, ops);
