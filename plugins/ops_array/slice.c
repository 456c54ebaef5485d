/* Slice: the block of x that begins at `begin` and has the extents `size`; -1 in size: up to the
 * end. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape;
  int64_t begin[TFSDK_MAX_RANK], size[TFSDK_MAX_RANK];
  int32_t rank = x->rank;
  int begin_known, size_known;
  for (uint32_t i = 1; i <= 2 && rank < 0; i++) { /* begin and size are as long as x has axes */
    const tfsdk_shape *s = &c->in[i].shape;
    if (s->rank == 1 && s->dim[0] >= 0 && s->dim[0] <= TFSDK_MAX_RANK) rank = (int32_t)s->dim[0];
  }
  if (rank < 0) return NULL;
  TFSDK_TRY(array_ints_arg(c, 1, "'begin'", rank, begin, &begin_known));
  TFSDK_TRY(array_ints_arg(c, 2, "'size'", rank, size, &size_known));
  c->out[0].shape = tfsdk_shape_of_rank(rank);
  if (!size_known) return NULL;
  for (int32_t i = 0; i < rank; i++) {
    int64_t n = x->rank < 0 ? -1 : x->dim[i];
    if (size[i] < -1)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "size[%d] = %lld: at least 0, or -1 for the rest",
                        (int)i, (long long)size[i]);
    if (begin_known && (begin[i] < 0 || (n >= 0 && begin[i] > n)))
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "begin[%d] = %lld is out of range [0, %lld] of shape %s", (int)i,
                        (long long)begin[i], (long long)n, tfsdk_shape_text(x).s);
    if (begin_known && size[i] >= 0 && n >= 0 && size[i] > n - begin[i])
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "begin[%d] + size[%d] = %lld + %lld passes extent %lld of shape %s", (int)i,
                        (int)i, (long long)begin[i], (long long)size[i], (long long)n,
                        tfsdk_shape_text(x).s);
    c->out[0].shape.dim[i] = size[i] >= 0 ? size[i] : begin_known && n >= 0 ? n - begin[i] : -1;
  }
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const tfsdk_view *x = &r->in[0];
  int64_t stride[TFSDK_MAX_RANK];
  array_walk w = {0};
  array_strides(x->dim, x->rank, stride);
  for (int32_t i = 0; i < x->rank; i++) {
    w.first += tfsdk_view_int(&r->in[1], i) * stride[i];
    array_walk_axis(&w, r->out[0].dim[i], stride[i]);
  }
  return array_copy_walk(r, 0, 0, &w);
}

/* dx = dy with `begin` zeros in front and what is left behind. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val begin = tfsdk_input(g, 1), x = tfsdk_input(g, 0), dy = tfsdk_dy(g, 0), pad[2], paddings;
  tfsdk_typed_shape tx = tfsdk_type(c, x), ty = tfsdk_type(c, dy);
  int64_t list[2 * TFSDK_MAX_RANK], dim[2];
  tfsdk_view v;
  if (tfsdk_shape_whole(&tx.shape) && tfsdk_shape_whole(&ty.shape) && tfsdk_known(c, begin, &v)) {
    if (tfsdk_same_shape(&tx.shape, &ty.shape)) return tfsdk_set_dx(g, 0, dy);
    for (int32_t i = 0; i < tx.shape.rank; i++) {
      list[2 * i] = tfsdk_view_int(&v, i);
      list[2 * i + 1] = tx.shape.dim[i] - ty.shape.dim[i] - list[2 * i];
    }
    dim[0] = tx.shape.rank;
    dim[1] = 2;
    paddings = tfsdk_constant(c, TFSDK_INT64, 2, dim, list);
  } else {
    tfsdk_attrval axis = tfsdk_a_int("axis", 1);
    int32_t type = tfsdk_type(c, begin).dtype;
    tfsdk_val left =
        tfsdk_emit2(c, "Sub", array_emit_shape(c, x, type), array_emit_shape(c, dy, type));
    pad[0] = begin;
    pad[1] = tfsdk_emit2(c, "Sub", left, begin);
    paddings = tfsdk_emit(c, "Pack", pad, 2, &axis, 1);
  }
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "Pad", dy, paddings));
}

static const tfsdk_arg in[] = {
    {"input", "T", "any shape", 0, 0},
    {"begin", "Index", "vector: the block's first position on each axis", ARRAY_SHAPE_ARG, 0},
    {"size", "Index", "vector: the block's extents; -1: up to the end", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "T", "the block", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"Index", ARRAY_INDEX_TYPES, NULL, "type of begin and size", 0, 0}};
static const char *const samples[] = {"T[4,3] ; int32{1,0} ; int32{2,-1}",
                                      "float32[2,5] ; int64{2,1} ; int64{0,3}",
                                      "float32[] ; int32{} ; int32{}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Slice", "a block of a tensor"),
     .doc = "`output[i...] = input[begin + i...]`. Errors: a block that does not lie inside.\n\n"
            "Source: TensorFlow `Slice`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 6, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 2, .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(slice, ops);
