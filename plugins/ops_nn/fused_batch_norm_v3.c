/* FusedBatchNormV3: batch normalisation of images or volumes, and its gradient. Formulas in
 * batch_norm.h. */
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
  return nn_bn_grad("FusedBatchNormGradV3", c, g);
}

static const tfsdk_arg in[] = {NN_BN_IN("U")};
static const tfsdk_arg out[] = {NN_BN_OUT("U"),
                                {"reserve_space_3", "U", "empty", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg in_grad[] = {NN_BN_IN_GRAD("U"),
                                    {"reserve_space_3", "U", "not read", TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_arg out_grad[] = {NN_BN_OUT_GRAD("U", "reserve_space_4", "reserve_space_5")};

static const tfsdk_attrdef attr[] = {
    {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the images' type", 0, 0},
    {"U", "dtype{float32,float64,bfloat16}", NULL, "the vectors' type", 0, 0},
    NN_BN_ATTRS("string{NHWC,NCHW,NDHWC,NCDHW}", "normalise with the batch's mean and variance")};
static const tfsdk_attrdef attr_grad[] = {
    {"T", "dtype{float16,bfloat16,float32,float64}", NULL, "the images' type", 0, 0},
    {"U", "dtype{float32,float64,bfloat16}", NULL, "the vectors' type", 0, 0},
    NN_BN_ATTRS_GRAD("string{NHWC,NCHW,NDHWC,NCDHW}")};

static const char *const samples[] = {
    "float64[2,3,4,3] ; float64[3] ; float64[3] ; float64[0] ; float64[0]",
    "T[2,3,4,3] ; float32[3] ; float32[3] ; float32[0] ; float32[0]",
    "T[2,3,2,3] ; float32[3] ; float32[3] ; float32[3] ; float32[3](0.1,2) | "
    "exponential_avg_factor=0.9",
    "T[2,3,2,4] ; float32[3] ; float32[3] ; float32[0] ; float32[0] | data_format=NCHW",
    "T[2,3,2,3] ; float32[3] ; float32[3] ; float32[3] ; float32[3](0.1,2) | is_training=false",
    "T[2,3,2,4] ; float32[3] ; float32[3] ; float32[3] ; float32[3](0.1,2) | is_training=false ; "
    "data_format=NCHW",
    "T[2,2,3,2,2] ; float32[2] ; float32[2] ; float32[0] ; float32[0] | data_format=NDHWC",
    NULL};
/* In training the gradient of the gradient holds for reserve spaces that are the moments of x. */
static const char *const samples_grad[] = {
    "nograd T[2,3,2,3] ; T[2,3,2,3] ; float32[3] ; float32[3] ; float32[3](0.1,2) ; float32[0]",
    "nograd T[2,3,2,4] ; T[2,3,2,4] ; float32[3] ; float32[3] ; float32[3](0.1,2) ; float32[0] | "
    "data_format=NCHW",
    "T[2,3,2,3] ; T[2,3,2,3] ; float32[3] ; float32[3] ; float32[3](0.1,2) ; float32[0] | "
    "is_training=false",
    NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("FusedBatchNormV3", "batch normalisation"), .doc = NN_BN_DOC, .in = in,
     .n_in = TFSDK_COUNT(in), .out = out, .n_out = TFSDK_COUNT(out), .attr = attr,
     .n_attr = TFSDK_COUNT(attr), .infer = nn_bn_infer, .reference = compute, .grad = grad,
     .grad_in = NN_BN_GRAD_IN, .grad_out = NN_BN_GRAD_OUT_V3, .rewrite = nn_bn_rewrite,
     .samples = samples},
    {TFSDK_OP_HEAD("FusedBatchNormGradV3", "the gradient of FusedBatchNormV3"),
     .doc = NN_BN_DOC_GRAD, .in = in_grad, .n_in = TFSDK_COUNT(in_grad), .out = out_grad,
     .n_out = TFSDK_COUNT(out_grad), .attr = attr_grad, .n_attr = TFSDK_COUNT(attr_grad),
     .infer = nn_bn_infer_grad, .reference = compute_grad, .grad = nn_bn_grad_grad,
     .grad_in = NN_BN_GRAD_GRAD_IN, .samples = samples_grad}};
TFSDK_UNIT_OPS(fused_batch_norm_v3, ops);
