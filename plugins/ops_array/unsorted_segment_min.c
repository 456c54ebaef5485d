/* UnsortedSegmentMin: the minimum of the rows of each segment, ids in any order (see segment.h). */
#include "segment.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_unsorted_run(r, ARRAY_SEG_MIN);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_segment_grad_ties(c, g, "UnsortedSegmentSum");
}

static const tfsdk_arg in[] = {
    {"data", "T", "its shape begins with the shape of segment_ids", 0, 0},
    {"segment_ids", "Tindices", "any shape: the segment of each row; negative: none",
     TFSDK_ARG_NONDIFF, 0},
    {"num_segments", "Tnumsegments", "scalar: how many segments there are", ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {
    {"output", "T", "[num_segments] + data.shape[segment_ids.rank:]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_REAL_TYPES, NULL, "type of the elements", 0, 0},
    {"Tindices", ARRAY_INDEX_TYPES, NULL, "type of segment_ids", 0, 0},
    {"Tnumsegments", ARRAY_INDEX_TYPES, "int32", "type of num_segments", 0, 0}};
static const char *const samples[] = {"nograd T[4,3] ; int32{2,0,2,-1} ; int32(3)",
                                      "T[4,3] ; int32{1,0,1,-1} ; int32(2)",
                                      "float32[2,2] ; int64{{1,0},{1,1}} ; int64(2)",
                                      "nograd float32[0,2] ; int32{} ; int32(2)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("UnsortedSegmentMin",
                   "the smallest of each segment, element by element, in any order"),
     .doc = "`y[s] = min of data[k] over k with segment_ids[k] = s`. Rows with a negative id are "
            "dropped; an id of `num_segments` or more is an "
            "error; a segment without rows holds the highest finite number. Rows that tie share "
            "the gradient equally.\n\n"
            "Source: TensorFlow `UnsortedSegmentMin`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 4, .infer = array_unsorted_infer,
     .reference = compute, .grad = grad, .grad_in = 7, .grad_out = 1, .samples = samples}};
TFSDK_UNIT_OPS(unsorted_segment_min, ops);
