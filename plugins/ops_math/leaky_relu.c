/* LeakyRelu: y = x for x > 0, else alpha x. dx = dy for x > 0, else alpha dy: at 0 it is alpha.
 * alpha counts as a float32, also for float64 tensors: TensorFlow keeps attributes so. */
#include <tfsdk/elementwise.h>
#include "calc.h"

TFSDK_UNARY_WITH(compute, TFSDK_EW_FLOATS,
                 const float alpha = (float)tfsdk_attr_float(&r->attr, "alpha"),
                 x > 0 ? x : (T)alpha * x)
/* a: gradients, b: features */
TFSDK_BINARY_WITH(compute_grad, TFSDK_EW_FLOATS,
                  const float alpha = (float)tfsdk_attr_float(&r->attr, "alpha"),
                  b > 0 ? a : (T)alpha * a)

static tfsdk_val emit_grad(tfsdk_ctx *c, tfsdk_gradcall *g, tfsdk_val dy, tfsdk_val x) {
  tfsdk_val in[2];
  tfsdk_attrval alpha = tfsdk_a_float("alpha", tfsdk_attr_float(&g->attr, "alpha"));
  in[0] = dy;
  in[1] = x;
  return tfsdk_emit(c, "LeakyReluGrad", in, 2, &alpha, 1);
}
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, emit_grad(c, g, tfsdk_dy(g, 0), tfsdk_input(g, 0)));
}
/* Linear in gradients, flat in features. */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, emit_grad(c, g, tfsdk_dy(g, 0), tfsdk_input(g, 1)));
}

static const tfsdk_attrdef attr[] = {
    {"alpha", "float", "0.2", "slope for x < 0", 0, 0},
    {"T", TFSDK_T_FLOATS, NULL, "element type", 0, 0},
};
static const char *const samples[] = {"T[2,3](0.1,2)", "T[2,3](-2,-0.1) | alpha=0.01",
                                      "nograd float32{-1,0,1}", NULL};
static const char *const grad_samples[] = {"T[2,3] ; T[2,3](0.1,2)",
                                           "T[2,3] ; T[2,3](-2,-0.1) | alpha=0.3", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("LeakyRelu", "x for x > 0, alpha x below"), TFSDK_EW_ACTIVATION_SCHEMA,
     .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .doc = "y = x for x > 0, else alpha x (Maas, Hannun, Ng: \"Rectifier nonlinearities improve "
            "neural "
            "network acoustic models\", 2013). The derivative at 0 is alpha.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
    {TFSDK_OP_HEAD("LeakyReluGrad", "the gradient of LeakyRelu"),
     TFSDK_EW_GRADIENTS_FEATURES_SCHEMA, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .doc = "backprops = gradients where features > 0, else alpha gradients.",
     .reference = compute_grad, .grad = grad_grad, .grad_in = 2, .samples = grad_samples},
};
TFSDK_UNIT_OPS(leaky_relu, ops);
