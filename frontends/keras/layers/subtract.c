/* subtract: the difference of two inputs. */
#include "merge.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  TFSDK_REQUIRE(c, n_in == 2, "it takes exactly 2 inputs, got %zu", n_in);
  return merge_fold(c, "Sub", in, n_in, &out[0]);
}

MERGE_LAYERS(subtract, "The first input less the second.");
TFSDK_UNIT_LAYERS(subtract, layers);
