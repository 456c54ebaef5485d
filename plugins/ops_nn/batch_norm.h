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

/* What the records of the three versions share: U is the type of the vectors, the last arguments are what a version has
 * beyond the first. */
#define NN_BN_IN(U)                                                                                \
  {"x", "T", "images in data_format", 0, 0}, {"scale", U, "[channels]", 0, 0},                     \
      {"offset", U, "[channels]", 0, 0},                                                           \
      {"mean", U,                                                                                  \
       "[channels]: to normalise with, or (training) the average so far; may be empty in "         \
       "training "                                                                                 \
       "with factor 1",                                                                            \
       TFSDK_ARG_NONDIFF, 0},                                                                      \
  {                                                                                                \
    "variance", U, "[channels], as `mean`", TFSDK_ARG_NONDIFF, 0                                   \
  }
#define NN_BN_OUT(U)                                                                               \
  {"y", "T", "of x's shape", 0, 0},                                                                \
      {"batch_mean", U, "[channels]: the new average of the mean; in inference the given one", 0,  \
       0},                                                                                         \
      {"batch_variance", U, "[channels]: the new average of the variance, n - 1 in the divisor",   \
       0, 0},                                                                                      \
      {"reserve_space_1", U, "[channels]: the mean that was subtracted", 0, 0}, {                  \
    "reserve_space_2", U, "[channels]: the variance that was divided by", 0, 0                     \
  }
#define NN_BN_IN_GRAD(U)                                                                           \
  {"y_backprop", "T", "the gradient of y", 0, 0}, {"x", "T", "images in data_format", 0, 0},       \
      {"scale", U, "[channels]", 0, 0},                                                            \
      {"reserve_space_1", U, "[channels]: the mean", TFSDK_ARG_NONDIFF, 0}, {                      \
    "reserve_space_2", U, "[channels]: the variance", TFSDK_ARG_NONDIFF, 0                         \
  }
#define NN_BN_OUT_GRAD(U, empty, empty_too)                                                        \
  {"x_backprop", "T", "of x's shape", 0, 0}, {"scale_backprop", U, "[channels]", 0, 0},            \
      {"offset_backprop", U, "[channels]", 0, 0}, {empty, U, "empty", TFSDK_ARG_NONDIFF, 0}, {     \
    empty_too, U, "empty", TFSDK_ARG_NONDIFF, 0                                                    \
  }
#define NN_BN_ATTRS_GRAD(formats)                                                                   \
  {"epsilon", "float", "0.0001", "added to the variance", 0, 0},                                    \
      {"data_format", formats, "NHWC", "NC...: the channels are axis 1; else the last axis", 0, 0}, \
  {                                                                                                 \
    "is_training", "bool", "true", "mean and variance were the batch's", 0, 0                       \
  }
#define NN_BN_DOC                                                                                  \
  "`y = scale * (x - m) / sqrt(v + epsilon) + offset` for each channel. In training `m` "          \
  "and `v` are mean and population variance of the batch; `batch_mean` and "                       \
  "`batch_variance` are `(1 - factor) * given + factor * batch` with `factor = "                   \
  "exponential_avg_factor`. The batch's variance is there multiplied by n / (n - 1), "             \
  "where n is the number of elements of a channel; for n = 1 it is 0, and for an empty "           \
  "batch the averages stay as they are.\n\n"                                                       \
  "In inference `m` and `v` are the arguments `mean` and `variance`, which are treated "           \
  "as constants."
#define NN_BN_DOC_GRAD                                                                             \
  "Gradients of x, scale and offset from that of y, with the mean and the variance that "          \
  "the forward op used. In training its own gradient treats these as functions of `x`."

#endif
