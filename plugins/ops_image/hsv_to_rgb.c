/* HSVToRGB: colours of a hue, a saturation and a value (color.h), and its gradient. */
#include "color.h"

static void forward(const double a[3], const double *b, double amount, double y[3]) {
  (void)b;
  (void)amount;
  color_to_rgb(a, y);
}
static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return color_run(r, &r->in[0], NULL, 0, forward);
}
static void backward(const double a[3], const double *b, double amount, double y[3]) {
  (void)amount;
  color_to_rgb_grad(b, a, y);
}
static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  (void)state;
  return color_run(r, &r->in[0], &r->in[1], 0, backward);
}

static const tfsdk_arg in[] = {{"images", "T", "[..., 3]: hue, saturation, value in 0..1", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "[..., 3]: red, green, blue in 0..1", 0, 0}};
COLOR_OPS("HSVToRGB", "colours of hue, saturation and value",
          "Each channel is `value (1 - saturation + saturation w)`, where w is 1 in the third of "
          "the colour circle round the channel's own hue and falls to 0 in a sixth on both sides. "
          "The inverse of RGBToHSV.",
          "The slopes at the corners of the colour circle are taken as 0.");
TFSDK_UNIT_OPS(hsv_to_rgb, ops);
