/* Floor: y is the largest integer that is not above x, as a float. */
#include <tfsdk/elementwise.h>
#include <tgmath.h>

TFSDK_UNARY(compute, TFSDK_EW_FLOATS, floor(x))

static const char *const samples[] = {"T[2,3]", "float32{-1.5,-0.5,0.5,1.5,2.5}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Floor", "largest integer not above x"), TFSDK_EW_UNARY_STEP_SCHEMA,
     TFSDK_EW_T(TFSDK_T_FLOATS), .doc = "y is the largest integer that is not above x, as a float.",
     .reference = compute,
     .no_grad_reason = "a step function: its derivative is zero almost everywhere",
     .samples = samples},
};
TFSDK_UNIT_OPS(floor, ops);
