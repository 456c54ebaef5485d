/* Unpack: the slices along an axis, each without that axis. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  int64_t num = tfsdk_attr_int(&c->attr, "num");
  tfsdk_shape y = tfsdk_shape_scalar();
  int32_t axis = 0;
  if (x->rank < 0) return NULL;
  TFSDK_TRY(tfsdk_axis(c, tfsdk_attr_int(&c->attr, "axis"), x->rank, &axis));
  if (x->dim[axis] >= 0 && x->dim[axis] != num)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "axis %d of shape %s has extent %lld, but num is %lld",
                      (int)axis, tfsdk_shape_text(x).s, (long long)x->dim[axis], (long long)num);
  for (int32_t i = 0; i < x->rank; i++)
    if (i != axis) y.dim[y.rank++] = x->dim[i];
  for (uint32_t i = 0; i < c->n_out; i++) c->out[i].shape = y;
  return NULL;
}

typedef struct piece {
  const tfsdk_view *x;
  int64_t outer, num, inner, i;
} piece;

static void write(array_sink *s, const void *user) {
  const piece *p = (const piece *)user;
  for (int64_t o = 0; o < p->outer; o++)
    array_put(s, p->x, (o * p->num + p->i) * p->inner, 1, p->inner);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  piece p = {&r->in[0], 0, r->n_out, 0, 0};
  int32_t axis = (int32_t)tfsdk_attr_int(&r->attr, "axis");
  if (axis < 0) axis += r->in[0].rank;
  p.outer = array_extent(r->in[0].dim, 0, axis);
  p.inner = array_extent(r->in[0].dim, axis + 1, r->in[0].rank);
  for (uint32_t i = 0; i < r->n_out; i++) {
    p.i = i;
    TFSDK_TRY(array_write(r, i, write, &p));
  }
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_grad_pieces(c, g, 0, "Pack", tfsdk_none());
}

static const tfsdk_arg in[] = {{"value", "T", "rank 1 or more", 0, 0}};
static const tfsdk_arg out[] = {{"output", "num*T", "the slices along axis", 0, 0}};
static const tfsdk_attrdef attr[] = {{"num", "int", NULL, "extent of the axis", 0, 65536},
                                     {"T", "dtype", NULL, "type of the elements", 0, 0},
                                     {"axis", "int", "0", "negative counts from the end", 0, 0}};
static const char *const samples[] = {"T[2,3] | num=2", "float32[2,3] | num=3;axis=-1",
                                      "float32[3] | num=3", "float32[2,0] | num=2", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Unpack", "unstacks a tensor along an axis"),
     .doc = "`output[i][...] = value[..., i, ...]`; the opposite of `Pack`.\n\n"
            "Source: TensorFlow `Unpack` (`tf.unstack`).",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad,
     .samples = samples}};
TFSDK_UNIT_OPS(unpack, ops);
