/* Pad: a border of zeros round a tensor. */
#include "border.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_pad_compute(r, NULL); }

static const tfsdk_arg in[] = {{"input", "T", "any shape", 0, 0},
                               {"paddings", "Tpaddings",
                                "[rank, 2]: how much to add before and after each axis",
                                ARRAY_SHAPE_ARG, 0}};
static const tfsdk_arg out[] = {{"output", "T", "input within zeros", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"Tpaddings", ARRAY_INDEX_TYPES, "int32", "type of paddings", 0, 0}};
static const char *const samples[] = {"T[2,3] ; int32{{1,0},{0,2}}", "float32[0] ; int64{{1,1}}",
                                      "float32[2,2,2] ; int32{{0,0},{1,1},{0,0}}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Pad", "adds a border of zeros"),
     .doc = "Axis i gets `paddings[i, 0]` zeros in front and `paddings[i, 1]` behind.\n\n"
            "Source: TensorFlow `Pad`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = array_pad_infer, .reference = compute,
     .grad = array_pad_grad, .grad_in = 2, .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(pad, ops);
