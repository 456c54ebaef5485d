/* LeftShift: z = x times 2^y, modulo 2^n. A shift by the number of bits or more, or by less than
 * zero, is done as TensorFlow does it: by the nearest legal count. */
#include <tfsdk/elementwise.h>
#include "shift.h"

TFSDK_BINARY(compute, TFSDK_EW_INTS,
             (uint64_t)a << shift_count((int64_t)b, b > 63, 8 * (int)sizeof(T)))

static const char *const samples[] = {"int32{1,-3,5} ; int32{0,2,31}", "uint8{1,200} ; uint8{7,1}",
                                      "int8{1,-100} ; int8{7,1}",      "int64[2,3] ; int64(5)",
                                      "uint64[2,3] ; uint64[3](0,60)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("LeftShift", "x shifted left by y bits"), TFSDK_EW_BINARY_SCHEMA,
     TFSDK_EW_T(TFSDK_T_INTS),
     .doc = "z = x times 2^y, modulo 2^n. A shift by the number of bits or more, or by less "
            "than zero, is done as TensorFlow does it: by the nearest legal count.",
     .reference = compute, .no_grad_reason = "integers", .samples = samples},
};
TFSDK_UNIT_OPS(left_shift, ops);
