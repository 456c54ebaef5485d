/* BroadcastToLike: the gradient of reductions. Puts the reduced axes back into x (as extents of 1,
 * unless they were kept) and broadcasts the result to the shape of `like`, of which nothing else is
 * read. With `mean` it divides by the number of elements reduced over: the gradient of a mean. */
#include <tfsdk/rewrite.h>
#include "reduce.h"
#include "calc.h"

/* Only like's shape matters; x's must fit. */
static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape back, got = tfsdk_shape_unknown();
  const tfsdk_shape *like = &c->in[1].shape;
  const tfsdk_view *axes = c->value[2];
  c->out[0].shape = *like;
  if (like->rank < 0 || c->in[0].shape.rank < 0 || axes == NULL) return NULL;
  back = c->in[0].shape;
  if (!tfsdk_attr_int(&c->attr, "keep_dims")) {
    uint32_t mask = 0;
    int32_t from = 0;
    TFSDK_TRY(reduce_mask(c, axes, like->rank, &mask));
    got = back;
    back.rank = like->rank;
    for (int32_t d = 0; d < like->rank; d++) {
      if (mask >> d & 1u)
        back.dim[d] = 1;
      else if (from < got.rank)
        back.dim[d] = got.dim[from++];
      else
        back.rank = TFSDK_MAX_RANK + 1;
    }
    TFSDK_REQUIRE(c, from == got.rank && back.rank <= TFSDK_MAX_RANK,
                  "x of shape %s is not the shape %s without those %lld axes",
                  tfsdk_shape_text(&got).s, tfsdk_shape_text(like).s, (long long)axes->n_elem);
  }
  TFSDK_TRY(tfsdk_broadcast(c, &back, like, &got));
  for (int32_t d = 0; d < got.rank; d++)
    if (got.rank != like->rank || (like->dim[d] >= 0 && got.dim[d] > like->dim[d]))
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "x of shape %s cannot be broadcast to the shape %s",
                        tfsdk_shape_text(&c->in[0].shape).s, tfsdk_shape_text(like).s);
  return NULL;
}

/* a: the element, b: the number it is divided by, 1 unless `mean` */
#define SPREAD_CASE_(id, S, C, LOAD, STORE, ...)                                                   \
  case TFSDK_##id: {                                                                               \
    const S *from = (const S *)r->in[0].data;                                                      \
    S *to = (S *)r->out[0].data;                                                                   \
    for (tfsdk_walk_begin(&w, &x, 1, &r->out[0]); w.rows > 0; tfsdk_walk_next(&w))                 \
      for (int64_t i = 0; i < w.n; i++) {                                                          \
        const S v = from[w.at[0] + i * w.step[0]];                                                 \
        to[w.out + i] = count == 1 ? v : STORE(S, LOAD(C, v) / (C)count);                          \
      }                                                                                            \
    break;                                                                                         \
  }

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *like = &r->out[0];
  uint32_t mask = reduce_mask_checked(&r->in[2], like->rank);
  int64_t dim[TFSDK_MAX_RANK], count = 1;
  tfsdk_view x = r->in[0];
  tfsdk_walk w;
  (void)state;
  if (!tfsdk_attr_int(&r->attr, "keep_dims")) {
    int32_t from = 0;
    for (int32_t d = 0; d < like->rank; d++) dim[d] = mask >> d & 1u ? 1 : x.dim[from++];
    x.dim = dim;
    x.rank = like->rank;
  }
  if (tfsdk_attr_int(&r->attr, "mean"))
    for (int32_t d = 0; d < like->rank; d++)
      if (mask >> d & 1u) count *= like->dim[d];
  switch (x.dtype) {
    TFSDK_EW_NUMBERS(SPREAD_CASE_, )
    TFSDK_EW_BOOL(SPREAD_CASE_, )
  default: return tfsdk_ew_no_type(r);
  }
  return NULL;
}

/* Reduces over the same axes; what broadcasting added beyond them is summed as well. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  const char *op = tfsdk_attr_int(&g->attr, "mean") ? "Mean" : "Sum";
  tfsdk_val dx =
      v_reduce(c, op, tfsdk_dy(g, 0), tfsdk_input(g, 2), tfsdk_attr_int(&g->attr, "keep_dims"));
  return tfsdk_set_dx(g, 0, tfsdk_sum_like(c, dx, tfsdk_input(g, 0)));
}

/* With the axes known: divided while it is small, and spread by an op that can be fused. */
static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  tfsdk_typed_shape x = tfsdk_type(c, w->in[0]), like = tfsdk_type(c, w->in[1]);
  tfsdk_val small = w->in[0];
  tfsdk_view axes;
  double count = 1;
  if (!tfsdk_shape_whole(&like.shape) || !tfsdk_shape_whole(&x.shape) || like.shape.rank > 63 ||
      !tfsdk_known(c, w->in[2], &axes))
    return NULL;
  uint32_t mask = reduce_mask_checked(&axes, like.shape.rank);
  for (int32_t d = 0; d < like.shape.rank; d++) {
    if (!(mask >> d & 1u)) continue;
    count *= (double)like.shape.dim[d];
    like.shape.dim[d] = 1;
  }
  if (tfsdk_dtype_kind(x.dtype) != 'f' && tfsdk_attr_int(&w->attr, "mean")) return NULL;
  if (!tfsdk_attr_int(&w->attr, "keep_dims"))
    small = tfsdk_emit2(c, "Reshape", small,
                        tfsdk_int_vector(c, like.shape.dim, (uint32_t)like.shape.rank));
  if (tfsdk_attr_int(&w->attr, "mean"))
    small = tfsdk_emit2(c, "RealDiv", small, tfsdk_scalar(c, x.dtype, count));
  return tfsdk_set_rewritten(w, 0, tfsdk_emit2(c, "BroadcastLike", small, w->in[1]));
}

static const tfsdk_arg in[] = {
    {"x", "T", "the shape that like has when it is reduced over axis", 0, 0},
    {"like", "T2", "gives the output's shape", TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0},
    {"axis", "Tidx", "axes of like: a scalar or a vector", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0},
};
static const tfsdk_arg out[] = {{"output", "T", "of like's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", TFSDK_T_ANY, NULL, "element type", 0, 0},
    {"T2", "dtype", NULL, "element type of like", 0, 0},
    {"Tidx", "dtype{int32,int64}", "int32", "type of the axes", 0, 0},
    {"keep_dims", "bool", "false", "x still has the reduced axes, with extent 1", 0, 0},
    {"mean", "bool", "false", "divide by the number of elements reduced over", 0, 0},
};
static const char *const samples[] = {"T[2,4] ; T[2,3,4] ; int32{1}",
                                      "T[3] ; float32[2,3,4] ; int32{0,2} | keep_dims=false",
                                      "T[1,3,1] ; float32[2,3,4] ; int64{0,-1} | keep_dims=true",
                                      "float32[2,4] ; float32[2,3,4] ; int32{1} | mean=true",
                                      "float32[3] ; float32[2,3] ; int32{} | keep_dims=true",
                                      NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("BroadcastToLike", "x spread over the shape of another tensor"), .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer, .const_in = 4,
     .doc = "The gradient of a reduction. The axes `axis` of `like` are put into x with extent 1, "
            "unless "
            "keep_dims says that they are still there; then x is broadcast to like's shape. With "
            "`mean` "
            "the result is divided by the product of like's extents along `axis`.",
     .reference = compute, .grad = grad, .grad_in = 4, .grad_shape = 1, .rewrite = rewrite,
     .samples = samples},
};
TFSDK_UNIT_OPS(broadcast_to_like, ops);
