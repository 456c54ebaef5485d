/* average: the mean of its inputs, element by element. */
#include "merge.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  TFSDK_TRY(merge_fold(c, "AddV2", in, n_in, &out[0]));
  if (n_in > 1)
    out[0] = tfsdk_emit2(c, "RealDiv", out[0], tfsdk_scalar_like(c, out[0], (double)n_in));
  return tfsdk_ctx_error(c);
}

MERGE_LAYERS(average, "The mean of all inputs, element by element.");
TFSDK_UNIT_LAYERS(average, layers);
