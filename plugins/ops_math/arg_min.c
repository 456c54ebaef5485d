/* ArgMin: where along an axis the smallest element stands; of equal ones the first. NaN counts as
 * the smallest, as in NumPy. */
#define BETTER <
#include "arg_extreme.h"

static const char *const samples[] = {"T[2,3,4] ; int32(1)", "T[5] ; int64(-1) | output_type=int32",
                                      "float32{2,3,0,3,3} ; int32(0)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("ArgMin", "position of the smallest element along an axis"), ARG_SCHEMA,
     .doc = "The position, counted from 0, of the smallest element along the axis: the first of "
            "equal ones, the first "
            "NaN if there is one. An empty axis is an error.",
     .samples = samples},
};
TFSDK_UNIT_OPS(arg_min, ops);
