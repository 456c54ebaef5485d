/* spatial_softmax: where in the image each channel is active (Levine et al. 2016): the mean place
 * under a softmax over all pixels. Rows and columns run from -1 to 1. */
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

/* n places from -1 to 1, `each` times in a row, the whole `times` times; as a column. */
static tfsdk_val places(tfsdk_ctx *c, int32_t dtype, int64_t n, int64_t each, int64_t times) {
  int64_t one[2] = {n, 1}, many[2] = {1, each}, again[2] = {times, 1}, column[2] = {-1, 1};
  tfsdk_attrval to = tfsdk_a_dtype("DstT", dtype);
  tfsdk_val i = tfsdk_emit3(c, "Range", tfsdk_int_scalar(c, 0), tfsdk_int_scalar(c, (int32_t)n),
                            tfsdk_int_scalar(c, 1));
  i = tfsdk_emit(c, "Cast", &i, 1, &to, 1);
  i = tfsdk_emit2(c, "Mul", i, tfsdk_scalar(c, dtype, n > 1 ? 2.0 / (double)(n - 1) : 0));
  i = tfsdk_emit2(c, "Sub", i, tfsdk_scalar(c, dtype, 1));
  i = tfsdk_emit2(c, "Reshape", i, tfsdk_int_vector(c, one, 2));
  i = tfsdk_emit2(c, "Tile", i, tfsdk_int_vector(c, many, 2));
  i = tfsdk_emit2(c, "Reshape", i, tfsdk_int_vector(c, column, 2));
  return tfsdk_emit2(c, "Tile", i, tfsdk_int_vector(c, again, 2));
}

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t;
  int first = strcmp(tfsdk_attr_string(cfg, "data_format"), "channels_first") == 0;
  TFSDK_TRY(c->api->type(c, in[0], &t));
  TFSDK_REQUIRE(c, t.shape.rank == 4,
                "the input must have rank 4 (batch, height, width, channels); its shape is %s",
                tfsdk_shape_text(&t.shape).s);
  int64_t h = t.shape.dim[first ? 2 : 1], w = t.shape.dim[first ? 3 : 2];
  int64_t channels = t.shape.dim[first ? 1 : 3], to_front[4] = {0, 3, 1, 2};
  TFSDK_REQUIRE(c, h > 0 && w > 0 && channels > 0,
                "height, width and channels must be known; the input's shape is %s",
                tfsdk_shape_text(&t.shape).s);
  tfsdk_val x = in[0], k = in[1];
  if (k.id == 0) k = tfsdk_weight(c, "temperature", t.dtype, 0, NULL, "ones");
  if (!first) x = tfsdk_emit2(c, "Transpose", x, tfsdk_int_vector(c, to_front, 4));
  int64_t rows[2] = {-1, h * w}, pairs[2] = {-1, channels * 2};
  x = tfsdk_emit2(c, "Reshape", x, tfsdk_int_vector(c, rows, 2));
  x = tfsdk_emit1(c, "Softmax", tfsdk_emit2(c, "RealDiv", x, k));
  tfsdk_val place[3] = {tfsdk_emit2(c, "MatMul", x, places(c, t.dtype, h, w, 1)),
                        tfsdk_emit2(c, "MatMul", x, places(c, t.dtype, w, 1, h)),
                        tfsdk_int_scalar(c, 1)};
  tfsdk_val both = tfsdk_emit(c, "ConcatV2", place, 3, NULL, 0);
  out[0] = tfsdk_emit2(c, "Reshape", both, tfsdk_int_vector(c, pairs, 2));
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {
    {"inputs", "tensor", "[batch, height, width, channels], or channels first", 0, 0},
    {"temperature", "tensor?", "a scalar; without it one is trained", 0, 0}};
static const tfsdk_arg weight[] = {
    {"temperature", "trained", "a scalar, unless the input gives one", 0, 0}};
static const tfsdk_attrdef param[] = {{"data_format", "string{channels_last,channels_first}",
                                       "channels_last", "where the channels are", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("spatial_softmax",
                      "The mean row and column of each channel under a softmax over its pixels: "
                      "[batch, 2 channels], places from -1 to 1."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 2, .weight = weight,
     .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(spatial_softmax, layers);
