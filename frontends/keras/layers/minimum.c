/* minimum: the least of its inputs, element by element. */
#include "merge.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return merge_fold(c, "Minimum", in, n_in, &out[0]);
}

MERGE_LAYERS(
    minimum,
    "The least of all inputs, element by element; the gradient of a tie is the first one's.");
TFSDK_UNIT_LAYERS(minimum, layers);
