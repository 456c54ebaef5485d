/* gaussian_noise: normal noise is added in training. */
#include "noise.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int training;
  tfsdk_val flag;
  double deviation = tfsdk_attr_float(cfg, "stddev");
  TFSDK_TRY(keras_float_input(c, in[0], 0, -1, "any", &t));
  TFSDK_TRY(keras_training(c, cfg, in[1], &training, &flag));
  out[0] = in[0];
  if (training == 0 || deviation == 0) return NULL;
  tfsdk_val noise = noise_like(c, cfg, "RandomStandardNormal", in[0], NULL, 0);
  noise = tfsdk_emit2(c, "AddV2", in[0], keras_times(c, noise, deviation));
  out[0] = keras_when(c, training, flag, noise, in[0]);
  return tfsdk_ctx_error(c);
}

NOISE_LAYERS(gaussian_noise, "In training adds normal noise of mean 0.",
             {"stddev", "float", NULL, "its deviation", 0, 1e38});
TFSDK_UNIT_LAYERS(gaussian_noise, layers);
