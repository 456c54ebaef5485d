/* maximum: the largest of its inputs, element by element. */
#include "merge.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return merge_fold(c, "Maximum", in, n_in, &out[0]);
}

MERGE_LAYERS(
    maximum,
    "The largest of all inputs, element by element; the gradient of a tie is the first one's.");
TFSDK_UNIT_LAYERS(maximum, layers);
