/* ConcatOffset: where each tensor of a concatenation begins in the result. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s = tfsdk_shape_vector(-1);
  TFSDK_TRY(array_scalar_arg(c, 0));
  for (uint32_t i = 1; i < c->n_in; i++)
    TFSDK_TRY(tfsdk_merge(c, &s, &c->in[i].shape, "shapes must be vectors of one length", &s));
  for (uint32_t i = 0; i < c->n_out; i++) c->out[i].shape = s;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  int64_t rank = r->in[1].n_elem, axis = tfsdk_view_int(&r->in[0], 0), at = 0;
  TFSDK_REQUIRE(r, axis >= -rank && axis < rank, "concat_dim %lld is out of range for rank %lld",
                (long long)axis, (long long)rank);
  if (axis < 0) axis += rank;
  for (uint32_t i = 0; i < r->n_out; i++) {
    const tfsdk_view *s = &r->in[i + 1];
    for (int64_t k = 0; k < rank; k++) {
      TFSDK_REQUIRE(r, k == axis || array_index(s, k) == array_index(&r->in[1], k),
                    "shape %u has extent %lld on axis %lld, shape 0 has %lld", (unsigned)i,
                    (long long)array_index(s, k), (long long)k,
                    (long long)array_index(&r->in[1], k));
      array_set_index(&r->out[i], k, k == axis ? at : 0);
    }
    at += array_index(s, axis);
  }
  return NULL;
}

static const tfsdk_arg in[] = {
    {"concat_dim", "int32", "scalar: the axis", ARRAY_SHAPE_ARG, 0},
    {"shape", "N*shape_type", "vectors: the shapes of the tensors", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {
    {"offset", "N*shape_type", "vectors: the position at which each begins", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {
    {"N", "int", NULL, "number of tensors", 1, 65536},
    {"shape_type", ARRAY_INDEX_TYPES, "int32", "type of the shapes", 0, 0}};
static const char *const samples[] = {"int32(1) ; [int32{2,2,7} ; int32{2,3,7} ; int32{2,9,7}]",
                                      "int32(-1) ; [int64{2}]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ConcatOffset", "where the parts of a concatenation begin"),
     .doc = "Zeros, but for `concat_dim`: there the sum of the extents before.\n\n"
            "Source: TensorFlow `ConcatOffset`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute,
     .no_grad_reason = "integers", .samples = samples}};
TFSDK_UNIT_OPS(concat_offset, ops);
