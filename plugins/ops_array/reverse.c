/* Reverse: ReverseV2 with a bool for each axis, as TensorFlow had it first. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape, *d = &c->in[1].shape;
  if (d->rank >= 0 && (d->rank != 1 || (x->rank >= 0 && d->dim[0] >= 0 && d->dim[0] != x->rank)))
    return TFSDK_FAIL(c, INVALID_ARGUMENT,
                      "'dims' must have one bool for each axis of shape %s, but its shape is %s",
                      tfsdk_shape_text(x).s, tfsdk_shape_text(d).s);
  c->out[0].shape = *x;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  uint32_t turned = 0;
  for (int64_t i = 0; i < r->in[1].n_elem; i++)
    if (((const uint8_t *)r->in[1].data)[i]) turned |= 1u << i;
  return array_reverse(r, turned);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "Reverse", tfsdk_dy(g, 0), tfsdk_input(g, 1)));
}

static const tfsdk_arg in[] = {
    {"tensor", "T", "any shape", 0, 0},
    {"dims", "bool", "vector: for each axis, whether to turn it round", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "T", "of tensor's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"T[2,3] ; bool{true,false}", "float32[] ; bool{}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Reverse", "turns axes round (old form)"),
     .doc = "As `ReverseV2`, the axes given as bools.\n\nSource: TensorFlow `Reverse`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 2,
     .samples = samples}};
TFSDK_UNIT_OPS(reverse, ops);
