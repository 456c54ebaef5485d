/* SegmentMean: the mean of the rows of each segment; ids in ascending order (see segment.h). */
#include "segment.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_segment_run(r, ARRAY_SEG_MEAN);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, array_segment_rows(c, tfsdk_dy(g, 0), tfsdk_input(g, 1), "mean"));
}

static const tfsdk_arg in[] = {{"data", "T", "rank 1 or more: rows", 0, 0},
                               {"segment_ids", "Tindices",
                                "vector: the segment of each row; ids must not fall",
                                TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {
    {"output", "T", "[last id + 1] + data.shape[1:]: one row for each segment", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_FLOAT_TYPES, NULL, "type of the elements", 0, 0},
    {"Tindices", ARRAY_INDEX_TYPES, NULL, "type of segment_ids", 0, 0}};
static const char *const samples[] = {"T[4,3] ; int32{0,0,1,3}", "float32[3] ; int64{0,0,0}",
                                      "float32[0,2] ; int32{}", "float32[2,0] ; int32{0,1}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SegmentMean", "averages the rows of each segment"),
     .doc = "`y[s] = mean of data[k] over k with segment_ids[k] = s`. A segment without rows holds "
            "0. Ids that fall are an error.\n\n"
            "Source: TensorFlow `SegmentMean`.",
     ARRAY_SCHEMA(in, out, attr), .infer = array_segment_infer, .reference = compute, .grad = grad,
     .grad_in = 2, .samples = samples}};
TFSDK_UNIT_OPS(segment_mean, ops);
