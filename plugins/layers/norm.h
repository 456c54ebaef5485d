/* What the normalisations share. 16-bit inputs are normalised in float32, and so are their weights.
 */
#ifndef TFSDK_LAYERS_NORM_H
#define TFSDK_LAYERS_NORM_H

#include "layers.h"

static inline int32_t norm_dtype(int32_t dtype) {
  return dtype == TFSDK_FLOAT16 || dtype == TFSDK_BFLOAT16 ? TFSDK_FLOAT32 : dtype;
}
tfsdk_val norm_wide(tfsdk_ctx *c, tfsdk_val x, int32_t dtype);
tfsdk_val norm_narrow(tfsdk_ctx *c, tfsdk_val y, int32_t dtype);
/* A list of axes, negative ones counted from the end, in rising order. */
tfsdk_status *norm_axes(tfsdk_ctx *c, const tfsdk_attrs *cfg, const char *name,
                        const tfsdk_typed_shape *x, int64_t *out, uint32_t *out_n);
/* (x - mean) / sqrt(variance + epsilon) */
tfsdk_val norm_apply(tfsdk_ctx *c, tfsdk_val x, tfsdk_val mean, tfsdk_val variance, double epsilon);
/* Gamma and beta along those axes, as `scale` and `center` say. */
tfsdk_status *norm_scale_shift(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_typed_shape *x,
                               const int64_t *axes, uint32_t n, tfsdk_val *io_y);

#endif
