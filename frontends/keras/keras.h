/* What the layers of this folder share. Names and defaults of parameters are Keras'. */
#ifndef TFSDK_KERAS_H
#define TFSDK_KERAS_H

#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

#define KERAS_FORMAT                                                                               \
  {                                                                                                \
    "data_format", "string{channels_last,channels_first}", "channels_last",                        \
        "where the channels are: the last axis, or axis 1", 0, 0                                   \
  }
#define KERAS_TRAINING                                                                             \
  { "training", "bool", "false", "behave as in training; the input `training` overrides it", 0, 0 }
#define KERAS_SEED                                                                                 \
  { "seed", "int", "0", "of the draws; 0: from the graph's seed", 0, 0 }
/* Of a layer that any tensor goes through. */
#define KERAS_ANY                                                                                  \
  { "inputs", "tensor", "any shape", 0, 0 }
#define KERAS_IMAGES                                                                               \
  { "inputs", "tensor", "batch, axes, channels; or channels behind the batch", 0, 0 }
#define KERAS_TRAINING_INPUT                                                                       \
  { "training", "tensor?", "a boolean scalar", 0, 0 }

static inline int keras_first(const tfsdk_attrs *cfg) { /* channels first */
  return strcmp(tfsdk_attr_string(cfg, "data_format"), "channels_first") == 0;
}
/* Axis i of those that windows move along. */
static inline int32_t keras_axis(const tfsdk_attrs *cfg, uint32_t i) {
  return (int32_t)i + (keras_first(cfg) ? 2 : 1);
}

/* Type and shape of x, whose rank must lie in lo..hi (hi < 0: no limit); `axes` says what they are,
 * for the message. */
tfsdk_status *keras_input(tfsdk_ctx *c, tfsdk_val x, int32_t lo, int32_t hi, const char *axes,
                          tfsdk_typed_shape *out);
tfsdk_status *keras_float_input(tfsdk_ctx *c, tfsdk_val x, int32_t lo, int32_t hi, const char *axes,
                                tfsdk_typed_shape *out);
/* The input of a layer over n axes: rank n + 2. */
tfsdk_status *keras_images(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val x, uint32_t n,
                           tfsdk_typed_shape *out);
/* An extent that weights or sizes depend on: it must be known. */
tfsdk_status *keras_known_extent(tfsdk_ctx *c, const tfsdk_typed_shape *x, int32_t axis,
                                 int64_t *out);
/* A list of 1 or n integers to n of them, each at least `least`. */
tfsdk_status *keras_ints(tfsdk_ctx *c, const tfsdk_attrs *cfg, const char *name, uint32_t n,
                         int64_t least, int64_t *out);
/* What stands on both sides of n axes, as pairs: of 1 number, n, or 2n. */
tfsdk_status *keras_sides(tfsdk_ctx *c, const tfsdk_attrs *cfg, const char *name, uint32_t n,
                          int64_t out[][2]);
/* An axis, counted from the end if it is negative. */
tfsdk_status *keras_one_axis(tfsdk_ctx *c, const char *name, int64_t axis,
                             const tfsdk_typed_shape *x, int32_t *out);
/* A list of axes in rising order, each once. */
tfsdk_status *keras_axes(tfsdk_ctx *c, const tfsdk_attrs *cfg, const char *name,
                         const tfsdk_typed_shape *x, int64_t *out, uint32_t *out_n);
/* An extent as an int32 scalar: a constant where it is known. */
tfsdk_val keras_extent(tfsdk_ctx *c, tfsdk_val x, int32_t axis);
/* An extent of a shape to be: `d`; if that is -1, the one of axis `axis` of `like`, `times` times;
 * without `like` what is left over. */
typedef struct keras_dim {
  int64_t d, times;
  tfsdk_val like;
  int32_t axis;
} keras_dim;
static inline keras_dim keras_dim_is(int64_t d) { /* -1: what is left over */
  keras_dim k = {d, 1, {0}, 0};
  return k;
}
keras_dim keras_dim_of(tfsdk_ctx *c, tfsdk_val like, int32_t axis);
/* x reshaped. What is known of the shape stays known. */
tfsdk_val keras_reshape(tfsdk_ctx *c, tfsdk_val x, uint32_t n, const keras_dim *dim);
/* Whether to behave as in training: 1 or 0, or -1 when only running tells (*out_flag: a boolean).
 */
tfsdk_status *keras_training(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val input, int *out,
                             tfsdk_val *out_flag);
/* In training `yes`, else `no`: what keras_training told. */
tfsdk_val keras_when(tfsdk_ctx *c, int training, tfsdk_val flag, tfsdk_val yes, tfsdk_val no);
tfsdk_val keras_reduce(tfsdk_ctx *c, const char *op, tfsdk_val x, const int64_t *axes, uint32_t n,
                       int keep);
tfsdk_val keras_transpose(tfsdk_ctx *c, tfsdk_val x, const int64_t *perm, uint32_t n);
tfsdk_val keras_expand(tfsdk_ctx *c, tfsdk_val x, int32_t axis);
tfsdk_val keras_cast(tfsdk_ctx *c, tfsdk_val x, int32_t dtype);
tfsdk_val keras_times(tfsdk_ctx *c, tfsdk_val x, double k);
tfsdk_val keras_plus(tfsdk_ctx *c, tfsdk_val x, double k);
/* Ones where x > k, else zeros, of x's type. */
tfsdk_val keras_above(tfsdk_ctx *c, tfsdk_val x, double k);
/* The function that the parameter `activation` names. */
tfsdk_val keras_activation(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val x);
/* Norms of 16-bit values are taken in float32, their weights are float32. */
static inline int32_t keras_wide(int32_t dtype) {
  return dtype == TFSDK_FLOAT16 || dtype == TFSDK_BFLOAT16 ? TFSDK_FLOAT32 : dtype;
}

#endif
