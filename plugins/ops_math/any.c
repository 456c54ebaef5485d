/* Any: true if one element along the axes is; of nothing: false. */
#include "reduce.h"

REDUCE(compute, TFSDK_EW_BOOL, 0, (T)(s | (x != 0)), s)

REDUCE_ARGS("bool")
static const tfsdk_attrdef attr[] = {REDUCE_ATTR_KEEP, REDUCE_ATTR_TIDX};
static const char *const samples[] = {"bool[2,3,4] ; int32{1}",
                                      "bool[2,3] ; int64{0,-1} | keep_dims=true", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Any", "true if one element along the axes is"), REDUCE_SCHEMA,
     .doc = "true if one element along the axes is; of nothing it is false.", .reference = compute,
     .no_grad_reason = "bool", .samples = samples},
};
TFSDK_UNIT_OPS(any, ops);
