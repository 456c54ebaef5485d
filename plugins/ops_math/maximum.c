/* Maximum: z is the larger of x and y, NaN if one of them is. Where they are equal the whole
 * gradient goes to x. */
#include <tfsdk/elementwise.h>
#include "calc.h"

TFSDK_BINARY(compute_float, TFSDK_EW_FLOATS, a >= b || a != a ? a : b)
TFSDK_BINARY(compute_int, TFSDK_EW_INTS, a >= b ? a : b)
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  return tfsdk_dtype_kind(r->in[0].dtype) == 'f' ? compute_float(state, r) : compute_int(state, r);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), y = tfsdk_input(g, 1), dz = tfsdk_dy(g, 0);
  tfsdk_val to_x = tfsdk_emit2(c, "GreaterEqual", x, y);
  tfsdk_val dx = tfsdk_none(), dy = tfsdk_none();
  if (tfsdk_wants(g, 0)) dx = v_where(c, to_x, dz);
  if (tfsdk_wants(g, 1)) dy = tfsdk_emit3(c, "SelectV2", to_x, v_num(c, dz, 0), dz);
  return v_set_dx2(c, g, dx, dy);
}

static const char *const samples[] = {"T[2,3] ; T[2,3]", "T[2,3] ; T[3](3,4)",
                                      "nograd float32{1,2,3} ; float32{1,3,2}", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Maximum", "the larger of x and y"), TFSDK_EW_COMMUTATIVE_SCHEMA,
     TFSDK_EW_T(TFSDK_T_NUMBERS),
     .doc = "z is the larger of x and y, NaN if one of them is. Where they are equal the whole "
            "gradient goes to x.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
};
TFSDK_UNIT_OPS(maximum, ops);
