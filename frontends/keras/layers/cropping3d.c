/* cropping3d: takes the outermost elements of 3 axes away. */
#include "border.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return border_cut(c, cfg, 3, in[0], &out[0]);
}

BORDER_LAYERS(cropping3d, "cropping", "[1]", "Takes elements on both sides of each axis away.");
TFSDK_UNIT_LAYERS(cropping3d, layers);
