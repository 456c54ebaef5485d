/* MaxPool3D: the maximum of each window of three axes, with its two backward ops. Conventions in
 * pool.h. */
#include <tfsdk/unit.h>
#include "pool.h"

static const nn_pool family = {"MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad", 3, 0};

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
    {"input", "T", "volumes [batch, depth, height, width, channels], or channels behind the batch",
     0, 0}};
static const tfsdk_arg in_grad[] = {{"orig_input", "TInput", "the pooling's input", 0, 0},
                                    {"orig_output", "TInput", "the pooling's output", 0, 0},
                                    {"grad", "T", "the gradient of the output", 0, 0}};
static const tfsdk_arg in_grad_grad[] = {{"orig_input", "T", "the pooling's input", 0, 0},
                                         {"orig_output", "T", "the pooling's output", 0, 0},
                                         {"grad", "T", "of the shape of `orig_input`", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "volumes", 0, 0}};

#define WINDOW_ATTRS                                                                               \
  {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the elements' type", 0, 0},              \
      {"ksize", "list(int)", NULL, "5 extents of the window in the order of data_format", 0, 0},   \
      {"strides", "list(int)", NULL, "5 steps of the window, as `ksize`", 0, 0},                   \
      {"padding",                                                                                  \
       "string{SAME,VALID}",                                                                       \
       NULL,                                                                                       \
       "SAME: ceil(extent / stride) outputs, the odd pixel of padding at the end; VALID: none",    \
       0,                                                                                          \
       0},                                                                                         \
  {                                                                                                \
    "data_format", "string{NDHWC,NCDHW}", "NDHWC", "the order of the volumes' axes", 0, 0          \
  }
static const tfsdk_attrdef attr[] = {WINDOW_ATTRS};
static const tfsdk_attrdef attr_grad[] = {WINDOW_ATTRS,
                                          {"TInput", "dtype{float16,bfloat16,float32,float64}",
                                           NULL, "the type of `orig_input` and `orig_output`", 0,
                                           0}};

static const char *const samples[] = {
    "T[1,4,4,2,2] | ksize=[1,2,2,2,1] ; strides=[1,2,2,2,1] ; padding=VALID",
    "T[1,3,5,4,1] | ksize=[1,3,3,3,1] ; strides=[1,2,2,2,1] ; padding=SAME",
    "T[1,2,3,2,4] | ksize=[1,1,2,1,3] ; strides=[1,1,1,1,1] ; padding=SAME ; data_format=NCDHW",
    NULL};
static const char *const samples_grad[] = {
    "T[1,4,4,2,2] ; T[1,2,2,1,2] ; T[1,2,2,1,2] | ksize=[1,2,2,2,1] ; strides=[1,2,2,2,1] ; "
    "padding=VALID",
    NULL};
static const char *const samples_grad_grad[] = {
    "T[1,4,4,2,2] ; T[1,2,2,1,2] ; T[1,4,4,2,2] | ksize=[1,2,2,2,1] ; strides=[1,2,2,2,1] ; "
    "padding=VALID",
    NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("MaxPool3D", "the maximum of each window of three axes"),
     .doc = "As MaxPool with one axis more. The gradient of a window goes to its first maximum in "
            "row order.",
     .in = in, .n_in = TFSDK_COUNT(in), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer, .reference = compute, .grad = grad, .grad_in = 1,
     .grad_out = 1, .samples = samples},
    {TFSDK_OP_HEAD("MaxPool3DGrad", "the gradient of MaxPool3D"),
     .doc = "Adds each element of `grad` to the first maximum of its window in row order.",
     .in = in_grad, .n_in = TFSDK_COUNT(in_grad), .out = out, .n_out = 1, .attr = attr_grad,
     .n_attr = TFSDK_COUNT(attr_grad), .infer = infer_grad, .reference = compute_grad,
     .grad = grad_grad, .grad_in = 3, .samples = samples_grad},
    {TFSDK_OP_HEAD("MaxPool3DGradGrad",
                   "the gradient of MaxPool3DGrad with respect to its gradient"),
     .doc = "`output` is, for each window, the element of `grad` that stands where `orig_input` "
            "has the window's first maximum.",
     .in = in_grad_grad, .n_in = TFSDK_COUNT(in_grad_grad), .out = out, .n_out = 1, .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = infer_grad_grad, .reference = compute_grad_grad,
     .grad = grad_grad_grad, .grad_in = 3, .samples = samples_grad_grad}};
TFSDK_UNIT_OPS(max_pool3d, ops);
