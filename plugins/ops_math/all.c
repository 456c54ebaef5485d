/* All: true if every element along the axes is; of nothing: true. */
#include "reduce.h"

REDUCE(compute, TFSDK_EW_BOOL, 1, (T)(s &(x != 0)), s)

REDUCE_ARGS("bool")
static const tfsdk_attrdef attr[] = {REDUCE_ATTR_KEEP, REDUCE_ATTR_TIDX};
static const char *const samples[] = {"bool[2,3,4] ; int32{1}",
                                      "bool[2,3] ; int64{0,-1} | keep_dims=true", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("All", "true if every element along the axes is"), REDUCE_SCHEMA,
     .doc = "true if every element along the axes is; of nothing it is true.", .reference = compute,
     .no_grad_reason = "bool", .samples = samples},
};
TFSDK_UNIT_OPS(all, ops);
