/* AdjustHue: turns all colours round the colour circle by `delta` (color.h). */
#include "color.h"

static void turned(const double a[3], const double *b, double amount, double y[3]) {
  double hsv[3];
  (void)b;
  color_to_hsv(a, hsv);
  hsv[0] += amount;
  hsv[0] -= floor(hsv[0]);
  color_to_rgb(hsv, y);
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return color_run(r, &r->in[0], NULL, (double)((const float *)r->in[1].data)[0], turned);
}
static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s;
  TFSDK_TRY(tfsdk_with_rank(c, 1, 0, &s));
  return color_infer_at(c, 0);
}
/* Back through hue, saturation and value. */
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  tfsdk_val x = tfsdk_input(g, 0), hsv = tfsdk_emit1(c, "RGBToHSV", x);
  tfsdk_attrval to = tfsdk_a_dtype("DstT", tfsdk_type(c, x).dtype);
  tfsdk_val delta = tfsdk_input(g, 1), shift, d;
  delta = tfsdk_emit(c, "Cast", &delta, 1, &to, 1);
  d = tfsdk_scalar_like(c, x, 0);
  {
    tfsdk_val list[3] = {delta, d, d};
    tfsdk_attrval n = tfsdk_a_int("N", 3);
    shift = tfsdk_emit(c, "Pack", list, 3, &n, 1);
  }
  d = tfsdk_emit2(c, "AddV2", hsv, shift);
  d = tfsdk_emit2(c, "Sub", d, tfsdk_emit1(c, "Floor", d));
  d = tfsdk_emit2(c, "HSVToRGBGrad", tfsdk_dy(g, 0), d);
  return tfsdk_set_dx(g, 0, tfsdk_emit2(c, "RGBToHSVGrad", d, x));
}

static const tfsdk_arg in[] = {{"images", "T", "[..., 3]: red, green, blue in 0..1", 0, 0},
                               {"delta", "float32", "scalar: how far to turn, 1 is once round",
                                TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {{"output", "T", "of the images' shape", 0, 0}};
static const tfsdk_attrdef attr[] = {{"T", TFSDK_T_FLOATS, NULL, "type of the images", 0, 0}};
static const char *const samples[] = {"T[2,3,3](0.1,0.9) ; float32(0.15)",
                                      "T[2,3](0.1,0.9) ; float32(-0.3)",
                                      "float32[0,3] ; float32(0.1)", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("AdjustHue", "turns colours round the colour circle"), .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer,
     .doc = "HSVToRGB of RGBToHSV with `delta` added to the hue. No gradient flows to delta.\n\n"
            "Source: TensorFlow `AdjustHue`.",
     .reference = compute, .grad = grad, .grad_in = 3, .samples = samples}};
TFSDK_UNIT_OPS(adjust_hue, ops);
