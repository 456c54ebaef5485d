/* AddN: the sum of tensors of one shape, added from left to right. */
#include <tfsdk/elementwise.h>
#include <tfsdk/rewrite.h>

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s = c->in[0].shape;
  for (uint32_t i = 1; i < c->n_in; i++)
    TFSDK_TRY(tfsdk_merge(c, &s, &c->in[i].shape, "tensors to add", &s));
  c->out[0].shape = s;
  return NULL;
}

/* The sum of more than two 16-bit floats is rounded once, not at each step. */
#define ADD_CASE_(id, S, C, LOAD, STORE, ...)                                                      \
  case TFSDK_##id: {                                                                               \
    S *y = (S *)r->out[0].data;                                                                    \
    for (int64_t i = 0; i < r->out[0].n_elem; i++) {                                               \
      C s = (C)LOAD(C, ((const S *)r->in[0].data)[i]);                                             \
      for (uint32_t k = 1; k < r->n_in; k++) {                                                     \
        const C v = LOAD(C, ((const S *)r->in[k].data)[i]);                                        \
        s += v;                                                                                    \
      }                                                                                            \
      y[i] = STORE(S, s);                                                                          \
    }                                                                                              \
    break;                                                                                         \
  }
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  if (r->n_in == 1) return r->api->forward(r, 0, 0);
  switch (r->in[0].dtype) {
    TFSDK_EW_NUMBERS_WRAP(ADD_CASE_, )
  default: return tfsdk_ew_no_type(r);
  }
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  for (uint32_t i = 0; i < g->n_in; i++) TFSDK_TRY(tfsdk_set_dx(g, i, tfsdk_dy(g, 0)));
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "N*T", "tensors of one shape", 0, 0}};
static const tfsdk_arg out[] = {{"sum", "T", "of their shape", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"N", "int", NULL, "how many", 1, 1e9},
    {"T", TFSDK_T_NUMBERS, NULL, "element type", 0, 0},
};
static const char *const samples[] = {"[T[2,3] ; T[2,3] ; T[2,3]]", "[T[2,3]]", NULL};
/* One tensor is its own sum; two are added as AddV2 does it. */
static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  if (w->n_in == 1) return tfsdk_set_rewritten(w, 0, w->in[0]);
  if (w->n_in == 2) return tfsdk_set_rewritten(w, 0, tfsdk_emit2(c, "AddV2", w->in[0], w->in[1]));
  return NULL;
}

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("AddN", "sum of tensors of one shape"), .in = in, .n_in = TFSDK_COUNT(in),
     .out = out, .n_out = TFSDK_COUNT(out), .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = infer, .flags = TFSDK_OP_ELEMENTWISE, .may_alias = tfsdk_ew_alias0,
     .doc = "Adds the tensors from left to right. Integers wrap around.", .reference = compute,
     .grad = grad, .rewrite = rewrite, .samples = samples},
};
TFSDK_UNIT_OPS(add_n, ops);
