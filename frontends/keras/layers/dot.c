/* dot: products of the examples of two inputs along an axis of each. */
#include "keras.h"

/* x / max(|x|, 1e-7), lengths along the axis. */
static tfsdk_val unit(tfsdk_ctx *c, tfsdk_val x, int64_t axis) {
  tfsdk_val sum = keras_reduce(c, "Sum", tfsdk_emit1(c, "Square", x), &axis, 1, 1);
  sum = tfsdk_emit2(c, "Maximum", sum, tfsdk_scalar_like(c, sum, 1e-14));
  return tfsdk_emit2(c, "Mul", x, tfsdk_emit1(c, "Rsqrt", sum));
}

/* x as [batch, rest, axis]. */
static tfsdk_val matrix(tfsdk_ctx *c, tfsdk_val x, const tfsdk_shape *s, int32_t axis) {
  int64_t perm[TFSDK_MAX_RANK] = {0};
  uint32_t n = 1;
  for (int32_t i = 1; i < s->rank; i++)
    if (i != axis) perm[n++] = i;
  perm[n] = axis;
  keras_dim dim[3] = {keras_dim_of(c, x, 0), keras_dim_is(-1), keras_dim_of(c, x, axis)};
  x = keras_transpose(c, x, perm, n + 1);
  return s->rank == 2 ? keras_expand(c, x, 1) : s->rank == 3 ? x : keras_reshape(c, x, 3, dim);
}

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t[2];
  uint32_t n;
  int32_t axis[2];
  tfsdk_val x[2];
  const int64_t *axes = tfsdk_attr_ints(cfg, "axes", &n);
  TFSDK_REQUIRE(c, n == 1 || n == 2, "'axes' must be one number, or one for each input");
  for (uint32_t i = 0; i < 2; i++) {
    TFSDK_TRY(keras_float_input(c, in[i], 2, TFSDK_MAX_RANK, "batch, ...", &t[i]));
    TFSDK_TRY(keras_one_axis(c, "axes", axes[n == 1 ? 0 : i], &t[i], &axis[i]));
    TFSDK_REQUIRE(c, axis[i] > 0, "'axes' must not name the batch, axis 0");
    x[i] = tfsdk_attr_int(cfg, "normalize") ? unit(c, in[i], axis[i]) : in[i];
    x[i] = matrix(c, x[i], &t[i].shape, axis[i]);
  }
  int64_t d = t[0].shape.dim[axis[0]], e = t[1].shape.dim[axis[1]];
  TFSDK_REQUIRE(c, d < 0 || e < 0 || d == e,
                "axis %d of shape %s and axis %d of shape %s have different extents", axis[0],
                tfsdk_shape_text(&t[0].shape).s, axis[1], tfsdk_shape_text(&t[1].shape).s);
  tfsdk_attrval turned = tfsdk_a_bool("adj_y", 1);
  tfsdk_val y = tfsdk_emit(c, "BatchMatMulV2", x, 2, &turned, 1);
  /* the axes that are left, of the first input and of the second */
  keras_dim dim[2 * TFSDK_MAX_RANK] = {keras_dim_of(c, in[0], 0)};
  uint32_t rank = 1;
  for (uint32_t k = 0; k < 2; k++)
    for (int32_t i = 1; i < t[k].shape.rank; i++)
      if (i != axis[k]) dim[rank++] = keras_dim_of(c, in[k], i);
  if (rank == 1) dim[rank++] = keras_dim_is(1);
  TFSDK_REQUIRE(c, rank <= TFSDK_MAX_RANK, "the result would have %u axes; %d are possible", rank,
                TFSDK_MAX_RANK);
  if (t[0].shape.rank != 3 || t[1].shape.rank != 3) y = keras_reshape(c, y, rank, dim);
  out[0] = y;
  return tfsdk_ctx_error(c);
}

static const tfsdk_arg in[] = {{"x", "tensor", "[batch, ...]", 0, 0},
                               {"y", "tensor", "[batch, ...]", 0, 0}};
static const tfsdk_attrdef param[] = {
    {"axes", "list(int)", NULL, "the axis that is summed over: one number, or one of each", 0, 0},
    {"normalize", "bool", "false", "vectors along the axis get length 1 first: cosines", 0, 0}};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("dot",
                      "Sums of products along an axis of each input: [batch, axes left of x, axes "
                      "left of y], or [batch, 1] if none is left."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = 2, .build = build}};
TFSDK_UNIT_LAYERS(dot, layers);
