/* MaxPool: the maximum of each window; MaxPoolGrad: hands the gradient to the winners;
 * MaxPoolGradGrad: picks the winners' elements out of another tensor (the gradient of
 * MaxPoolGrad). Conventions in pool.h. */
#include <tfsdk/unit.h>
#include "pool.h"

static const nn_pool family = {"MaxPool", "MaxPoolGrad", "MaxPoolGradGrad", 2, 0};

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
     0, 0}};
static const tfsdk_arg in_grad[] = {{"orig_input", "T", "the pooling's input", 0, 0},
                                    {"orig_output", "T", "the pooling's output", 0, 0},
                                    {"grad", "T", "the gradient of the output", 0, 0}};
static const tfsdk_arg in_grad_grad[] = {{"orig_input", "T", "the pooling's input", 0, 0},
                                         {"orig_output", "T", "the pooling's output", 0, 0},
                                         {"grad", "T", "of the shape of `orig_input`", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "images", 0, 0}};

static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64,int32,int64,uint8,int16,int8,uint16}", NULL,
     "the elements' type", 0, 0},
    {"ksize", "list(int)", NULL,
     "4 extents of the window in the order of data_format; 1 for the batch, and for the channels "
     "unless the "
     "stride is the same",
     0, 0},
    {"strides", "list(int)", NULL, "4 steps of the window, as `ksize`", 0, 0},
    {"padding", "string{SAME,VALID,EXPLICIT}", NULL,
     "SAME: ceil(extent / stride) outputs, the odd pixel of padding at the end; VALID: none; "
     "EXPLICIT: as "
     "`explicit_paddings` says",
     0, 0},
    {"explicit_paddings", "list(int)", "[]",
     "with EXPLICIT: 8 numbers, before and after of each axis of data_format", 0, 0},
    {"data_format", "string{NHWC,NCHW}", "NHWC", "the order of the images' axes", 0, 0}};

static const char *const samples[] = {
    "T[2,4,6,2] | ksize=[1,2,2,1] ; strides=[1,2,2,1] ; padding=VALID",
    "T[1,5,4,3] | ksize=[1,3,3,1] ; strides=[1,2,2,1] ; padding=SAME",
    "T[1,5,4,2] | ksize=[1,2,3,1] ; strides=[1,2,1,1] ; padding=EXPLICIT ; "
    "explicit_paddings=[0,0,1,0,0,2,0,0]",
    "T[1,2,5,6] | ksize=[1,1,2,3] ; strides=[1,1,2,2] ; padding=SAME ; data_format=NCHW",
    "T[1,3,2,6] | ksize=[1,1,1,3] ; strides=[1,1,1,3] ; padding=VALID",
    "T[0,4,4,2] | ksize=[1,2,2,1] ; strides=[1,2,2,1] ; padding=SAME",
    NULL};
static const char *const samples_grad[] = {
    "T[1,5,4,2] ; T[1,3,2,2] ; T[1,3,2,2] | ksize=[1,3,3,1] ; strides=[1,2,2,1] ; padding=SAME",
    "T[1,2,4,6] ; T[1,2,2,3] ; T[1,2,2,3] | ksize=[1,1,2,2] ; strides=[1,1,2,2] ; padding=VALID ; "
    "data_format=NCHW",
    NULL};
static const char *const samples_grad_grad[] = {
    "T[1,5,4,2] ; T[1,3,2,2] ; T[1,5,4,2] | ksize=[1,3,3,1] ; strides=[1,2,2,1] ; padding=SAME",
    "T[1,2,4,6] ; T[1,2,2,3] ; T[1,2,4,6] | ksize=[1,1,2,2] ; strides=[1,1,2,2] ; padding=VALID ; "
    "data_format=NCHW",
    NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("MaxPool", "the maximum of each window"),
     .doc = "Padding as in Conv2D; it never wins. NaN wins over numbers. A window over channels is "
            "allowed where it is as long as its stride and divides the channels.\n\n"
            "The gradient of a window goes to its first maximum in row order.",
     .in = in, .n_in = TFSDK_COUNT(in), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 1,
     .grad_out = 1, .samples = samples},
    {TFSDK_OP_HEAD("MaxPoolGrad", "the gradient of MaxPool"),
     .doc = "Adds each element of `grad` to the first maximum of its window in row order. The "
            "winners are searched in `orig_input`; of `orig_output` only the shape matters.",
     .in = in_grad, .n_in = TFSDK_COUNT(in_grad), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer_grad, .reference = compute_grad, .grad = grad_grad,
     .grad_in = 3, .samples = samples_grad},
    {TFSDK_OP_HEAD("MaxPoolGradGrad", "the gradient of MaxPoolGrad with respect to its gradient"),
     .doc = "`output` is, for each window, the element of `grad` that stands where `orig_input` "
            "has the window's first maximum.",
     .in = in_grad_grad, .n_in = TFSDK_COUNT(in_grad_grad), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer_grad_grad, .reference = compute_grad_grad,
     .grad = grad_grad_grad, .grad_in = 3, .samples = samples_grad_grad}};
TFSDK_UNIT_OPS(max_pool, ops);
