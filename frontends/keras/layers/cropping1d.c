/* cropping1d: takes the outermost elements of the steps away. */
#include "border.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return border_cut(c, cfg, 1, in[0], &out[0]);
}

BORDER_LAYERS(cropping1d, "cropping", "[1]", "Takes elements on both sides of the steps away.");
TFSDK_UNIT_LAYERS(cropping1d, layers);
