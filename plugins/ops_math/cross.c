/* Cross: the vector product of vectors of three elements, the last axis. da = b x dz, db = dz x a.
 */
#include <tfsdk/elementwise.h>
#include "calc.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s = tfsdk_shape_unknown();
  TFSDK_TRY(tfsdk_merge(c, &c->in[0].shape, &c->in[1].shape, "a and b", &s));
  TFSDK_REQUIRE(c, s.rank != 0 && (s.rank < 0 || s.dim[s.rank - 1] < 0 || s.dim[s.rank - 1] == 3),
                "the last axis must have extent 3, but the shape is %s", tfsdk_shape_text(&s).s);
  c->out[0].shape = s;
  return NULL;
}

#define CROSS_CASE_(id, S, C, LOAD, STORE, ...)                                                    \
  case TFSDK_##id: {                                                                               \
    for (int64_t i = 0; i < r->out[0].n_elem; i += 3) {                                            \
      const S *a = (const S *)r->in[0].data + i, *b = (const S *)r->in[1].data + i;                \
      S *z = (S *)r->out[0].data + i;                                                              \
      const C a0 = LOAD(C, a[0]), a1 = LOAD(C, a[1]), a2 = LOAD(C, a[2]);                          \
      const C b0 = LOAD(C, b[0]), b1 = LOAD(C, b[1]), b2 = LOAD(C, b[2]);                          \
      z[0] = STORE(S, a1 * b2 - a2 * b1);                                                          \
      z[1] = STORE(S, a2 * b0 - a0 * b2);                                                          \
      z[2] = STORE(S, a0 * b1 - a1 * b0);                                                          \
    }                                                                                              \
    break;                                                                                         \
  }
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  switch (r->in[0].dtype) {
    TFSDK_EW_NUMBERS_WRAP(CROSS_CASE_, )
  default: return tfsdk_ew_no_type(r);
  }
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val a = tfsdk_input(g, 0), b = tfsdk_input(g, 1), dz = tfsdk_dy(g, 0);
  TFSDK_TRY(tfsdk_set_dx(g, 0, tfsdk_emit2(c, "Cross", b, dz)));
  return tfsdk_set_dx(g, 1, tfsdk_emit2(c, "Cross", dz, a));
}

static const tfsdk_arg in[] = {{"a", "T", "the last axis has extent 3", 0, 0},
                               {"b", "T", "of a's shape", 0, 0}};
static const tfsdk_arg out[] = {{"product", "T", "of their shape", 0, 0}};
static const char *const samples[] = {"T[2,3] ; T[2,3]", "T[3] ; T[3]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Cross", "vector product in three dimensions"), .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), TFSDK_EW_T(TFSDK_T_NUMBERS),
     .infer = infer, .doc = "product = a x b for each pair of vectors along the last axis.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples},
};
TFSDK_UNIT_OPS(cross, ops);
