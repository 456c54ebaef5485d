/* conv.h - what the convolution ops share: the three plain kernels, the rules and the gradients.
 *
 * Conv2D, Conv3D and DepthwiseConv2dNative are one map  y = C(x, f),  linear in both arguments,
 * under three readings of the shapes (tfsdk/window.h). Its two adjoints are the Backprop ops.
 * All three are linear maps of each other's arguments, so gradients of any order are made of
 * these three ops again. */
#ifndef NN_CONV_H
#define NN_CONV_H

#include <tfsdk/emit.h>
#include <tfsdk/window.h>

/* A family: the names of its ops, and how shapes are read. */
typedef struct nn_conv {
  const char *forward, *input_grad, *filter_grad;
  int32_t n_axes, depthwise;
} nn_conv;

tfsdk_status *nn_conv_geometry(const nn_conv *f, const tfsdk_host *host, const tfsdk_attrs *attr,
                               const tfsdk_shape *x, const tfsdk_shape *filter, tfsdk_geometry *g);

/* Shape rules. Arguments: (input, filter), (input_sizes, filter, dy), (input, filter_sizes, dy). */
tfsdk_status *nn_conv_infer(const nn_conv *f, tfsdk_infer *c);
tfsdk_status *nn_conv_infer_input_grad(const nn_conv *f, tfsdk_infer *c);
tfsdk_status *nn_conv_infer_filter_grad(const nn_conv *f, tfsdk_infer *c);

/* Kernels, for floating types and int32. An empty output's gradients are zeros. */
tfsdk_status *nn_conv_compute(const nn_conv *f, tfsdk_run *r);
tfsdk_status *nn_conv_compute_input_grad(const nn_conv *f, tfsdk_run *r);
tfsdk_status *nn_conv_compute_filter_grad(const nn_conv *f, tfsdk_run *r);

/* Gradients; the forward op reads both inputs, the others inputs 1, 2 and 0, 2. */
tfsdk_status *nn_conv_grad(const nn_conv *f, tfsdk_ctx *c, tfsdk_gradcall *g);
tfsdk_status *nn_conv_grad_input_grad(const nn_conv *f, tfsdk_ctx *c, tfsdk_gradcall *g);
tfsdk_status *nn_conv_grad_filter_grad(const nn_conv *f, tfsdk_ctx *c, tfsdk_gradcall *g);

#endif
