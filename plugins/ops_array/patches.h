/* patches.h - what ExtractImagePatches (2 axes) and ExtractVolumePatches (3 axes) share.
 *
 * x is [batch, spatial..., channels]; the result is [batch, windows..., patch * channels]: the
 * window's elements row by row, channels last, zeros where it hangs over the border. */
#ifndef OPS_ARRAY_PATCHES_H
#define OPS_ARRAY_PATCHES_H

#include "accumulate.h"

/* m: the number of spatial axes. The attributes are ksizes, strides, rates (none: 1) and padding.
 */
tfsdk_status *array_patches_infer(tfsdk_infer *c, int32_t m);
tfsdk_status *array_patches_run(tfsdk_run *r, int32_t m);
tfsdk_status *array_patches_grad(tfsdk_ctx *c, tfsdk_gradcall *g, const char *backward);
/* The backward op: (x for its shape only, dy). */
tfsdk_status *array_patches_infer_back(tfsdk_infer *c, int32_t m);
tfsdk_status *array_patches_run_back(tfsdk_run *r, int32_t m);
tfsdk_status *array_patches_grad_back(tfsdk_ctx *c, tfsdk_gradcall *g, const char *forward);

#endif
