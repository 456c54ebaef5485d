/* Cumsum: running sums along an axis. Accumulates in double; integers wrap around. The gradient is
 * the running sum of dy in the other direction. */
#include "scan.h"

static tfsdk_status *infer(tfsdk_infer *c) { return scan_infer(c, 1); }

SCAN(compute_float, TFSDK_EW_FLOATS_AS_DOUBLE, 0, s + x)
SCAN(compute_int, TFSDK_EW_INTS_WRAP, 0, s + x)
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return tfsdk_dtype_kind(r->in[0].dtype) == 'f' ? compute_float(state, r) : compute_int(state, r);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val in[2];
  in[0] = tfsdk_dy(g, 0);
  in[1] = tfsdk_input(g, 1);
  return tfsdk_set_dx(g, 0, scan_emit(c, g, "Cumsum", in, 2, 1));
}

static const tfsdk_arg in[] = {{"x", "T", "rank 1 or more", 0, 0}, SCAN_ARG_AXIS};
SCAN_OUT
SCAN_ATTRS(TFSDK_T_NUMBERS)
static const char *const samples[] = {"T[2,3,4] ; int32(1)",
                                      "T[2,3] ; int64(-1) | exclusive=true; reverse=true", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Cumsum", "running sum along an axis"), SCAN_RECORD(in, 1), .infer = infer,
     .doc = "out[k] = x[0] + ... + x[k] along the axis; exclusive: without x[k], beginning with 0. "
            "Integers wrap around.",
     .reference = compute, .grad = grad, .grad_in = 2, .samples = samples},
};
TFSDK_UNIT_OPS(cumsum, ops);
