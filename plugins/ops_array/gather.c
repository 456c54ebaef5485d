/* Gather: rows of params, GatherV2 along axis 0. */
#include "pick.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  return array_gather_shape(array_host_of(c), &c->in[0].shape, &c->in[1].shape, 0, 0,
                            &c->out[0].shape);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_gather_run(r, &r->in[0], &r->in[1], 0, 0, 0, NULL);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_gather_slices(c, g, 0, tfsdk_input(g, 1), tfsdk_dy(g, 0));
}

static const tfsdk_arg in[] = {
    {"params", "Tparams", "rank 1 or more", 0, 0},
    {"indices", "Tindices", "any shape; 0 <= index < params.shape[0]", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {
    {"output", "Tparams", "indices.shape + params.shape[1:]: the rows", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"validate_indices", "bool", "true", "has no effect: indices are always checked", 0, 0},
    {"Tparams", "dtype", NULL, "type of the elements", 0, 0},
    {"Tindices", ARRAY_INDEX_TYPES, NULL, "type of indices", 0, 0}};
static const char *const samples[] = {"T[4,3] ; int32{0,3,3}", "float32[4] ; int64{{0,3},{1,1}}",
                                      "float32[4,2] ; int32(2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Gather", "picks rows"),
     .doc = "`y[k, ...] = params[indices[k], ...]`; `GatherV2` along axis 0, with the same sparse "
            "gradient.\n\nSource: TensorFlow `Gather`.",
     ARRAY_SCHEMA(in, out, attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 2,
     .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(gather, ops);
