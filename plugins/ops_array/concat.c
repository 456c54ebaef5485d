/* Concat: ConcatV2 with the axis in front, as TensorFlow had it first. */
#include "join.h"

static tfsdk_status *infer(tfsdk_infer *c) { return array_join_infer(c, 1, c->n_in - 1, 0); }
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_join_compute(r, 1, r->n_in - 1, 0);
}
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_join_grad(c, g, 1, g->n_in - 1, 0);
}

static const tfsdk_arg in[] = {
    {"concat_dim", "int32", "scalar: the axis; negative counts from the end", ARRAY_SHAPE_ARG, 0},
    {"values", "N*T", "tensors whose shapes agree on all other axes", 0, 0}};
static const tfsdk_arg out[] = {
    {"output", "T", "the values one after another along the axis", 0, 0}};
static const tfsdk_attrdef attr[] = {{"N", "int", NULL, "number of values", 1, 65536},
                                     {"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"int32(0) ; [T[2,3] ; T[1,3]]",
                                      "int32(-1) ; [float32[2,3] ; float32[2,0]]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Concat", "joins tensors along an axis (old form)"),
     .doc = "As `ConcatV2`, with the axis as first input.\n\nSource: TensorFlow `Concat`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 1, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 1, .grad_shape = 2, .samples = samples}};
TFSDK_UNIT_OPS(concat, ops);
