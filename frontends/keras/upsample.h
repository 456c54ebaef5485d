/* Images of another size, by repetition or interpolation. */
#ifndef TFSDK_KERAS_UPSAMPLE_H
#define TFSDK_KERAS_UPSAMPLE_H

#include "keras.h"

tfsdk_status *upsample_repeat(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                              tfsdk_val *out);
/* Images, by the parameter `interpolation`. */
tfsdk_status *upsample_smooth(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val x, tfsdk_val *out);
/* Images to `height` rows and `width` columns. */
tfsdk_status *upsample_to(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val x, tfsdk_val *out);

#define UPSAMPLE_SIZE                                                                              \
  { "size", "list(int)", "[2]", "how often each element comes: one number, or one per axis", 0, 0 }

#endif
