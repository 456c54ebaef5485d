/* NextAfter: output is the floating number next to x1 on the way to x2; x2 itself where they are
 * equal. The gradient goes to x1 alone. */
#include <tfsdk/elementwise.h>
#include "calc.h"
#include <math.h>

#define NEXT_FLOAT32(X, ...) X(FLOAT32, float, float, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)
#define NEXT_FLOAT64(X, ...) X(FLOAT64, double, double, TFSDK_EW_PLAIN, TFSDK_EW_PLAIN, __VA_ARGS__)

TFSDK_BINARY(compute_float32, NEXT_FLOAT32, nextafterf(a, b))
TFSDK_BINARY(compute_float64, NEXT_FLOAT64, nextafter(a, b))
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return r->in[0].dtype == TFSDK_FLOAT32 ? compute_float32(state, r) : compute_float64(state, r);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val dz = tfsdk_dy(g, 0);
  return v_set_dx2(c, g, dz, tfsdk_wants(g, 1) ? tfsdk_emit1(c, "ZerosLike", dz) : tfsdk_none());
}

static const tfsdk_arg in[] = {{"x1", "T", "any shape", 0, 0},
                               {"x2", "T", "a shape that broadcasts with x1's", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "x1 and x2 broadcast together", 0, 0}};
static const char *const samples[] = {"T[2,3] ; T[2,3]", "nograd T[2,1,3] ; T[4,1]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("NextAfter", "the next floating number after x1 in the direction of x2"),
     .in = in, .n_in = 2, .out = out, .n_out = 1, .infer = tfsdk_ew_infer2,
     .flags = TFSDK_OP_ELEMENTWISE, .may_alias = tfsdk_ew_alias0,
     TFSDK_EW_T("dtype{float32,float64}"),
     .doc = "output is the floating number next to x1 on the way to x2; x2 itself where they are "
            "equal. The gradient goes to x1 alone.",
     .reference = compute, .grad = grad, .grad_shape = 3, .samples = samples},
};
TFSDK_UNIT_OPS(next_after, ops);
