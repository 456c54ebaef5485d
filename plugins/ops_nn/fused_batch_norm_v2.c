/* FusedBatchNormV2: batch normalisation of images with vectors of a type of their own, and its
 * gradient. Formulas in batch_norm.h. */
#include <tfsdk/unit.h>
#include "batch_norm.h"

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  (void)state;
  return nn_bn_compute(r);
}
static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  (void)state;
  return nn_bn_compute_grad(r);
}
static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  return nn_bn_grad("FusedBatchNormGradV2", c, g);
}

static const tfsdk_arg in[] = {
    {"x", "T", "images in data_format", 0, 0},
    {"scale", "U", "[channels]", 0, 0},
    {"offset", "U", "[channels]", 0, 0},
    {"mean", "U",
     "[channels]: to normalise with, or (training) the average so far; may be empty in training "
     "with factor 1",
     TFSDK_ARG_NONDIFF, 0},
    {"variance", "U", "[channels], as `mean`", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out[] = {
    {"y", "T", "of x's shape", 0, 0},
    {"batch_mean", "U", "[channels]: the new average of the mean; in inference the given one", 0,
     0},
    {"batch_variance", "U", "[channels]: the new average of the variance, n - 1 in the divisor", 0,
     0},
    {"reserve_space_1", "U", "[channels]: the mean that was subtracted", 0, 0},
    {"reserve_space_2", "U", "[channels]: the variance that was divided by", 0, 0},
};
static const tfsdk_arg in_grad[] = {
    {"y_backprop", "T", "the gradient of y", 0, 0},
    {"x", "T", "images in data_format", 0, 0},
    {"scale", "U", "[channels]", 0, 0},
    {"reserve_space_1", "U", "[channels]: the mean", TFSDK_ARG_NONDIFF, 0},
    {"reserve_space_2", "U", "[channels]: the variance", TFSDK_ARG_NONDIFF, 0},
};
static const tfsdk_arg out_grad[] = {{"x_backprop", "T", "of x's shape", 0, 0},
                                     {"scale_backprop", "U", "[channels]", 0, 0},
                                     {"offset_backprop", "U", "[channels]", 0, 0},
                                     {"reserve_space_3", "U", "empty", TFSDK_ARG_NONDIFF, 0},
                                     {"reserve_space_4", "U", "empty", TFSDK_ARG_NONDIFF, 0}};

static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the images' type", 0, 0},
    {"U", "dtype{float32,float64,bfloat16}", NULL, "the vectors' type", 0, 0},
    NN_BN_ATTRS("string{NHWC,NCHW}", "normalise with the batch's mean and variance")};
static const tfsdk_attrdef attr_grad[] = {
    {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the images' type", 0, 0},
    {"U", "dtype{float32,float64,bfloat16}", NULL, "the vectors' type", 0, 0},
    {"epsilon", "float", "0.0001", "added to the variance", 0, 0},
    {"data_format", "string{NHWC,NCHW}", "NHWC",
     "NC...: the channels are axis 1; else the last axis", 0, 0},
    {"is_training", "bool", "true", "mean and variance were the batch's", 0, 0}};

static const char *const samples[] = {
    "T[2,3,4,3] ; float32[3] ; float32[3] ; float32[0] ; float32[0]",
    "T[2,3,2,3] ; float32[3] ; float32[3] ; float32[3] ; float32[3](0.1,2) | "
    "exponential_avg_factor=0.9",
    "T[2,3,2,4] ; float32[3] ; float32[3] ; float32[0] ; float32[0] | data_format=NCHW",
    "T[2,3,2,3] ; float32[3] ; float32[3] ; float32[3] ; float32[3](0.1,2) | is_training=false",
    "T[2,3,2,4] ; float32[3] ; float32[3] ; float32[3] ; float32[3](0.1,2) | is_training=false ; "
    "data_format=NCHW",
    NULL};
/* In training the gradient of the gradient holds for reserve spaces that are the moments of x. */
static const char *const samples_grad[] = {
    "nograd T[2,3,2,3] ; T[2,3,2,3] ; float32[3] ; float32[3] ; float32[3](0.1,2)",
    "nograd T[2,3,2,4] ; T[2,3,2,4] ; float32[3] ; float32[3] ; float32[3](0.1,2) | "
    "data_format=NCHW",
    "T[2,3,2,3] ; T[2,3,2,3] ; float32[3] ; float32[3] ; float32[3](0.1,2) | is_training=false",
    NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("FusedBatchNormV2", "batch normalisation"),
     .doc = "`y = scale * (x - m) / sqrt(v + epsilon) + offset` for each channel. In training `m` "
            "and `v` are mean and population variance of the batch; `batch_mean` and "
            "`batch_variance` are `(1 - factor) * given + factor * batch` with `factor = "
            "exponential_avg_factor`. The batch's variance is there multiplied by n / (n - 1), "
            "where n is the number of elements of a channel; for n = 1 it is 0, and for an empty "
            "batch the averages stay as they are.\n\n"
            "In inference `m` and `v` are the arguments `mean` and `variance`, which are treated "
            "as constants.",
     .in = in, .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = nn_bn_infer, .reference = compute, .grad = grad,
     .grad_in = NN_BN_GRAD_IN, .grad_out = NN_BN_GRAD_OUT, .rewrite = nn_bn_rewrite,
     .samples = samples},
    {TFSDK_OP_HEAD("FusedBatchNormGradV2", "the gradient of FusedBatchNormV2"),
     .doc = "Gradients of x, scale and offset from that of y, with the mean and the variance that "
            "the forward op used. In training its own gradient treats these as functions of `x`.",
     .in = in_grad, .n_in = TFSDK_COUNT(in_grad), .out = out_grad, .n_out = TFSDK_COUNT(out_grad),
     .attr = attr_grad, .n_attr = TFSDK_COUNT(attr_grad), .infer = nn_bn_infer_grad,
     .reference = compute_grad, .grad = nn_bn_grad_grad, .grad_in = NN_BN_GRAD_GRAD_IN,
     .samples = samples_grad}};
TFSDK_UNIT_OPS(fused_batch_norm_v2, ops);
