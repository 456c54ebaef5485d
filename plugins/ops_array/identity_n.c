/* IdentityN: each output is the input of the same position. */
#include "array.h"

static tfsdk_status *infer(tfsdk_infer *c) {
  for (uint32_t i = 0; i < c->n_in; i++) c->out[i].shape = c->in[i].shape;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  for (uint32_t i = 0; i < r->n_in; i++) TFSDK_TRY(r->api->forward(r, i, i));
  return NULL;
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  for (uint32_t i = 0; i < g->n_in; i++)
    if (tfsdk_has_dy(g, i)) TFSDK_TRY(tfsdk_set_dx(g, i, tfsdk_dy(g, i)));
  return NULL;
}

/* A plan needs no node for it. */
static tfsdk_status *rewrite(tfsdk_ctx *c, tfsdk_rewriting *w) {
  (void)c;
  for (uint32_t i = 0; i < w->n_in; i++) TFSDK_TRY(tfsdk_set_rewritten(w, i, w->in[i]));
  return NULL;
}

static const tfsdk_arg in[] = {{"input", "list:T", "tensors of any types", 0, 0}};
static const tfsdk_arg out[] = {{"output", "list:T", "the same tensors", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", "list(dtype)", NULL, "their types", 0, 0}};
static const char *const samples[] = {"[float32[2,3] ; int32[2]]", "[float64[]]", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("IdentityN", "its inputs"),
     .doc = "Nothing is copied. All outputs are there once all inputs are.\n\n"
            "Source: TensorFlow `IdentityN`.",
     ARRAY_SCHEMA(in, out, attr), .flags = TFSDK_OP_ANY_DEVICE | TFSDK_OP_OWN_OUTPUTS,
     .infer = infer, .reference = compute, .grad = grad, .samples = samples, .rewrite = rewrite}};
TFSDK_UNIT_OPS(identity_n, ops);
