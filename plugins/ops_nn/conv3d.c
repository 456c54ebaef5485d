/* Conv3D: Conv2D with a third axis, depth, and its two adjoints. */
#include <tfsdk/unit.h>
#include "conv.h"

static const nn_conv family = {"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", 3, 0};

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
    {"input", "T", "volumes [batch, depth, height, width, in_c], or channels behind the batch", 0,
     0},
    {"filter", "T", "[depth, height, width, in_c / groups, out_c]", 0, 0}};
static const tfsdk_arg in_input[] = {
    {"input_sizes", "Tshape", "the shape of the volumes: 5 extents",
     TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0},
    {"filter", "T", "[depth, height, width, in_c / groups, out_c]", 0, 0},
    {"out_backprop", "T", "the gradient of Conv3D's output", 0, 0}};
static const tfsdk_arg in_filter[] = {
    {"input", "T", "volumes [batch, depth, height, width, in_c], or channels behind the batch", 0,
     0},
    {"filter_sizes", "int32", "the shape of the filter: 5 extents",
     TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0},
    {"out_backprop", "T", "the gradient of Conv3D's output", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "volumes", 0, 0}};

#define CONV_ATTRS                                                                                 \
  {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the elements' type", 0, 0},              \
      {"strides", "list(int)",                                                                     \
       NULL,      "5 steps of the window in the order of data_format; 1 for batch and channels",   \
       0,         0},                                                                              \
      {"padding",                                                                                  \
       "string{SAME,VALID}",                                                                       \
       NULL,                                                                                       \
       "SAME: ceil(extent / stride) outputs, the odd pixel of padding at the end; VALID: none",    \
       0,                                                                                          \
       0},                                                                                         \
      {"data_format", "string{NDHWC,NCDHW}", "NDHWC", "the order of the volumes' axes", 0, 0}, {   \
    "dilations", "list(int)", "[1,1,1,1,1]", "5 distances of the filter's taps, as `strides`", 0,  \
        0                                                                                          \
  }
static const tfsdk_attrdef attr[] = {CONV_ATTRS};
static const tfsdk_attrdef attr_input[] = {
    CONV_ATTRS, {"Tshape", "dtype{int32,int64}", "int32", "the type of `input_sizes`", 0, 0}};

static const char *const samples[] = {
    "T[1,3,4,3,2] ; T[2,3,2,2,2] | strides=[1,1,1,1,1] ; padding=SAME",
    "T[1,4,5,3,1] ; T[3,3,2,1,2] | strides=[1,2,2,2,1] ; padding=SAME",
    "T[1,3,3,4,2] ; T[2,2,2,2,3] | strides=[1,1,1,1,1] ; padding=VALID",
    "T[1,4,4,3,1] ; T[2,2,2,1,2] | strides=[1,1,1,1,1] ; padding=SAME ; dilations=[1,2,2,1,1]",
    "T[1,2,3,3,4] ; T[2,2,2,2,2] | strides=[1,1,1,1,2] ; padding=SAME ; data_format=NCDHW",
    NULL};
static const char *const samples_input[] = {
    "int32{1,4,5,3,1} ; T[3,3,2,1,2] ; T[1,2,3,2,2] | strides=[1,2,2,2,1] ; padding=SAME",
    "int64{1,3,3,4,2} ; T[2,2,2,2,3] ; T[1,2,2,3,3] | strides=[1,1,1,1,1] ; padding=VALID", NULL};
static const char *const samples_filter[] = {
    "T[1,4,5,3,1] ; int32{3,3,2,1,2} ; T[1,2,3,2,2] | strides=[1,2,2,2,1] ; padding=SAME",
    "T[1,3,3,4,2] ; int32{2,2,2,2,3} ; T[1,2,2,3,3] | strides=[1,1,1,1,1] ; padding=VALID", NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Conv3D", "convolution over three axes"),
     .doc = "Conv2D with a third axis in front of height and width. Padding, strides, dilations "
            "and groups as there.",
     .in = in, .n_in = TFSDK_COUNT(in), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 3,
     .samples = samples},
    {TFSDK_OP_HEAD("Conv3DBackpropInputV2", "the gradient of Conv3D with respect to its input"),
     .doc = "The transposed convolution. `input_sizes` chooses between the sizes that Conv3D maps "
            "to the extents of `out_backprop`; any other size is an error.",
     .in = in_input, .n_in = TFSDK_COUNT(in_input), .out = out, .n_out = 1, .attr = attr_input,
     .n_attr = TFSDK_COUNT(attr_input), .const_in = 1, .infer = infer_input,
     .reference = compute_input, .grad = grad_input, .grad_in = 6, .samples = samples_input},
    {TFSDK_OP_HEAD("Conv3DBackpropFilterV2", "the gradient of Conv3D with respect to its filter"),
     .doc = "The adjoint of Conv3D for fixed volumes; `filter_sizes` is the shape of the filter.",
     .in = in_filter, .n_in = TFSDK_COUNT(in_filter), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .const_in = 2, .infer = infer_filter, .reference = compute_filter,
     .grad = grad_filter, .grad_in = 5, .samples = samples_filter}};
TFSDK_UNIT_OPS(conv3d, ops);
