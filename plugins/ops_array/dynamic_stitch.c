/* DynamicStitch: merges rows into one tensor by their indices (see stitch.h). */
#include "stitch.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_stitch_run(r); }

static const tfsdk_arg in[] = {
    {"indices", "N*int32", "where the rows go; any shapes", ARRAY_SHAPE_ARG, 0},
    {"data", "N*T", "data[i].shape = indices[i].shape + the shape of a row", 0, 0}};
static const tfsdk_arg out[] = {{"merged", "T", "[largest index + 1] + the shape of a row", 0, 0}};
static const tfsdk_attrdef attr[] = {{"N", "int", NULL, "number of lists", 1, 65536},
                                     {"T", "dtype", NULL, "type of the elements", 0, 0}};
static const char *const samples[] = {"[int32{0,2} ; int32(1)] ; [T[2,3] ; T[3]]",
                                      "[int32{{1,0},{3,2}}] ; [float32[2,2]]",
                                      "[int32{}] ; [float32[0,2]]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("DynamicStitch", "merges rows into one tensor by their indices"),
     .doc = "`merged[indices[i][k]] = data[i][k]`. The last one wins where an index occurs again; "
            "rows "
            "that no index names are zeros.\n\nSource: TensorFlow `DynamicStitch`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 1, .infer = array_stitch_infer, .reference = compute,
     .grad = array_stitch_grad, .grad_in = 1, .samples = samples}};
TFSDK_UNIT_OPS(dynamic_stitch, ops);
