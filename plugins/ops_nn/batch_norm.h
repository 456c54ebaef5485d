/* batch_norm.h - what the three versions of FusedBatchNorm share.
 *
 * Per channel, over batch and positions (n elements), with population variance v = mean((x - m)^2):
 *     y = scale * (x - m) / sqrt(v + epsilon) + offset        (Ioffe and Szegedy, 2015)
 * In training m and v are the batch's; the outputs batch_mean and batch_variance are moving
 * averages (1 - f) * given + f * batch, where the batch's variance is v n / (n - 1) (v itself for n
 * = 1, so that it stays finite). In inference m and v are given. The reserve spaces are m and v.
 *
 * Inputs (x, scale, offset, mean, variance), outputs (y, batch_mean, batch_variance,
 * reserve_space_1, reserve_space_2[, reserve_space_3]); of the gradient op (y_backprop, x,
 * scale, reserve_space_1, reserve_space_2[, reserve_space_3]) and (x_backprop, scale_backprop,
 * offset_backprop, two placeholders). */
#ifndef NN_BATCH_NORM_H
#define NN_BATCH_NORM_H

#include <tfsdk/emit.h>
#include <tfsdk/kernel.h>

tfsdk_status *nn_bn_infer(tfsdk_infer *c);
tfsdk_status *nn_bn_compute(tfsdk_run *r);
/* `op` is the gradient op's name. Reads inputs 0, 1, 3, 4, outputs 3, 4 and (V3) 5. */
tfsdk_status *nn_bn_grad(const char *op, tfsdk_ctx *c, tfsdk_gradcall *g);
enum { NN_BN_GRAD_IN = 1 | 2 | 8 | 16, NN_BN_GRAD_OUT = 8 | 16, NN_BN_GRAD_OUT_V3 = 8 | 16 | 32 };

/* Takes the op apart, where the channels are last, into moments and element-wise ops. */
tfsdk_status *nn_bn_rewrite(tfsdk_ctx *c, tfsdk_rewriting *w);

tfsdk_status *nn_bn_infer_grad(tfsdk_infer *c);
tfsdk_status *nn_bn_compute_grad(tfsdk_run *r);
/* Reads inputs 0..4. In training mean and variance count as functions of x. */
tfsdk_status *nn_bn_grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g);
enum { NN_BN_GRAD_GRAD_IN = 31 };

/* The attributes but the types. */
#define NN_BN_ATTRS(formats, training_doc)                                                         \
  {"epsilon", "float", "0.0001", "added to the variance", 0, 0},                                   \
      {"exponential_avg_factor", "float", "1", "share of the batch in the averages", 0, 0},        \
      {"data_format", formats, "NHWC", "NC...: channels are axis 1; else the last axis", 0, 0}, {  \
    "is_training", "bool", "true", training_doc, 0, 0                                              \
  }

#endif
