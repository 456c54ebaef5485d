/* Unique: the distinct elements of a vector (see distinct.h). */
#include "distinct.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  TFSDK_TRY(tfsdk_with_rank(c, 0, 1, &c->out[1].shape));
  c->out[0].shape = tfsdk_shape_vector(-1);
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_unique_run(r, -1); }

static const tfsdk_arg in[] = {{"x", "T", "vector", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {
    {"y", "T", "vector: what occurs, in the order of first occurrence", 0, 0},
    {"idx", "out_idx", "vector: for each the number of its equal in y", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"out_idx", ARRAY_INDEX_TYPES, "int32", "type of the numbers", 0, 0}};
static const char *const samples[] = {"int32{1,1,2,4,4,4,7,8,8}", "T[3]", "int64{} | out_idx=int64",
                                      NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Unique", "the distinct elements of a vector"),
     .doc = "The distinct elements in the order of their first occurrence; `y[idx[i]] = x[i]`. 0 "
            "equals -0; a NaN equals nothing.\n\n"
            "Source: TensorFlow `Unique`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute,
     .no_grad_reason = "which elements are equal is a step function", .samples = samples}};
TFSDK_UNIT_OPS(unique, ops);
