/* OneHot: along a new axis of extent depth, on_value at the index and off_value elsewhere. An index
 * outside 0..depth-1 gives off_value everywhere. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  const tfsdk_view *v = array_value(c, 1);
  int64_t at = tfsdk_attr_int(&c->attr, "axis"), depth = -1;
  int32_t axis = 0;
  for (uint32_t i = 1; i < 4; i++) TFSDK_TRY(array_scalar_arg(c, i));
  if (v != NULL) {
    depth = tfsdk_view_int(v, 0);
    if (depth < 0)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "'depth' is %lld, but must not be negative",
                        (long long)depth);
  }
  if (x->rank < 0) return NULL;
  if (at != -1 && (at < 0 || at > x->rank))
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "axis %lld is out of range for indices of shape %s (-1..%d)", (long long)at,
                      tfsdk_shape_text(x).s, (int)x->rank);
  if (x->rank == TFSDK_MAX_RANK)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "indices have the highest rank, %d, already",
                      TFSDK_MAX_RANK);
  axis = at < 0 ? x->rank : (int32_t)at;
  c->out[0].shape = tfsdk_shape_of_rank(x->rank + 1);
  for (int32_t i = 0; i <= x->rank; i++)
    c->out[0].shape.dim[i] = i < axis ? x->dim[i] : i == axis ? depth : x->dim[i - 1];
  return NULL;
}

typedef struct job {
  const tfsdk_run *r;
  int64_t depth;
} job;

static void write(array_sink *s, const void *user) {
  const job *j = (const job *)user;
  const tfsdk_view *x = &j->r->in[0], *on = &j->r->in[2], *off = &j->r->in[3];
  int64_t axis = tfsdk_attr_int(&j->r->attr, "axis"), outer, inner;
  if (axis < 0) axis = x->rank;
  outer = array_extent(x->dim, 0, (int32_t)axis);
  inner = array_extent(x->dim, (int32_t)axis, x->rank);
  if (inner == 1) { /* one row per index: two runs and the one element between */
    for (int64_t o = 0; o < outer; o++) {
      int64_t at = tfsdk_view_int(x, o);
      if (at < 0 || at >= j->depth) {
        array_put(s, off, 0, 0, j->depth);
        continue;
      }
      array_put(s, off, 0, 0, at);
      array_put(s, on, 0, 0, 1);
      array_put(s, off, 0, 0, j->depth - 1 - at);
    }
    return;
  }
  for (int64_t o = 0; o < outer; o++)
    for (int64_t d = 0; d < j->depth; d++)
      for (int64_t i = 0; i < inner; i++)
        array_put(s, tfsdk_view_int(x, o * inner + i) == d ? on : off, 0, 0, 1);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  job j = {r, tfsdk_view_int(&r->in[1], 0)};
  return array_write(r, 0, write, &j);
}

static const tfsdk_arg in[] = {
    {"indices", "TI", "any shape; counted from 0", TFSDK_ARG_NONDIFF, 0},
    {"depth", "int32", "scalar: the extent of the new axis", ARRAY_SHAPE_ARG, 0},
    {"on_value", "T", "scalar", TFSDK_ARG_NONDIFF, 0},
    {"off_value", "T", "scalar", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"output", "T", "indices' shape with the new axis", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"axis", "int", "-1", "where the new axis stands; -1: last", -1, TFSDK_MAX_RANK},
    {"T", "dtype", NULL, "type of the values", 0, 0},
    {"TI", "dtype{uint8,int8,int32,int64}", "int64", "type of indices", 0, 0}};
static const char *const samples[] = {
    "int32{0,2,-1} ; int32(3) ; T[] ; T[]",
    "int64{{0,1},{2,5}} ; int32(3) ; float32(1) ; float32(0) | axis=0",
    "uint8{} ; int32(2) ; float32(1) ; float32(0)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("OneHot", "indices as rows with a single mark"),
     .doc = "`y[..., d, ...] = on_value` where d is the index, else `off_value`. An index outside "
            "0..depth-1 gives `off_value` everywhere.\n\nSource: TensorFlow `OneHot`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute,
     .no_grad_reason = "indices have no gradient, and on and off values count as constants",
     .samples = samples}};
TFSDK_UNIT_OPS(one_hot, ops);
