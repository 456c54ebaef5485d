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

static const tfsdk_arg in[] = {{"images", "T", "[..., 3]: red, green, blue in 0..1", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "[..., 3]: hue, saturation, value in 0..1", 0, 0}};
COLOR_OPS("RGBToHSV", "colours as hue, saturation and value",
          "Value is the largest channel, saturation the difference of largest and smallest divided "
          "by it, hue the place on the colour circle: red 0, green 1/3, blue 2/3. Grey has the "
          "hue 0, black the saturation 0.",
          "Where channels are equal, the first of them counts as the largest and the smallest.");
TFSDK_UNIT_OPS(rgb_to_hsv, ops);
