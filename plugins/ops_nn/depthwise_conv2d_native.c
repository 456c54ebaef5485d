/* DepthwiseConv2dNative: each input channel convolved on its own,
 *     y[n, i, j, c M + m] = sum over a, b of x[n, i s - p + a d, j s - p + b d, c] * f[a, b, c, m],
 * and its two adjoints: the grouped convolution with one input channel in each group. */
#include <tfsdk/unit.h>
#include "conv.h"

static const nn_conv family = {"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
                               "DepthwiseConv2dNativeBackpropFilter", 2, 1};

static tfsdk_status *infer(tfsdk_infer *c) { return nn_conv_infer(&family, c); }
static tfsdk_status *infer_input(tfsdk_infer *c) { return nn_conv_infer_input_grad(&family, c); }
static tfsdk_status *infer_filter(tfsdk_infer *c) { return nn_conv_infer_filter_grad(&family, c); }

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return nn_conv_compute(&family, r);
}
static tfsdk_status *compute_input(void *state, tfsdk_run *r) {
  (void)state;
  return nn_conv_compute_input_grad(&family, r);
}
static tfsdk_status *compute_filter(void *state, tfsdk_run *r) {
  (void)state;
  return nn_conv_compute_filter_grad(&family, r);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) { return nn_conv_grad(&family, c, g); }
static tfsdk_status *grad_input(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return nn_conv_grad_input_grad(&family, c, g);
}
static tfsdk_status *grad_filter(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return nn_conv_grad_filter_grad(&family, c, g);
}

static const tfsdk_arg in[] = {
    {"input", "T", "images [batch, height, width, channels], or [batch, channels, height, width]",
     0, 0},
    {"filter", "T", "[height, width, channels, multiplier]", 0, 0}};
static const tfsdk_arg in_input[] = {
    {"input_sizes", "int32", "the shape of the images: 4 extents",
     TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0},
    {"filter", "T", "[height, width, channels, multiplier]", 0, 0},
    {"out_backprop", "T", "the gradient of the convolution's output", 0, 0}};
static const tfsdk_arg in_filter[] = {
    {"input", "T", "images [batch, height, width, channels], or [batch, channels, height, width]",
     0, 0},
    {"filter_sizes", "int32", "the shape of the filter: 4 extents",
     TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0},
    {"out_backprop", "T", "the gradient of the convolution's output", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "images", 0, 0}};

static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the elements' type", 0, 0},
    {"strides", "list(int)", NULL,
     "4 steps of the window in the order of data_format; 1 for batch and channels", 0, 0},
    {"padding", "string{SAME,VALID,EXPLICIT}", NULL,
     "SAME: ceil(extent / stride) outputs, the odd pixel of padding at the end; VALID: none; "
     "EXPLICIT: as "
     "`explicit_paddings` says",
     0, 0},
    {"explicit_paddings", "list(int)", "[]",
     "with EXPLICIT: 8 numbers, before and after of each axis of data_format", 0, 0},
    {"data_format", "string{NHWC,NCHW}", "NHWC", "the order of the images' axes", 0, 0},
    {"dilations", "list(int)", "[1,1,1,1]", "4 distances of the filter's taps, as `strides`", 0,
     0}};

static const char *const samples[] = {
    "T[2,4,5,2] ; T[3,2,2,2] | strides=[1,1,1,1] ; padding=SAME",
    "T[1,6,5,3] ; T[3,3,3,1] | strides=[1,2,1,1] ; padding=SAME",
    "T[1,5,5,2] ; T[2,3,2,3] | strides=[1,1,1,1] ; padding=VALID",
    "T[1,4,4,2] ; T[3,3,2,1] | strides=[1,1,1,1] ; padding=EXPLICIT ; "
    "explicit_paddings=[0,0,1,2,0,1,0,0]",
    "T[1,3,4,5] ; T[3,3,3,2] | strides=[1,1,2,2] ; padding=SAME ; data_format=NCHW",
    "T[1,6,6,2] ; T[3,3,2,2] | strides=[1,1,1,1] ; padding=SAME ; dilations=[1,2,2,1]",
    "T[0,4,4,2] ; T[3,3,2,1] | strides=[1,1,1,1] ; padding=SAME",
    NULL};
static const char *const samples_input[] = {
    "int32{1,5,4,2} ; T[3,3,2,2] ; T[1,3,2,4] | strides=[1,2,2,1] ; padding=SAME",
    "int32{1,2,6,4} ; T[4,3,2,1] ; T[1,2,3,2] | strides=[1,1,1,1] ; padding=VALID ; "
    "data_format=NCHW",
    NULL};
static const char *const samples_filter[] = {
    "T[1,5,4,2] ; int32{3,3,2,2} ; T[1,3,2,4] | strides=[1,2,2,1] ; padding=SAME",
    "T[1,2,6,4] ; int32{4,3,2,1} ; T[1,2,3,2] | strides=[1,1,1,1] ; padding=VALID ; "
    "data_format=NCHW",
    NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("DepthwiseConv2dNative", "convolution of each channel on its own"),
     .doc = "`output[n, i, j, c * multiplier + m]` is the convolution of input channel `c` with "
            "`filter[..., c, m]`. Padding, strides and dilations as in Conv2D.",
     .in = in, .n_in = TFSDK_COUNT(in), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 3,
     .samples = samples},
    {TFSDK_OP_HEAD("DepthwiseConv2dNativeBackpropInput",
                   "the gradient of DepthwiseConv2dNative with respect to its input"),
     .doc = "The adjoint of DepthwiseConv2dNative for a fixed filter; `input_sizes` is the shape "
            "of the images.",
     .in = in_input, .n_in = TFSDK_COUNT(in_input), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .const_in = 1, .infer = infer_input, .reference = compute_input,
     .grad = grad_input, .grad_in = 6, .samples = samples_input},
    {TFSDK_OP_HEAD("DepthwiseConv2dNativeBackpropFilter",
                   "the gradient of DepthwiseConv2dNative with respect to its filter"),
     .doc = "The adjoint of DepthwiseConv2dNative for fixed images; `filter_sizes` is the shape of "
            "the filter.",
     .in = in_filter, .n_in = TFSDK_COUNT(in_filter), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .const_in = 2, .infer = infer_filter, .reference = compute_filter,
     .grad = grad_filter, .grad_in = 5, .samples = samples_filter}};
TFSDK_UNIT_OPS(depthwise_conv2d_native, ops);
