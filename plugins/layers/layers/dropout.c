/* dropout: zeroes elements at random in training. */
#include "layers.h"

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape x;
  int training;
  tfsdk_val flag, arg[3], y;
  uint32_t n;
  const int64_t *noise = tfsdk_attr_ints(cfg, "noise_shape", &n);
  int64_t seed = tfsdk_attr_int(cfg, "seed");
  TFSDK_TRY(layer_training(c, cfg, in[1], &training, &flag));
  out[0] = in[0];
  if (training == 0 || (tfsdk_attr_float(cfg, "rate") == 0 && in[2].id == 0)) return NULL;
  TFSDK_TRY(layer_float_input(c, in[0], 0, -1, "any", &x));
  TFSDK_REQUIRE(c, n == 0 || (int32_t)n == x.shape.rank,
                "'noise_shape' has %u extents, the input has shape %s", n,
                tfsdk_shape_text(&x.shape).s);
  arg[0] = in[0];
  arg[1] = in[2].id ? in[2] : tfsdk_scalar(c, x.dtype, tfsdk_attr_float(cfg, "rate"));
  arg[2] = n > 0 ? tfsdk_int_vector(c, noise, n) : tfsdk_none();
  tfsdk_attrval attr = tfsdk_a_int("seed2", seed);
  y = tfsdk_emit(c, "Dropout", arg, 3, &attr, 1);
  out[0] = training < 0 ? layer_select(c, flag, y, in[0]) : y;
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"inputs", "tensor", "any shape", 0, 0},
                               {"training", "tensor?", "a boolean scalar", 0, 0},
                               {"rate", "tensor?", "a scalar in place of the parameter", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"rate", "float", "0.5", "the chance of an element to become 0; 1 - rate divides the others", 0,
     1},
    {"noise_shape", "list(int)", "[]",
     "the shape of the mask: 1 where elements share a draw, -1 for the input's own extent", 0, 0},
    {"seed", "int", "0", "of the draws; 0: from the graph's seed", 0, 0},
    LAYER_TRAINING};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD(
         "dropout", "In training each element becomes 0 with chance `rate`, the others are divided "
                    "by 1 - rate; else the input as it is."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 3, .build = build}};
TFSDK_UNIT_LAYERS(dropout, layers);
