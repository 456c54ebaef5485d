/* ReverseV2: turns the order of elements round along some axes. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape, *a = &c->in[1].shape;
  const tfsdk_view *v = array_value(c, 1);
  uint32_t seen = 0;
  if (a->rank >= 0 && a->rank != 1)
    return TFSDK_FAIL(c, INVALID_ARGUMENT, "'axis' must be a vector, but its shape is %s",
                      tfsdk_shape_text(a).s);
  c->out[0].shape = *x;
  for (int64_t i = 0; v != NULL && x->rank >= 0 && i < v->n_elem; i++) {
    int32_t axis = 0;
    TFSDK_TRY(tfsdk_axis(c, tfsdk_view_int(v, i), x->rank, &axis));
    if (seen >> axis & 1)
      return TFSDK_FAIL(c, INVALID_ARGUMENT, "axis %d is named twice", (int)axis);
    seen |= 1u << axis;
  }
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  uint32_t turned = 0;
  for (int64_t i = 0; i < r->in[1].n_elem; i++) {
    int64_t axis = tfsdk_view_int(&r->in[1], i);
    turned |= 1u << (axis < 0 ? axis + r->in[0].rank : axis);
  }
  return array_reverse(r, turned);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "ReverseV2", tfsdk_dy(g, 0), tfsdk_input(g, 1)));
}

static const tfsdk_arg in[] = {
    {"tensor", "T", "any shape", 0, 0},
    {"axis", "Tidx", "vector: the axes to turn round", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "T", "of tensor's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {{"Tidx", ARRAY_INDEX_TYPES, "int32", "type of axis", 0, 0},
                                     {"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[2,3] ; int32{0}", "float32[2,3] ; int64{-1,0}",
                                      "float32[2,3] ; int32{}", "float32[0,2] ; int32{1}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ReverseV2", "turns axes round"),
     .doc = "`y[..., i, ...] = x[..., n - 1 - i, ...]` along each axis that is named.\n\n"
            "Source: TensorFlow `ReverseV2`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 2, .samples = samples}};
TFSDK_UNIT_OPS(reverse_v2, ops);
