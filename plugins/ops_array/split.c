/* Split: cuts a tensor into num_split equal pieces along an axis. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[1].shape;
  int64_t num = tfsdk_attr_int(&c->attr, "num_split");
  tfsdk_shape y;
  int32_t axis = -1;
  TFSDK_TRY(array_axis_arg(c, 0, x->rank, &axis));
  if (x->rank < 0) return NULL;
  if (x->rank == 0) return TFSDK_FAIL(c, INVALID_ARGUMENT, "a scalar cannot be split");
  y = axis < 0 ? tfsdk_shape_of_rank(x->rank) : *x;
  if (axis >= 0 && x->dim[axis] >= 0) {
    if (x->dim[axis] % num != 0)
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "axis %d of shape %s, extent %lld, does not split into %lld equal pieces",
                        (int)axis, tfsdk_shape_text(x).s, (long long)x->dim[axis], (long long)num);
    y.dim[axis] = x->dim[axis] / num;
  }
  for (uint32_t i = 0; i < c->n_out; i++) c->out[i].shape = y;
  return NULL;
}

typedef struct piece {
  const tfsdk_view *x;
  int64_t outer, row, inner, first;
} piece;

static void write(array_sink *s, const void *user) {
  const piece *p = (const piece *)user;
  for (int64_t o = 0; o < p->outer; o++) array_put(s, p->x, o * p->row + p->first, 1, p->inner);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[1];
  piece p = {x, 0, 0, 0, 0};
  int32_t axis = (int32_t)tfsdk_view_int(&r->in[0], 0);
  if (axis < 0) axis += x->rank;
  p.outer = array_extent(x->dim, 0, axis);
  p.row = array_extent(x->dim, axis, x->rank);
  p.inner = p.row / r->n_out;
  for (uint32_t i = 0; i < r->n_out; i++, p.first += p.inner)
    TFSDK_TRY(array_write(r, i, write, &p));
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_grad_pieces(c, g, 1, "ConcatV2", tfsdk_input(g, 0));
}

static const tfsdk_arg in[] = {
    {"split_dim", "int32", "scalar: the axis; negative counts from the end", ARRAY_SHAPE_ARG, 0},
    {"value", "T", "rank 1 or more", 0, 0}};
static const tfsdk_arg out[] = {{"output", "num_split*T", "the pieces in order", 0, 0}};
static const tfsdk_attrdef attr[] = {{"num_split", "int", NULL, "number of pieces", 1, 65536},
                                     {"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"int32(0) ; T[4,3] | num_split=2",
                                      "int32(-1) ; float32[2,3] | num_split=3",
                                      "int32(1) ; float32[2,0] | num_split=2", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Split", "cuts a tensor into equal pieces along an axis"),
     .doc = "The extent of the axis must be a multiple of `num_split`.\n\n"
            "Source: TensorFlow `Split`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 1, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 1, .samples = samples}};
TFSDK_UNIT_OPS(split, ops);
