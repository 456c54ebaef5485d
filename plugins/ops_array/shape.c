/* Shape: the extents of a tensor as an integer vector. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  c->out[0].shape = tfsdk_shape_vector(c->in[0].shape.rank < 0 ? -1 : c->in[0].shape.rank);
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_write_shape(r, &r->in[0], &r->out[0]);
}

static const tfsdk_arg in[] = {
    {"input", "T", "any shape", TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0}};
static const tfsdk_arg out[] = {
    {"output", "out_type", "vector: input's extents", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of input", 0, 0},
    {"out_type", ARRAY_INDEX_TYPES, "int32", "type of the result", 0, 0}};
static const char *const samples[] = {"T[2,3]", "float32[0,4] | out_type=int64", "float32[]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Shape", "the shape of a tensor, as a vector"),
     .doc = "Reads no data. An extent above 2^31 - 1 needs `out_type` int64.\n\n"
            "Source: TensorFlow `Shape`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute,
     .no_grad_reason = "integers: a shape does not depend on the values", .samples = samples}};
TFSDK_UNIT_OPS(shape, ops);
