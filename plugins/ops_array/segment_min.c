/* SegmentMin: the minimum of the rows of each segment; ids in ascending order (see segment.h). */
#include "segment.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_segment_run(r, ARRAY_SEG_MIN);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_segment_grad_ties(c, g, "SegmentSum");
}

static const tfsdk_arg in[] = {{"data", "T", "rank 1 or more: rows", 0, 0},
                               {"segment_ids", "Tindices",
                                "vector: the segment of each row; ids must not fall",
                                TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {
    {"output", "T", "[last id + 1] + data.shape[1:]: one row for each segment", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_REAL_TYPES, NULL, "type of the elements", 0, 0},
    {"Tindices", ARRAY_INDEX_TYPES, NULL, "type of segment_ids", 0, 0}};
static const char *const samples[] = {"T[4,3] ; int32{0,0,1,3}", "float32[3] ; int64{0,0,0}",
                                      "float32[0,2] ; int32{}", "float32[2,0] ; int32{0,1}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SegmentMin", "the smallest of each segment, element by element"),
     .doc = "`y[s] = min of data[k] over k with segment_ids[k] = s`. A segment without rows holds "
            "0. Rows that tie share the gradient equally. Ids that fall are an error.\n\n"
            "Source: TensorFlow `SegmentMin`.",
     ARRAY_SCHEMA(in, out, attr), .infer = array_segment_infer, .reference = compute, .grad = grad,
     .grad_in = 3, .grad_out = 1, .samples = samples}};
TFSDK_UNIT_OPS(segment_min, ops);
