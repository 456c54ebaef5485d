/* SparseSegmentSqrtN: the sum, divided by the square root of their number, of picked rows for each
 * segment (see segment.h). */
#include "segment.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_sparse_run(r, ARRAY_SEG_SQRT_N);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return array_segment_grad_sparse(c, g, "sqrtn");
}

static const tfsdk_arg in[] = {{"data", "T", "rank 1 or more: rows", 0, 0},
                               {"indices", "Tidx", "vector: the rows picked", TFSDK_ARG_NONDIFF, 0},
                               {"segment_ids", "Tsegmentids",
                                "vector: the segment of each picked row; ids must not fall",
                                TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"output", "T", "[last id + 1] + data.shape[1:]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", ARRAY_FLOAT_TYPES, NULL, "type of the elements", 0, 0},
    {"Tidx", ARRAY_INDEX_TYPES, "int32", "type of indices", 0, 0},
    {"Tsegmentids", ARRAY_INDEX_TYPES, "int32", "type of segment_ids", 0, 0},
    {"sparse_gradient", "bool", "false", "has no effect: the gradient is always sparse", 0, 0}};
static const char *const samples[] = {"T[4,3] ; int32{3,0,3} ; int32{0,0,2}",
                                      "float32[4] ; int64{1,1} ; int64{0,1}",
                                      "float32[4,2] ; int32{} ; int32{}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD(
         "SparseSegmentSqrtN",
         "the sum, divided by the square root of their number, of picked rows, by segment"),
     .doc = "`y[s] = 1 / sqrt(n) times the sum of data[indices[k]] over the n rows k with "
            "segment_ids[k] = s`, without "
            "making the picked rows. A segment without rows holds 0. The gradient is sparse.\n\n"
            "Source: TensorFlow `SparseSegmentSqrtN`.",
     ARRAY_SCHEMA(in, out, attr), .infer = array_sparse_infer, .reference = compute, .grad = grad,
     .grad_in = 6, .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(sparse_segment_sqrt_n, ops);
