/* A third party's op, whole: y = x * sigmoid(beta * x), with shape rule, kernel, gradient and
 * samples. `make` builds hello-op.so against the installed SDK; `tfsdk run use.lua` loads it. */
#include <math.h>
#include <tfsdk/unit.h>

static tfsdk_status *infer(tfsdk_infer *c) {
  c->out[0].shape = c->in[0].shape;
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const float beta = (float)tfsdk_attr_float(&r->attr, "beta");
  const float *x = (const float *)r->in[0].data;
  float *y = (float *)r->out[0].data;
  (void)state;
  for (int64_t i = 0; i < r->out[0].n_elem; i++) y[i] = x[i] / (1.0f + expf(-beta * x[i]));
  return NULL;
}

/* With s = sigmoid(beta x): dy/dx = s + beta x s (1 - s). It emits ops, so it works in graphs, on
 * tapes, and has a gradient itself. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), one = tfsdk_scalar_like(c, x, 1);
  tfsdk_val bx =
      tfsdk_emit2(c, "Mul", tfsdk_scalar_like(c, x, tfsdk_attr_float(&g->attr, "beta")), x);
  tfsdk_val s = tfsdk_emit1(c, "Sigmoid", bx);
  tfsdk_val rest =
      tfsdk_emit2(c, "Mul", bx, tfsdk_emit2(c, "Mul", s, tfsdk_emit2(c, "Sub", one, s)));
  return tfsdk_set_dx(g, 0,
                      tfsdk_emit2(c, "Mul", tfsdk_dy(g, 0), tfsdk_emit2(c, "AddV2", s, rest)));
}

static const tfsdk_arg in[] = {{"x", "float32", "any shape", 0, 0}};
static const tfsdk_arg out[] = {{"y", "float32", "x * sigmoid(beta * x), of x's shape", 0, 0}};
static const tfsdk_attrdef attr[] = {{"beta", "float", "1", "how sharp the gate is", 0, 0}};
static const char *const samples[] = {"float32[2,3]", "float32[0]", "float32[5] | beta=1.5", NULL};
static const tfsdk_opdef op = {
    TFSDK_OP_HEAD("hello.Swish", "x * sigmoid(beta * x)"),
    .doc = "Ramachandran, Zoph, Le: \"Searching for activation functions\", 2017.",
    .in = in,
    .n_in = 1,
    .out = out,
    .n_out = 1,
    .attr = attr,
    .n_attr = 1,
    .infer = infer,
    .reference = compute,
    .grad = grad,
    .grad_in = 1,
    .samples = samples};

static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {
  (void)self;
  return r->op(r, &op);
}
static const tfsdk_plugin manifest = {TFSDK_PLUGIN_HEAD(TFSDK_KIND_OP), .name = "hello-op",
                                      .version = "1.0", .summary = "an op of a third party",
                                      .enroll = enroll};
TFSDK_PLUGIN_ENTRY(hello_op, &manifest)
