/* gaussian_dropout: normal factors in training (Srivastava et al. 2014). */
#include "noise.h"

#include <math.h>

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int training;
  tfsdk_val flag;
  double rate = tfsdk_attr_float(cfg, "rate");
  TFSDK_TRY(keras_float_input(c, in[0], 0, -1, "any", &t));
  TFSDK_TRY(keras_training(c, cfg, in[1], &training, &flag));
  TFSDK_REQUIRE(c, rate < 1,
                "'rate' must be below 1: the deviation sqrt(rate / (1 - rate)) has no "
                "end there");
  out[0] = in[0];
  if (training == 0 || rate == 0) return NULL;
  tfsdk_val factor = noise_like(c, cfg, "RandomStandardNormal", in[0], NULL, 0);
  factor = keras_plus(c, keras_times(c, factor, sqrt(rate / (1 - rate))), 1);
  out[0] = keras_when(c, training, flag, tfsdk_emit2(c, "Mul", in[0], factor), in[0]);
  return tfsdk_ctx_error(c);
}

NOISE_LAYERS(gaussian_dropout,
             "In training multiplies with normal noise of mean 1 and deviation "
             "sqrt(rate / (1 - rate)).",
             NOISE_RATE("the chance by which plain dropout would have the same variance"));
TFSDK_UNIT_LAYERS(gaussian_dropout, layers);
