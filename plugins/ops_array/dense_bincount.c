/* DenseBincount: Bincount of a vector, or of each row of a matrix (see count.h). */
#include "count.h"

static tfsdk_status *infer(tfsdk_infer *c) { return array_count_infer(c, 1); }
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return array_count_run(r, r->in[0].rank == 2 ? r->in[0].dim[0] : 1,
                         tfsdk_attr_int(&r->attr, "binary_output") != 0);
}

static const tfsdk_arg in[] = {
    {"input", "Tidx", "vector or matrix: numbers from 0 on", TFSDK_ARG_NONDIFF, 0},
    {"size", "Tidx", "scalar: the number of bins; larger numbers are dropped", ARRAY_SHAPE_ARG, 0},
    {"weights", "T", "of input's shape: what each number counts; or empty: 1 each",
     TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"output", "T", "[size] or [rows, size]", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"Tidx", ARRAY_INDEX_TYPES, NULL, "type of the numbers", 0, 0},
    {"T", ARRAY_COUNT_TYPES, NULL, "type of the sums", 0, 0},
    {"binary_output", "bool", "false", "1 for each number that occurs, else 0", 0, 0}};
static const char *const samples[] = {
    "int32{1,1,3,0} ; int32(3) ; T[4]",
    "int64{{2,0},{2,2}} ; int64(3) ; float32{} | binary_output=true", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("DenseBincount", "how often each number occurs, by row"),
     .doc = "As `Bincount`, for each row of a matrix; `binary_output` says only whether.\n\n"
            "Source: TensorFlow `DenseBincount`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute,
     .no_grad_reason = "none in TensorFlow: counts are constants", .samples = samples}};
TFSDK_UNIT_OPS(dense_bincount, ops);
