/* ResourceScatterNdSub: subtracts from slices of a variable, named by rows of indices (see nd.h).
 */
#include "nd.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_resource_nd_run(r, ARRAY_SUB);
}

static const tfsdk_arg in[] = {{"ref", "resource", "the variable v", TFSDK_ARG_HOST, 0},
                               {"indices", "Tindices",
                                "[outer..., K]: rows of K indices, K <= v's rank",
                                TFSDK_ARG_NONDIFF, 0},
                               {"updates", "T", "[outer...] + v.shape[K:]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_NUMBER_TYPES, NULL, "type of the variable", 0, 0},
    {"Tindices", ARRAY_INDEX_TYPES, NULL, "type of indices", 0, 0},
    {"use_locking", "bool", "true", "has no effect: changes are never torn", 0, 0},
    ARRAY_ND_POLICY};
static const char *const samples[] = {"var:T[4,3] ; int32{{0,2},{3,0}} ; T[2]",
                                      "var:float32[4,3] ; int64{{3},{1}} ; float32[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ResourceScatterNdSub", "subtracts from slices of a variable"),
     .flags = TFSDK_OP_STATEFUL,
     .doc =
         "`v[i] = v[i] - updates[k]` in place for each row i = indices[k]; equal indices add up. "
         "An index outside is an "
         "error that names it and leaves the variable alone; with bad_indices_policy IGNORE it is "
         "skipped.\n\nSource: TensorFlow `ResourceScatterNdSub`.",
     .in = in, .attr = attr, .n_in = TFSDK_COUNT(in), .n_attr = TFSDK_COUNT(attr),
     .infer = array_resource_nd_infer, .reference = compute,
     .no_grad_reason = "changes a variable; the gradient goes through reading it",
     .samples = samples}};
TFSDK_UNIT_OPS(resource_scatter_nd_sub, ops);
