/* SelectV2: t where the condition holds, else e, all three broadcast together. The gradient goes to
 * the branch that was taken, and is exactly zero in the other one whatever that contains. */
#include "select.h"

static tfsdk_status *infer(tfsdk_infer *c) { return tfsdk_ew_infer3(c); }

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return select_run(r, r->in);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val condition = tfsdk_input(g, 0), dy = tfsdk_dy(g, 0), zero = v_num(c, dy, 0);
  if (tfsdk_wants(g, 1)) {
    tfsdk_val dt = tfsdk_emit3(c, "SelectV2", condition, dy, zero);
    TFSDK_TRY(tfsdk_set_dx(g, 1, tfsdk_sum_like(c, dt, tfsdk_input(g, 1))));
  }
  if (tfsdk_wants(g, 2)) {
    tfsdk_val de = tfsdk_emit3(c, "SelectV2", condition, zero, dy);
    TFSDK_TRY(tfsdk_set_dx(g, 2, tfsdk_sum_like(c, de, tfsdk_input(g, 2))));
  }
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {
    {"condition", "bool", "any shape", TFSDK_ARG_NONDIFF, 0},
    {"t", "T", "taken where the condition holds", 0, 0},
    {"e", "T", "taken elsewhere", 0, 0},
};
static const tfsdk_arg out[] = {{"output", "T", "the three shapes broadcast together", 0, 0}};
static const char *const samples[] = {"bool[2,3] ; T[2,3] ; T[2,3]", "bool[2,1] ; T[3] ; T[4,1,1]",
                                      NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("SelectV2", "t where the condition holds, else e"), .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), TFSDK_EW_T(TFSDK_T_ANY),
     .flags = TFSDK_OP_ELEMENTWISE, .infer = infer,
     .doc =
         "Chooses element by element, with broadcasting. The branch that is not taken gets a "
         "gradient "
         "of exactly zero, be its value infinite or NaN. A function that *computes* NaN there "
         "still "
         "passes NaN on in its own gradient (0 times infinity): choose safe inputs for it first.",
     .reference = compute, .grad = grad, .grad_in = 1, .grad_shape = 6, .samples = samples},
};
TFSDK_UNIT_OPS(select_v2, ops);
