/* Transpose: y.shape[i] = x.shape[perm[i]]; element order by the walk of those strides. */
#include <tfsdk/rewrite.h>
#include "array.h"

/* Reads perm; it must name each axis once. Negative axes are allowed, as in TensorFlow. */
static tfsdk_status *check(const array_host *c, const tfsdk_view *v, int32_t rank, int32_t *perm) {
  uint32_t seen = 0;
  TFSDK_REQUIRE(c, v->n_elem == rank, "'perm' has %lld members, but x has rank %d",
                (long long)v->n_elem, (int)rank);
  for (int32_t i = 0; i < rank; i++) {
    int64_t p = tfsdk_view_int(v, i);
    TFSDK_REQUIRE(c, p >= -rank && p < rank, "perm[%d] = %lld is out of range for rank %d", (int)i,
                  (long long)p, (int)rank);
    perm[i] = (int32_t)(p < 0 ? p + rank : p);
    TFSDK_REQUIRE(c, !(seen >> perm[i] & 1), "'perm' names axis %d twice", (int)perm[i]);
    seen |= 1u << perm[i];
  }
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  const tfsdk_view *v = array_value(c, 1);
  int32_t perm[TFSDK_MAX_RANK], rank = x->rank;
  if (c->in[1].shape.rank >= 0 && c->in[1].shape.rank != 1)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'perm' must be a vector, but its shape is %s",
                      tfsdk_shape_text(&c->in[1].shape).s);
  if (rank < 0 && v != NULL && v->n_elem <= TFSDK_MAX_RANK) rank = (int32_t)v->n_elem;
  if (rank < 0) return NULL;
  if (v != NULL) TFSDK_TRY(check(array_host_of(c), v, rank, perm));
  c->out[0].shape = tfsdk_shape_of_rank(rank);
  if (v != NULL && x->rank >= 0)
    for (int32_t i = 0; i < rank; i++) c->out[0].shape.dim[i] = x->dim[perm[i]];
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  int64_t stride[TFSDK_MAX_RANK];
  int32_t perm[TFSDK_MAX_RANK], rank = x->rank;
  array_walk w = {0};
  TFSDK_TRY(check(array_host_of(r), &r->in[1], rank, perm));
  array_strides(x->dim, rank, stride);
  for (int32_t i = 0; i < rank; i++) array_walk_axis(&w, x->dim[perm[i]], stride[perm[i]]);
  return array_copy_walk(r, 0, 0, &w);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val perm = tfsdk_input(g, 1), inverse;
  int64_t list[TFSDK_MAX_RANK];
  int32_t p[TFSDK_MAX_RANK];
  tfsdk_view v;
  if (tfsdk_known(c, perm, &v) && v.n_elem <= TFSDK_MAX_RANK) {
    int32_t rank = (int32_t)v.n_elem;
    TFSDK_TRY(check(array_host_of(g), &v, rank, p));
    for (int32_t i = 0; i < rank; i++) list[p[i]] = i;
    inverse = array_int_const(c, TFSDK_INT32, list, (uint32_t)rank);
  } else {
    inverse = tfsdk_emit1(c, "InvertPermutation", perm);
  }
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "Transpose", tfsdk_dy(g, 0), inverse));
}

static const tfsdk_arg in[] = {
    {"x", "T", "any shape", 0, 0},
    {"perm", "Tperm", "vector: the axes of x in their new order", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"y", "T", "x with its axes in that order", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0},
                                     {"Tperm", ARRAY_INDEX_TYPES, NULL, "type of perm", 0, 0}};
static const char *const samples[] = {
    "T[2,3] ; int32{1,0}",           "float32[2,3,4] ; int64{2,0,1}",     "float32[] ; int32{}",
    "float32[2,0,3] ; int32{1,2,0}", "float32[2,3,2,4] ; int32{0,2,1,3}", NULL};
/* Two permutations one after the other are one; one that moves nothing is none. */
static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  tfsdk_maker m;
  tfsdk_view outer, inner;
  tfsdk_val x = w->in[0];
  int64_t list[TFSDK_MAX_RANK];
  int32_t p[TFSDK_MAX_RANK], q[TFSDK_MAX_RANK], rank = tfsdk_type(c, x).shape.rank;
  int moves = 0;
  if (rank < 0 || !tfsdk_known(c, w->in[1], &outer)) return NULL;
  TFSDK_TRY(check(array_host_of(w), &outer, rank, p));
  if (tfsdk_made_by(w, x, "Transpose", &m) && tfsdk_known(c, m.in[1], &inner)) {
    TFSDK_TRY(check(array_host_of(w), &inner, rank, q));
    x = m.in[0];
    for (int32_t i = 0; i < rank; i++) p[i] = q[p[i]];
  }
  for (int32_t i = 0; i < rank; i++) {
    list[i] = p[i];
    moves |= p[i] != i;
  }
  if (!moves) return tfsdk_set_rewritten(w, 0, x);
  if (x.id == w->in[0].id) return NULL;
  return tfsdk_set_rewritten(
      w, 0, tfsdk_emit2(c, "Transpose", x, array_int_const(c, TFSDK_INT32, list, (uint32_t)rank)));
}

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Transpose", "permutes the axes"),
     .doc = "`y[i0, i1, ...] = x[...]` where axis k of y is axis `perm[k]` of x. `perm` names each "
            "axis once.\n\nSource: TensorFlow `Transpose`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 2, .rewrite = rewrite, .samples = samples}};
TFSDK_UNIT_OPS(transpose, ops);
