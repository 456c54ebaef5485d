/* AdjustSaturation: multiplies the saturation of all colours by `scale`, 1 at most (color.h). */
#include "color.h"

static void stronger(const double a[3], const double *b, double amount, double y[3]) {
  double hsv[3], s;
  (void)b;
  color_to_hsv(a, hsv);
  s = hsv[1] * amount;
  hsv[1] = s < 0 ? 0 : s > 1 ? 1 : s;
  color_to_rgb(hsv, y);
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return color_run(r, &r->in[0], NULL, (double)((const float *)r->in[1].data)[0], stronger);
}
static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s;
  TFSDK_TRY(tfsdk_with_rank(c, 1, 0, &s));
  return color_infer_at(c, 0);
}
/* Back through hue, saturation and value; where the saturation was cut off at 1 nothing flows through it. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), hsv = tfsdk_emit1(c, "RGBToHSV", x);
  tfsdk_attrval to = tfsdk_a_dtype("DstT", tfsdk_type(c, x).dtype), n = tfsdk_a_int("N", 3);
  tfsdk_val scale = tfsdk_input(g, 1), one = tfsdk_scalar_like(c, x, 1), zero, scaled, d;
  scale = tfsdk_emit(c, "Cast", &scale, 1, &to, 1);
  tfsdk_val list[3] = {one, scale, one};
  tfsdk_val factors = tfsdk_emit(c, "Pack", list, 3, &n, 1);
  zero = tfsdk_emit1(c, "ZerosLike", hsv);
  scaled = tfsdk_emit2(c, "Mul", hsv, factors);
  d = tfsdk_emit3(c, "ClipByValue", scaled, tfsdk_scalar_like(c, x, 0), one);
  d = tfsdk_emit2(c, "HSVToRGBGrad", tfsdk_dy(g, 0), d);
  d = tfsdk_emit2(c, "Mul", d, factors);
  d = tfsdk_emit3(c, "SelectV2", tfsdk_emit2(c, "Greater", scaled, one), zero, d);
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "RGBToHSVGrad", d, x));
}

static const tfsdk_arg in[] = {{"images", "T", "[..., 3]: red, green, blue in 0..1", 0, 0},
                               {"scale", "float32", "scalar: the factor; 0 leaves grey",
                                TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {{"output", "T", "of the images' shape", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", TFSDK_T_FLOATS, NULL, "type of the images", 0, 0}};
static const char *const samples[] = {"T[2,3,3](0.1,0.9) ; float32(0.5)",
                                      "T[2,3](0.1,0.9) ; float32(1.1)", "float32[0,3] ; float32(2)",
                                      NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("AdjustSaturation", "makes colours stronger or weaker"), .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer,
     .doc = "HSVToRGB of RGBToHSV with the saturation multiplied by `scale` and kept in 0..1. No "
            "gradient "
            "flows to scale.\n\nSource: TensorFlow `AdjustSaturation`.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples}};
TFSDK_UNIT_OPS(adjust_saturation, ops);
