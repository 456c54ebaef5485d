/* ResourceScatterMax: raises rows of a variable. */
#include "rows.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_rows_run(r, ARRAY_MAX); }

static const tfsdk_arg in[] = {
    {"resource", "resource", "the variable v, of rank 1 or more", TFSDK_ARG_HOST, 0},
    {"indices", "Tindices", "any shape: the rows; 0 <= index < v.shape[0]", TFSDK_ARG_NONDIFF, 0},
    {"updates", "dtype", "indices.shape + v.shape[1:], or a scalar for all", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"dtype", ARRAY_REAL_TYPES, NULL, "type of the variable", 0, 0},
    {"Tindices", ARRAY_INDEX_TYPES, NULL, "type of indices", 0, 0}};
static const char *const samples[] = {"var:float32[4,3] ; int32{3,0} ; float32[2,3](1,2)",
                                      "var:int32[4] ; int32{1,1} ; int32[2](1,3)",
                                      "var:float32[4,3] ; int64{{3},{1}} ; float32(2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ResourceScatterMax", "raises rows of a variable"), .flags = TFSDK_OP_STATEFUL,
     .doc = "`v[i] = max(v[i], updates[k])` in place for each i = indices[k]; the largest of equal "
            "indices counts. An index outside is an error "
            "that names it and leaves the variable alone.\n\n"
            "Source: TensorFlow `ResourceScatterMax`.",
     .in = in, .attr = attr, .n_in = TFSDK_COUNT(in), .n_attr = TFSDK_COUNT(attr),
     .infer = array_rows_infer, .reference = compute,
     .no_grad_reason = "changes a variable; the gradient goes through reading it",
     .samples = samples}};
TFSDK_UNIT_OPS(resource_scatter_max, ops);
