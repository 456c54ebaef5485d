/* RGBToHSV: colours as hue, saturation and value (color.h), and its gradient. */
#include "color.h"

static void forward(const double a[3], const double *b, double amount, double y[3]) {
  (void)b;
  (void)amount;
  color_to_hsv(a, y);
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return color_run(r, &r->in[0], NULL, 0, forward);
}
static void backward(const double a[3], const double *b, double amount, double y[3]) {
  (void)amount;
  color_to_hsv_grad(b, a, y);
}
static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  (void)state;
  return color_run(r, &r->in[0], &r->in[1], 0, backward);
}
static tfsdk_status *infer_grad(tfsdk_infer *c) {
  TFSDK_TRY(color_infer_at(c, 0));
  return tfsdk_merge(c, &c->in[0].shape, &c->in[1].shape, "'grads' and 'images'", &c->out[0].shape);
}
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "RGBToHSVGrad", tfsdk_dy(g, 0), tfsdk_input(g, 0)));
}

static const tfsdk_arg in[] = {{"images", "T", "[..., 3]: red, green, blue in 0..1", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "[..., 3]: hue, saturation, value in 0..1", 0, 0}};
static const tfsdk_arg grad_in[] = {{"grads", "T", "the gradient of the output", 0, 0},
                                    {"images", "T", "the input of RGBToHSV", 0, 0}};
static const tfsdk_arg grad_out[] = {{"output", "T", "the gradient of the images", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", TFSDK_T_FLOATS, NULL, "type of the numbers", 0, 0}};
static const char *const samples[] = {"T[2,3,3](0.1,0.9)", "float32[0,3]", NULL};
static const char *const grad_samples[] = {"T[2,3,3] ; T[2,3,3](0.1,0.9)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("RGBToHSV", "colours as hue, saturation and value"), .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = color_infer,
     .doc = "Value is the largest channel, saturation the difference of largest and smallest "
            "divided by it, hue the place "
            "on the colour circle: red 0, green 1/3, blue 2/3. Grey has the hue 0, black the "
            "saturation "
            "0.\n\nSource: TensorFlow `RGBToHSV`.",
     .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
    {TFSDK_OP_HEAD("RGBToHSVGrad", "the gradient of RGBToHSV"), .in = grad_in,
     .n_in = TFSDK_COUNT(grad_in), .out = grad_out, .n_out = TFSDK_COUNT(grad_out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer_grad,
     .doc = "Where channels are equal, the first of them counts as the largest and the smallest.",
     .reference = compute_grad, .no_grad_reason = "second derivatives of colours are not there",
     .samples = grad_samples},
};
TFSDK_UNIT_OPS(rgb_to_hsv, ops);
