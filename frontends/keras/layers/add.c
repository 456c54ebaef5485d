/* add: the sum of its inputs, element by element. */
#include "merge.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  return merge_fold(c, "AddV2", in, n_in, &out[0]);
}

MERGE_LAYERS(add, "The sum of all inputs.");
TFSDK_UNIT_LAYERS(add, layers);
