/* zero_padding3d: zeros on both sides of 3 axes. */
#include "border.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return border_add(c, cfg, 3, in[0], &out[0]);
}

BORDER_LAYERS(zero_padding3d, "padding", "[1]", "Adds zeros on both sides of each axis.");
TFSDK_UNIT_LAYERS(zero_padding3d, layers);
