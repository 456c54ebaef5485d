/* AvgPool: the mean of each window; AvgPoolGrad: its adjoint. Padding is left out of sum and
 * divisor, as in TensorFlow. Each is the other's gradient. Conventions in pool.h. */
#include <tfsdk/unit.h>
#include "pool.h"

static const nn_pool family = {"AvgPool", "AvgPoolGrad", NULL, 2, 0};

static tfsdk_status *infer(tfsdk_infer *c) { return nn_avg_infer(&family, c); }
static tfsdk_status *infer_grad(tfsdk_infer *c) { return nn_avg_infer_grad(&family, c); }

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return nn_avg_compute(&family, r);
}
static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  (void)state;
  return nn_avg_compute_grad(&family, r);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) { return nn_avg_grad(&family, c, g); }
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return nn_avg_grad_grad(&family, c, g);
}

static const tfsdk_arg in[] = {
    {"value", "T", "images [batch, height, width, channels], or [batch, channels, height, width]",
     0, 0}};
static const tfsdk_arg in_grad[] = {{"orig_input_shape", "int32",
                                     "the shape of the pooling's input: 4 extents",
                                     TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0},
                                    {"grad", "T", "the gradient of the pooling's output", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "images", 0, 0}};

static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the elements' type", 0, 0},
    {"ksize", "list(int)", NULL,
     "4 extents of the window in the order of data_format; 1 for batch and channels", 0, 0},
    {"strides", "list(int)", NULL, "4 steps of the window, as `ksize`", 0, 0},
    {"padding", "string{SAME,VALID}", NULL,
     "SAME: ceil(extent / stride) outputs, the odd pixel of padding at the end; VALID: none", 0, 0},
    {"data_format", "string{NHWC,NCHW}", "NHWC", "the order of the images' axes", 0, 0}};

static const char *const samples[] = {
    "T[2,4,6,2] | ksize=[1,2,2,1] ; strides=[1,2,2,1] ; padding=VALID",
    "T[1,5,4,3] | ksize=[1,3,3,1] ; strides=[1,2,2,1] ; padding=SAME",
    "T[1,2,5,6] | ksize=[1,1,2,3] ; strides=[1,1,2,2] ; padding=SAME ; data_format=NCHW",
    "T[0,4,4,2] | ksize=[1,2,2,1] ; strides=[1,2,2,1] ; padding=SAME", NULL};
static const char *const samples_grad[] = {
    "int32{1,5,4,2} ; T[1,3,2,2] | ksize=[1,3,3,1] ; strides=[1,2,2,1] ; padding=SAME",
    "int32{1,2,5,6} ; T[1,2,2,2] | ksize=[1,1,2,3] ; strides=[1,1,2,2] ; padding=VALID ; "
    "data_format=NCHW",
    NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("AvgPool", "the mean of each window"),
     .doc = "Padding as in Conv2D, but left out of the sum and of the divisor.", .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = 1, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = infer, .reference = compute, .grad = grad, .grad_shape = 1, .samples = samples},
    {TFSDK_OP_HEAD("AvgPoolGrad", "the gradient of AvgPool"),
     .doc = "Spreads each element of `grad` equally over the elements of its window that are no "
            "padding.",
     .in = in_grad, .n_in = TFSDK_COUNT(in_grad), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .const_in = 1, .infer = infer_grad, .reference = compute_grad,
     .grad = grad_grad, .samples = samples_grad}};
TFSDK_UNIT_OPS(avg_pool, ops);
