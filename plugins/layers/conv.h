/* Convolutions over one to three axes. A single axis is the width of an image of height 1. */
#ifndef TFSDK_LAYERS_CONV_H
#define TFSDK_LAYERS_CONV_H

#include "layers.h"

/* Axes of the windows as the ops want them: batch and channels are 1. */
typedef struct conv_window {
  uint32_t n, axes; /* the layer's; the op's: 2 for one */
  int first;
  int64_t kernel[3], stride[3], rate[3];
  tfsdk_attrval attr[5];
  uint32_t n_attr;
  int64_t strides[5], dilations[5], explicit_paddings[8];
} conv_window;

/* Reads kernel_size, strides, dilation_rate, padding, data_format. */
tfsdk_status *conv_window_read(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, conv_window *out);
/* The input (or the kernel: axis 0) of a layer of one axis as an image, and back. */
tfsdk_val conv_widen(tfsdk_ctx *c, const conv_window *w, tfsdk_val x);
tfsdk_val conv_narrow(tfsdk_ctx *c, const conv_window *w, tfsdk_val y);
const char *conv_axes_text(uint32_t n, int first);
tfsdk_status *conv_build(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                         tfsdk_val *out);

#define CONV_FILTERS                                                                               \
  { "filters", "int", NULL, "the number of output channels", 1, 2147483647.0 }
#define CONV_KERNEL                                                                                \
  { "kernel_size", "list(int)", NULL, "the window: one number, or one per axis", 0, 0 }
#define CONV_STRIDES                                                                               \
  { "strides", "list(int)", "[1]", "its steps: one number, or one per axis", 0, 0 }
#define CONV_RATE                                                                                  \
  { "dilation_rate", "list(int)", "[1]", "the distance of its taps", 0, 0 }
#define CONV_GROUPS                                                                                \
  { "groups", "int", "1", "parts of the channels that do not see each other", 1, 2147483647.0 }

#endif
