/* Conv2D: the discrete convolution of neural networks (a cross-correlation) over two axes,
 *     y[n, i, j, o] = sum over a, b, c of x[n, i s - p + a d, j s - p + b d, c] * f[a, b, c, o],
 * and its two adjoints. Padding, strides and groups as TensorFlow defines them (tfsdk/window.h);
 * formulas of the adjoints: Dumoulin and Visin, "A guide to convolution arithmetic for deep
 * learning", 2016. */
#include <tfsdk/unit.h>
#include "conv.h"

static const nn_conv family = {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", 2, 0};

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
    {"input", "T", "images [batch, height, width, in_c], or [batch, in_c, height, width]", 0, 0},
    {"filter", "T", "[height, width, in_c / groups, out_c]", 0, 0}};
static const tfsdk_arg in_input[] = {
    {"input_sizes", "int32", "the shape of the images: 4 extents",
     TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0},
    {"filter", "T", "[height, width, in_c / groups, out_c]", 0, 0},
    {"out_backprop", "T", "the gradient of Conv2D's output", 0, 0}};
static const tfsdk_arg in_filter[] = {
    {"input", "T", "images [batch, height, width, in_c], or [batch, in_c, height, width]", 0, 0},
    {"filter_sizes", "int32", "the shape of the filter: 4 extents",
     TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0},
    {"out_backprop", "T", "the gradient of Conv2D's output", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "images", 0, 0}};

static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64,int32}", NULL, "the elements' type", 0, 0},
    {"strides", "list(int)", NULL,
     "4 steps of the window in the order of data_format; 1 for batch and channels", 0, 0},
    {"use_cudnn_on_gpu", "bool", "true", "accepted for TensorFlow's sake; has no effect", 0, 0},
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
    "T[2,5,4,3] ; T[3,3,3,4] | strides=[1,1,1,1] ; padding=SAME",
    "T[1,6,5,2] ; T[3,2,2,3] | strides=[1,2,2,1] ; padding=SAME",
    "T[1,5,6,2] ; T[3,2,2,3] | strides=[1,1,1,1] ; padding=VALID",
    "T[1,4,5,2] ; T[3,3,2,2] | strides=[1,1,1,1] ; padding=EXPLICIT ; "
    "explicit_paddings=[0,0,1,2,0,1,0,0]",
    "T[1,3,5,4] ; T[3,3,3,2] | strides=[1,1,1,1] ; padding=SAME ; data_format=NCHW",
    "T[1,6,7,2] ; T[3,3,2,2] | strides=[1,1,1,1] ; padding=SAME ; dilations=[1,2,2,1]",
    "T[1,4,5,4] ; T[3,3,2,6] | strides=[1,1,1,1] ; padding=SAME",
    "T[0,4,4,2] ; T[3,3,2,2] | strides=[1,1,1,1] ; padding=SAME",
    "T[1,2,3,2] ; T[3,3,2,2] | strides=[1,1,1,1] ; padding=VALID",
    NULL};
static const char *const samples_input[] = {
    "int32{1,5,4,2} ; T[3,3,2,3] ; T[1,3,2,3] | strides=[1,2,2,1] ; padding=SAME",
    "int32{1,6,4,2} ; T[4,3,2,3] ; T[1,3,2,3] | strides=[1,1,1,1] ; padding=VALID",
    "int32{1,2,5,4} ; T[3,3,2,3] ; T[1,3,5,4] | strides=[1,1,1,1] ; padding=SAME ; "
    "data_format=NCHW",
    "int32{1,4,5,4} ; T[3,3,2,6] ; T[1,4,5,6] | strides=[1,1,1,1] ; padding=SAME", NULL};
static const char *const samples_filter[] = {
    "T[1,5,4,2] ; int32{3,3,2,3} ; T[1,3,2,3] | strides=[1,2,2,1] ; padding=SAME",
    "T[1,6,4,2] ; int32{4,3,2,3} ; T[1,3,2,3] | strides=[1,1,1,1] ; padding=VALID",
    "T[1,2,5,4] ; int32{3,3,2,3} ; T[1,3,5,4] | strides=[1,1,1,1] ; padding=SAME ; "
    "data_format=NCHW",
    "T[1,4,5,4] ; int32{3,3,2,6} ; T[1,4,5,6] | strides=[1,1,1,1] ; padding=SAME", NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Conv2D", "convolution over two axes"),
     .doc = "`output[n, i, j, o] = sum over a, b, c of input[n, i * stride - before + a * "
            "dilation, ..., c] * filter[a, b, c, o]`; outside of the image there are zeros.\n\n"
            "The padding is that of TensorFlow: with SAME an axis has ceil(extent / stride) "
            "outputs and the odd pixel of padding goes to the end. If the filter has fewer input "
            "channels than the images, their quotient is the number of groups: output channels are "
            "cut into so many parts, and each sees its own part of the input channels. Channels "
            "that do not divide are an error.",
     .in = in, .n_in = TFSDK_COUNT(in), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 3,
     .samples = samples},
    {TFSDK_OP_HEAD("Conv2DBackpropInput", "the gradient of Conv2D with respect to its input"),
     .doc = "The transposed convolution: the adjoint of Conv2D for a fixed filter. `input_sizes` "
            "chooses between the sizes that Conv2D maps to the extents of `out_backprop`; any "
            "other size is an error.",
     .in = in_input, .n_in = TFSDK_COUNT(in_input), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .const_in = 1, .infer = infer_input, .reference = compute_input,
     .grad = grad_input, .grad_in = 6, .samples = samples_input},
    {TFSDK_OP_HEAD("Conv2DBackpropFilter", "the gradient of Conv2D with respect to its filter"),
     .doc = "The adjoint of Conv2D for fixed images: `output[a, b, c, o]` sums input times "
            "`out_backprop` over batch and positions. Zeros when `out_backprop` is empty.",
     .in = in_filter, .n_in = TFSDK_COUNT(in_filter), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .const_in = 2, .infer = infer_filter, .reference = compute_filter,
     .grad = grad_filter, .grad_in = 5, .samples = samples_filter}};
TFSDK_UNIT_OPS(conv2d, ops);
