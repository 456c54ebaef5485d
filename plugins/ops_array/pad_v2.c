/* PadV2: a border of one given value round a tensor. */
#include "border.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  TFSDK_TRY(array_scalar_arg(c, 2));
  return array_pad_infer(c);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_pad_compute(r, &r->in[2]); }

static const tfsdk_arg in[] = {
    {"input", "T", "any shape", 0, 0},
    {"paddings", "Tpaddings", "[rank, 2]: how much to add before and after each axis",
     ARRAY_SHAPE_ARG, 0},
    {"constant_values", "T", "scalar: what the border holds; no gradient, as in TensorFlow",
     TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"output", "T", "input within the border", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"T", "dtype", NULL, "type of the elements", 0, 0},
    {"Tpaddings", ARRAY_INDEX_TYPES, "int32", "type of paddings", 0, 0}};
static const char *const samples[] = {"T[2,3] ; int32{{1,0},{0,2}} ; T[]",
                                      "float32[0] ; int64{{1,1}} ; float32(7)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("PadV2", "adds a border of a given value"),
     .doc = "As `Pad`, with `constant_values` in the place of zero.\n\nSource: TensorFlow `PadV2`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute,
     .grad = array_pad_grad, .grad_in = 2, .grad_shape = 1, .samples = samples}};
TFSDK_UNIT_OPS(pad_v2, ops);
