/* adaptive_max_pooling3d: the maximum of as many windows as the output has places. */
#include "pool.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return pool_adaptive(c, cfg, 3, "Max", in[0], &out[0]);
}

POOL_ADAPTIVE_LAYERS(adaptive_max_pooling3d,
                     "The maximum of `output_size` windows, which cover depth, rows and columns.");
TFSDK_UNIT_LAYERS(adaptive_max_pooling3d, layers);
