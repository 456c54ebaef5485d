/* MaxPoolV2: MaxPool whose window and stride are tensors, with its two backward ops. Conventions
 * in pool.h. */
#include <tfsdk/unit.h>
#include "pool.h"

static const nn_pool family = {"MaxPoolV2", "MaxPoolGradV2", "MaxPoolGradGradV2", 2, 1};

static tfsdk_status *infer(tfsdk_infer *c) { return nn_max_infer(&family, c); }
static tfsdk_status *infer_grad(tfsdk_infer *c) { return nn_max_infer_grad(&family, c); }
static tfsdk_status *infer_grad_grad(tfsdk_infer *c) { return nn_max_infer_grad_grad(&family, c); }

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return nn_max_compute(&family, r);
}
static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  (void)state;
  return nn_max_compute_grad(&family, r);
}
static tfsdk_status *compute_grad_grad(void *state, tfsdk_run *r) {
  (void)state;
  return nn_max_compute_grad_grad(&family, r);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) { return nn_max_grad(&family, c, g); }
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return nn_max_grad_grad(&family, c, g);
}
static tfsdk_status *grad_grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return nn_max_grad_grad_grad(&family, c, g);
}

static const tfsdk_arg in[] = {
    {"input", "T", "images [batch, height, width, channels], or [batch, channels, height, width]",
     0, 0},
    {"ksize", "int32", "4 extents of the window in the order of data_format",
     TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0},
    {"strides", "int32", "4 steps of the window", TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg in_grad[] = {
    {"orig_input", "T", "the pooling's input", 0, 0},
    {"orig_output", "T", "the pooling's output", 0, 0},
    {"grad", "T", "the gradient of the output", 0, 0},
    {"ksize", "int32", "4 extents of the window in the order of data_format",
     TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0},
    {"strides", "int32", "4 steps of the window", TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg in_grad_grad[] = {
    {"orig_input", "T", "the pooling's input", 0, 0},
    {"orig_output", "T", "the pooling's output", 0, 0},
    {"grad", "T", "of the shape of `orig_input`", 0, 0},
    {"ksize", "int32", "4 extents of the window in the order of data_format",
     TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0},
    {"strides", "int32", "4 steps of the window", TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {{"output", "T", "images", 0, 0}};

static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64,int32,int64,uint8,int16,int8,uint16}", NULL,
     "the elements' type", 0, 0},
    {"padding", "string{SAME,VALID}", NULL,
     "SAME: ceil(extent / stride) outputs, the odd pixel of padding at the end; VALID: none", 0, 0},
    {"data_format", "string{NHWC,NCHW}", "NHWC", "the order of the images' axes", 0, 0}};

static const char *const samples[] = {
    "T[2,4,6,2] ; int32{1,2,2,1} ; int32{1,2,2,1} | padding=VALID",
    "T[1,5,4,3] ; int32{1,3,3,1} ; int32{1,2,2,1} | padding=SAME",
    "T[1,2,5,6] ; int32{1,1,2,3} ; int32{1,1,2,2} | padding=SAME ; data_format=NCHW", NULL};
static const char *const samples_grad[] = {
    "T[1,5,4,2] ; T[1,3,2,2] ; T[1,3,2,2] ; int32{1,3,3,1} ; int32{1,2,2,1} | padding=SAME", NULL};
static const char *const samples_grad_grad[] = {
    "T[1,5,4,2] ; T[1,3,2,2] ; T[1,5,4,2] ; int32{1,3,3,1} ; int32{1,2,2,1} | padding=SAME", NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("MaxPoolV2", "the maximum of each window, whose extent is a tensor"),
     .doc = "MaxPool with `ksize` and `strides` as tensors. The gradient of a window goes to its "
            "first maximum in row order.",
     .in = in, .n_in = TFSDK_COUNT(in), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .const_in = 6, .infer = infer, .reference = compute, .grad = grad,
     .grad_in = 7, .grad_out = 1, .samples = samples},
    {TFSDK_OP_HEAD("MaxPoolGradV2", "the gradient of MaxPoolV2"),
     .doc = "As MaxPoolGrad, with `ksize` and `strides` as tensors.", .in = in_grad,
     .n_in = TFSDK_COUNT(in_grad), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .const_in = 24, .infer = infer_grad, .reference = compute_grad,
     .grad = grad_grad, .grad_in = 27, .samples = samples_grad},
    {TFSDK_OP_HEAD("MaxPoolGradGradV2",
                   "the gradient of MaxPoolGradV2 with respect to its gradient"),
     .doc = "As MaxPoolGradGrad, with `ksize` and `strides` as tensors.", .in = in_grad_grad,
     .n_in = TFSDK_COUNT(in_grad_grad), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .const_in = 24, .infer = infer_grad_grad,
     .reference = compute_grad_grad, .grad = grad_grad_grad, .grad_in = 27,
     .samples = samples_grad_grad}};
TFSDK_UNIT_OPS(max_pool_v2, ops);
