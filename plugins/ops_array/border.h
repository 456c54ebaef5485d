/* border.h - what Pad and PadV2 share. */
#ifndef OPS_ARRAY_BORDER_H
#define OPS_ARRAY_BORDER_H

#include "array.h"

/* paddings (input 1) is a [rank, 2] matrix; output 0 has the padded shape. */
tfsdk_status *array_pad_infer(tfsdk_infer *c);
/* `value` holds the one element that fills the border; NULL: zeros. */
tfsdk_status *array_pad_compute(tfsdk_run *r, const tfsdk_view *value);
/* dx = the middle of dy. */
tfsdk_status *array_pad_grad(tfsdk_ctx *c, tfsdk_gradcall *g);

#endif
