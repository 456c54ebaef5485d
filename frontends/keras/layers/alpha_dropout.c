/* alpha_dropout: dropout that keeps mean and variance of what SELU gives (Klambauer et al. 2017). */
#include "noise.h"

#include <math.h>

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  const double low = -1.6732632423543772 * 1.0507009873554805; /* what SELU ends at */
  tfsdk_typed_shape t;
  int training;
  uint32_t n;
  tfsdk_val flag, y;
  double rate = tfsdk_attr_float(cfg, "rate");
  const int64_t *shape = tfsdk_attr_ints(cfg, "noise_shape", &n);
  TFSDK_TRY(keras_float_input(c, in[0], 0, -1, "any", &t));
  TFSDK_TRY(keras_training(c, cfg, in[1], &training, &flag));
  TFSDK_REQUIRE(c, rate < 1, "'rate' must be below 1: there is nothing to keep the variance with");
  TFSDK_REQUIRE(c, n == 0 || (int32_t)n == t.shape.rank,
                "'noise_shape' has %u extents, the input has shape %s", n,
                tfsdk_shape_text(&t.shape).s);
  out[0] = in[0];
  if (training == 0 || rate == 0) return NULL;
  double a = 1 / sqrt((1 - rate) * (1 + rate * low * low)), b = -a * low * rate;
  tfsdk_val draw = noise_like(c, cfg, "RandomUniform", in[0], shape, n);
  tfsdk_val keep = tfsdk_emit2(c, "GreaterEqual", draw, tfsdk_scalar(c, t.dtype, rate));
  y = tfsdk_emit3(c, "SelectV2", keep, in[0], tfsdk_scalar(c, t.dtype, low));
  y = keras_plus(c, keras_times(c, y, a), b);
  out[0] = keras_when(c, training, flag, y, in[0]);
  return tfsdk_ctx_error(c);
}

NOISE_LAYERS(alpha_dropout,
             "In training sets elements to the least value of SELU and scales all, so that mean 0 "
             "and variance 1 stay.",
             NOISE_RATE("the chance of an element to be dropped"),
             {"noise_shape", "list(int)", "[]",
              "the shape of the mask: 1 where elements share a draw, -1 for the input's own extent",
              0, 0});
TFSDK_UNIT_LAYERS(alpha_dropout, layers);
