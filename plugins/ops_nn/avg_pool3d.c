/* AvgPool3D: the mean of each window of three axes; AvgPool3DGrad: its adjoint. Padding is left
 * out of sum and divisor, as in TensorFlow. Each is the other's gradient. Conventions in pool.h. */
#include <tfsdk/unit.h>
#include "pool.h"

static const nn_pool family = {"AvgPool3D", "AvgPool3DGrad", NULL, 3, 0};

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
    {"input", "T", "volumes [batch, depth, height, width, channels], or channels behind the batch",
     0, 0}};
static const tfsdk_arg in_grad[] = {{"orig_input_shape", "int32",
                                     "the shape of the pooling's input: 5 extents",
                                     TFSDK_ARG_HOST | TFSDK_ARG_NONDIFF, 0},
                                    {"grad", "T", "the gradient of the pooling's output", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "volumes", 0, 0}};

static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the elements' type", 0, 0},
    {"ksize", "list(int)", NULL,
     "5 extents of the window in the order of data_format; 1 for batch and channels", 0, 0},
    {"strides", "list(int)", NULL, "5 steps of the window, as `ksize`", 0, 0},
    {"padding", "string{SAME,VALID}", NULL,
     "SAME: ceil(extent / stride) outputs, the odd pixel of padding at the end; VALID: none", 0, 0},
    {"data_format", "string{NDHWC,NCDHW}", "NDHWC", "the order of the volumes' axes", 0, 0}};

static const char *const samples[] = {
    "T[1,4,4,2,2] | ksize=[1,2,2,2,1] ; strides=[1,2,2,2,1] ; padding=VALID",
    "T[1,3,5,4,1] | ksize=[1,3,3,3,1] ; strides=[1,2,2,2,1] ; padding=SAME",
    "T[1,2,3,2,4] | ksize=[1,1,2,1,3] ; strides=[1,1,1,1,1] ; padding=SAME ; data_format=NCDHW",
    NULL};
static const char *const samples_grad[] = {
    "int32{1,3,5,4,1} ; T[1,2,3,2,1] | ksize=[1,3,3,3,1] ; strides=[1,2,2,2,1] ; padding=SAME",
    NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("AvgPool3D", "the mean of each window of three axes"),
     .doc = "Padding as in Conv3D, but left out of the sum and of the divisor.", .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = 1, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = infer, .reference = compute, .grad = grad, .grad_shape = 1, .samples = samples},
    {TFSDK_OP_HEAD("AvgPool3DGrad", "the gradient of AvgPool3D"),
     .doc = "Spreads each element of `grad` equally over the elements of its window that are no "
            "padding.",
     .in = in_grad, .n_in = TFSDK_COUNT(in_grad), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .const_in = 1, .infer = infer_grad, .reference = compute_grad,
     .grad = grad_grad, .samples = samples_grad}};
TFSDK_UNIT_OPS(avg_pool3d, ops);
