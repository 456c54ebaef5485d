/* ShapeN: the shapes of several tensors of one type. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  for (uint32_t i = 0; i < c->n_in; i++)
    c->out[i].shape = tfsdk_shape_vector(c->in[i].shape.rank < 0 ? -1 : c->in[i].shape.rank);
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  for (uint32_t i = 0; i < r->n_in; i++) TFSDK_TRY(array_write_shape(r, &r->in[i], &r->out[i]));
  return NULL;
}

static const tfsdk_arg in[] = {
    {"input", "N*T", "tensors", TFSDK_ARG_NONDIFF | TFSDK_ARG_SHAPE_ONLY, 0}};
static const tfsdk_arg out[] = {
    {"output", "N*out_type", "vectors: the extents of each", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {
    {"N", "int", NULL, "number of tensors", 1, 65536},
    {"T", "dtype", NULL, "type of the tensors", 0, 0},
    {"out_type", ARRAY_INDEX_TYPES, "int32", "type of the results", 0, 0}};
static const char *const samples[] = {"[T[2,3] ; T[4]]", "[float32[]] | out_type=int64", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ShapeN", "the shapes of several tensors"),
     .doc = "As `Shape`, for a list.\n\nSource: TensorFlow `ShapeN`.", ARRAY_SCHEMA(in, out, attr),
     .infer = infer, .reference = compute,
     .no_grad_reason = "integers: a shape does not depend on the values", .samples = samples}};
TFSDK_UNIT_OPS(shape_n, ops);
