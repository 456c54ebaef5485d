/* What the layers of this folder share. Names of parameters are Keras' and tf.layers'. */
#ifndef TFSDK_LAYERS_H
#define TFSDK_LAYERS_H

#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

#define LAYER_FORMAT                                                                               \
  {                                                                                                \
    "data_format", "string{channels_last,channels_first}", "channels_last",                        \
        "where the channels are: the last axis, or axis 1", 0, 0                                   \
  }
#define LAYER_PADDING                                                                              \
  {                                                                                                \
    "padding", "string{valid,same}", "valid",                                                      \
        "valid: windows inside the input only; same: ceil(extent / stride) outputs", 0, 0          \
  }
#define LAYER_USE_BIAS                                                                             \
  { "use_bias", "bool", "true", "adds a vector, one element for each output", 0, 0 }
#define LAYER_ACTIVATION                                                                           \
  { "activation", "string", "linear", "a function of the result: see the layer `activation`", 0, 0 }
#define LAYER_TRAINING                                                                             \
  { "training", "bool", "false", "behave as in training; the input `training` overrides it", 0, 0 }

static inline int layer_first(const tfsdk_attrs *cfg) { /* channels first */
  return strcmp(tfsdk_attr_string(cfg, "data_format"), "channels_first") == 0;
}
/* The channels' axis of an input of that rank. */
static inline int32_t layer_channel_axis(const tfsdk_attrs *cfg, int32_t rank) {
  return layer_first(cfg) ? 1 : rank - 1;
}

/* Type and shape of x, whose rank must lie in lo..hi; `axes` says what they are, for the message.
 * hi < 0: no limit. */
tfsdk_status *layer_input(tfsdk_ctx *c, tfsdk_val x, int32_t lo, int32_t hi, const char *axes,
                          tfsdk_typed_shape *out);
/* The same, of a floating type. */
tfsdk_status *layer_float_input(tfsdk_ctx *c, tfsdk_val x, int32_t lo, int32_t hi, const char *axes,
                                tfsdk_typed_shape *out);
/* The extent of an axis that weights depend on: it must be known. */
tfsdk_status *layer_known_extent(tfsdk_ctx *c, const tfsdk_typed_shape *x, int32_t axis,
                                 int64_t *out);
/* A list of 1 or n integers to n of them, each at least `least`. */
tfsdk_status *layer_ints(tfsdk_ctx *c, const tfsdk_attrs *cfg, const char *name, uint32_t n,
                         int64_t least, int64_t *out);
/* An extent as an int32 scalar: a constant where it is known. */
tfsdk_val layer_extent(tfsdk_ctx *c, tfsdk_val x, int32_t axis);
/* x reshaped to extents of which any number may be -1 if `like` has them at the same place (axis
 * like_axis[i]). */
tfsdk_val layer_reshape(tfsdk_ctx *c, tfsdk_val x, uint32_t n, const int64_t *dim, tfsdk_val like,
                        const int32_t *like_axis);
tfsdk_val layer_activation(tfsdk_ctx *c, const char *name, tfsdk_val x);
/* Bias and activation, as `use_bias` and `activation` say; `axis` is the channels'. */
tfsdk_val layer_finish(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val y, int32_t dtype,
                       int64_t channels, int first);
/* Whether to behave as in training: 1 or 0, or -1 when only running tells (*out_flag: a boolean).
 */
tfsdk_status *layer_training(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val input, int *out,
                             tfsdk_val *out_flag);
/* One of two values of equal shape, by a boolean scalar. */
tfsdk_val layer_select(tfsdk_ctx *c, tfsdk_val flag, tfsdk_val yes, tfsdk_val no);
tfsdk_val layer_axes_op(tfsdk_ctx *c, const char *op, tfsdk_val x, const int64_t *axes, uint32_t n,
                        int keep);
tfsdk_val layer_transpose(tfsdk_ctx *c, tfsdk_val x, const int64_t *perm, uint32_t n);
tfsdk_val layer_expand(tfsdk_ctx *c, tfsdk_val x, int32_t axis);
tfsdk_val layer_squeeze(tfsdk_ctx *c, tfsdk_val x, int64_t axis);

#endif
