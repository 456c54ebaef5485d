/* TensorScatterSub: a copy of a tensor that updates change at the slices named by indices (see
 * nd.h). */
#include "nd.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_tensor_scatter_run(r, ARRAY_SUB);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_tensor_scatter_grad(c, g, ARRAY_SUB);
}

static const tfsdk_arg in[] = {{"tensor", "T", "x: rank 1 or more", 0, 0},
                               {"indices", "Tindices",
                                "[outer..., K]: rows of K indices, K <= x's rank",
                                TFSDK_ARG_NONDIFF, 0},
                               {"updates", "T", "[outer...] + x.shape[K:]", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "y: x with the changes", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_NUMBER_TYPES, NULL, "type of the elements", 0, 0},
    {"Tindices", "dtype{int16,int32,int64}", NULL, "type of indices", 0, 0},
    ARRAY_ND_POLICY};
static const int8_t may_alias[] = {0};
static const char *const samples[] = {"T[4,3] ; int32{{0,2},{3,0}} ; T[2]",
                                      "float32[4,3] ; int64{{3},{1}} ; float32[2,3]",
                                      "float32[4] ; int32{{5},{1}} ; float32[2] | "
                                      "bad_indices_policy=IGNORE",
                                      NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("TensorScatterSub", "subtracts from slices of a tensor"),
     .doc = "`y[i] = x[i] - updates[k]` for each row i = indices[k]; equal indices add up. An "
            "index outside is an error "
            "that names it; with bad_indices_policy IGNORE it is skipped.\n\n"
            "Source: TensorFlow `TensorScatterSub`.",
     ARRAY_SCHEMA(in, out, attr), .may_alias = may_alias, .infer = array_tensor_scatter_infer,
     .reference = compute, .grad = grad, .grad_in = 2, .samples = samples}};
TFSDK_UNIT_OPS(tensor_scatter_sub, ops);
