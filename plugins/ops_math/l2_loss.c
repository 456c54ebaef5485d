/* L2Loss: half the sum of squares of all elements, a scalar; accumulated in double. dt = t dy. */
#include <tfsdk/elementwise.h>
#include "calc.h"

#define SUM_CASE_(id, S, C, LOAD, STORE, ...)                                                      \
  case TFSDK_##id: {                                                                               \
    const S *t = (const S *)r->in[0].data;                                                         \
    double s = 0;                                                                                  \
    for (int64_t i = 0; i < r->in[0].n_elem; i++) {                                                \
      const double x = (double)LOAD(C, t[i]);                                                      \
      s += x * x;                                                                                  \
    }                                                                                              \
    *(S *)r->out[0].data = STORE(S, s / 2);                                                        \
    break;                                                                                         \
  }
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  switch (r->in[0].dtype) {
    TFSDK_EW_FLOATS(SUM_CASE_, )
  default: return tfsdk_ew_no_type(r);
  }
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, v_mul(c, tfsdk_input(g, 0), tfsdk_dy(g, 0)));
}

static const tfsdk_arg in[] = {{"t", "T", "any shape", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "a scalar", 0, 0}};
static const char *const samples[] = {"T[2,3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("L2Loss", "half the sum of squares"), .in = in, .n_in = 1, .out = out,
     .n_out = 1, TFSDK_EW_T(TFSDK_T_FLOATS), .infer = tfsdk_infer_scalar,
     .doc = "output = sum(t^2) / 2 over all elements: no square root, and half, as is usual for "
            "weight "
            "decay, whose gradient then is t itself.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
};
TFSDK_UNIT_OPS(l2_loss, ops);
