/* Bincount: how often each of 0..size-1 occurs (see count.h). */
#include "count.h"

static tfsdk_status *infer(tfsdk_infer *c) { return array_count_infer(c, 0); }
static tfsdk_status *compute(void *state, tfsdk_run *r) { return array_count_run(r, 1, 0); }

static const tfsdk_arg in[] = {
    {"arr", "int32", "any shape: numbers from 0 on", TFSDK_ARG_NONDIFF, 0},
    {"size", "int32", "scalar: the number of bins; larger numbers are dropped", ARRAY_SHAPE_ARG, 0},
    {"weights", "T", "of arr's shape: what each number counts; or empty: 1 each", TFSDK_ARG_NONDIFF,
     0}};
static const tfsdk_arg out[] = {{"bins", "T", "vector of size sums", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", ARRAY_COUNT_TYPES, NULL, "type of the sums", 0, 0}};
static const char *const samples[] = {"int32{1,1,3,0} ; int32(3) ; T[4]",
                                      "int32{{2},{2}} ; int32(4) ; float32{}",
                                      "int32{} ; int32(2) ; int64{}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Bincount", "how often each number occurs"),
     .doc = "`bins[b] = sum of weights[i] over i with arr[i] = b`. Numbers of `size` or more are "
            "dropped; "
            "a negative number is an error.\n\nSource: TensorFlow `Bincount`.",
     ARRAY_SCHEMA(in, out, attr), .const_in = 2, .infer = infer, .reference = compute,
     .no_grad_reason = "none in TensorFlow: counts are constants", .samples = samples}};
TFSDK_UNIT_OPS(bincount, ops);
