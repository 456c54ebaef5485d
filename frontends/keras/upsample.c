#include "upsample.h"

#include <math.h>
#include <stdlib.h>

/* Every axis gets one of extent 1 behind it, which is tiled and joined with it. */
tfsdk_status *upsample_repeat(tfsdk_ctx *c, const tfsdk_attrs *cfg, uint32_t n, tfsdk_val x,
                              tfsdk_val *out) {
  tfsdk_typed_shape t;
  int64_t size[3], each[5] = {1, 1, 1, 1, 1}, times[8];
  keras_dim open[8], dim[5];
  uint32_t k = 0;
  TFSDK_TRY(keras_images(c, cfg, x, n, &t));
  TFSDK_TRY(keras_ints(c, cfg, "size", n, 1, size));
  for (uint32_t i = 0; i < n; i++) each[keras_axis(cfg, i)] = size[i];
  for (uint32_t i = 0; i < n + 2; i++) {
    times[k] = 1;
    dim[i] = open[k++] = keras_dim_of(c, x, (int32_t)i);
    if (dim[i].d > 0) dim[i].d *= each[i];
    dim[i].times = each[i];
    if (each[i] == 1) continue;
    times[k] = each[i];
    open[k++] = keras_dim_is(1);
  }
  *out = x;
  if (k == n + 2) return NULL;
  tfsdk_val y = keras_reshape(c, x, k, open);
  y = tfsdk_emit2(c, "Tile", y, tfsdk_int_vector(c, times, k));
  *out = keras_reshape(c, y, n + 2, dim);
  return tfsdk_ctx_error(c);
}

/* ------------------------------------------------------------------------------- interpolation */

static double lanczos(double x, double radius) {
  x = fabs(x);
  if (x > radius) return 0;
  if (x <= 1e-3) return 1;
  double p = 3.14159265358979323846 * x;
  return radius * sin(p) * sin(p / radius) / (p * p);
}

/* Keys 1981 with a = -1/2. TensorFlow looks distances up in a table of 1024 steps. */
static double cubic(double x) {
  const double a = -0.5;
  x = fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

typedef struct filter {
  double radius; /* 1: bilinear, 2: cubic, 3 and 5: Lanczos */
  int smooth;    /* wider when an image becomes smaller */
} filter;

static filter filter_of(const char *how, int smooth) {
  filter k = {how[0] == 'l' ? how[7] - '0' : strcmp(how, "bicubic") == 0 ? 2 : 1, smooth};
  return k;
}

static double weight_at(const filter *k, double d) {
  if (k->radius == 1) return fabs(d) < 1 ? 1 - fabs(d) : 0;
  return k->radius == 2 ? cubic(d) : lanczos(d, k->radius);
}

/* Row i: the weights of the old pixels for new pixel i, whose sum is 1. Pixels are squares; what
 * would lie outside the image does not count. */
static void fill_weights(float *m, int64_t from, int64_t to, const filter *f) {
  double step = (double)from / (double)to, wide = f->smooth && step > 1 ? step : 1;
  int table = f->radius == 2 && !f->smooth;
  for (int64_t i = 0; i < to; i++) {
    double place = ((double)i + 0.5) * step, sum = 0;
    double base = floor(place - 0.5), part = nearbyint((place - 0.5 - base) * 1024) / 1024;
    for (int64_t k = 0; k < from; k++) {
      double d = table ? (double)k - base - part : ((double)k + 0.5 - place) / wide;
      double w = weight_at(f, d);
      m[i * from + k] = (float)w;
      sum += w;
    }
    for (int64_t k = 0; k < from; k++) m[i * from + k] = (float)(m[i * from + k] / sum);
  }
}

static tfsdk_val weights(tfsdk_ctx *c, int32_t dtype, int64_t from, int64_t to, const filter *f) {
  int64_t dim[2] = {to, from};
  float *m = to > (INT64_C(1) << 28) / from ? NULL : malloc((size_t)(to * from) * sizeof *m);
  if (m == NULL) {
    c->api->stick(c, TFSDK_FAIL(c, RESOURCE_EXHAUSTED,
                                "no memory for the weights of %lld pixels from %lld", (long long)to,
                                (long long)from));
    return tfsdk_none();
  }
  fill_weights(m, from, to, f);
  tfsdk_val v = tfsdk_constant(c, TFSDK_FLOAT32, 2, dim, m);
  free(m);
  return keras_cast(c, v, dtype);
}

/* [h', h] [b, h, w c], then [w', w] [b, h', w, c] */
static tfsdk_val products(tfsdk_ctx *c, tfsdk_val x, const int64_t from[2], const int64_t to[2],
                          const filter *f) {
  int32_t dtype = tfsdk_type(c, x).dtype, wide = keras_wide(dtype);
  keras_dim batch = keras_dim_of(c, x, 0), channels = keras_dim_of(c, x, 3);
  keras_dim flat[3] = {batch, keras_dim_is(from[0]), channels};
  keras_dim dim[4] = {batch, keras_dim_is(to[0]), keras_dim_is(from[1]), channels};
  if (flat[2].d > 0) flat[2].d *= from[1];
  flat[2].times = from[1];
  tfsdk_val y = keras_reshape(c, keras_cast(c, x, wide), 3, flat);
  y = tfsdk_emit2(c, "BatchMatMulV2", weights(c, wide, from[0], to[0], f), y);
  y = keras_reshape(c, y, 4, dim);
  y = tfsdk_emit2(c, "BatchMatMulV2", weights(c, wide, from[1], to[1], f), y);
  return keras_cast(c, y, dtype);
}

static tfsdk_val resize_op(tfsdk_ctx *c, const char *op, tfsdk_val x, tfsdk_val size) {
  tfsdk_val in[2] = {x, size};
  tfsdk_attrval half = tfsdk_a_bool("half_pixel_centers", 1);
  return tfsdk_emit(c, op, in, 2, &half, 1);
}

static tfsdk_status *known_size(tfsdk_ctx *c, tfsdk_val x, int64_t from[2]) {
  tfsdk_typed_shape t;
  TFSDK_TRY(c->api->type(c, x, &t));
  for (int32_t i = 0; i < 2; i++) TFSDK_TRY(keras_known_extent(c, &t, i + 1, &from[i]));
  return NULL;
}

/* Channels last inside. */
static tfsdk_val turned(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val x, int back) {
  int64_t to_last[4] = {0, 2, 3, 1}, to_first[4] = {0, 3, 1, 2};
  return keras_first(cfg) ? keras_transpose(c, x, back ? to_first : to_last, 4) : x;
}

static tfsdk_status *float_images(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val x,
                                  tfsdk_typed_shape *t) {
  TFSDK_TRY(keras_images(c, cfg, x, 2, t));
  TFSDK_REQUIRE(c, tfsdk_dtype_kind(t->dtype) == 'f',
                "interpolation needs a floating type, not %s: cast the input first",
                tfsdk_dtype_name(t->dtype));
  return NULL;
}

tfsdk_status *upsample_smooth(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val x, tfsdk_val *out) {
  filter k = filter_of(tfsdk_attr_string(cfg, "interpolation"), 0);
  tfsdk_typed_shape t;
  int64_t size[2], from[2];
  TFSDK_TRY(float_images(c, cfg, x, &t));
  TFSDK_TRY(keras_ints(c, cfg, "size", 2, 1, size));
  x = turned(c, cfg, x, 0);
  if (k.radius == 1 && t.dtype != TFSDK_FLOAT64) { /* the op's result is float32 */
    tfsdk_val part[2];
    tfsdk_attrval axis = tfsdk_a_int("axis", 0);
    for (int32_t i = 0; i < 2; i++)
      part[i] =
          tfsdk_emit2(c, "Mul", keras_extent(c, x, i + 1), tfsdk_int_scalar(c, (int32_t)size[i]));
    x = resize_op(c, "ResizeBilinear", x, tfsdk_emit(c, "Pack", part, 2, &axis, 1));
    x = keras_cast(c, x, t.dtype);
  } else {
    TFSDK_TRY(known_size(c, x, from));
    int64_t to[2] = {from[0] * size[0], from[1] * size[1]};
    x = products(c, x, from, to, &k);
  }
  *out = turned(c, cfg, x, 1);
  return tfsdk_ctx_error(c);
}

tfsdk_status *upsample_to(tfsdk_ctx *c, const tfsdk_attrs *cfg, tfsdk_val x, tfsdk_val *out) {
  const char *how = tfsdk_attr_string(cfg, "interpolation");
  int smooth = tfsdk_attr_int(cfg, "antialias") != 0;
  tfsdk_typed_shape t;
  int64_t from[2], to[2] = {tfsdk_attr_int(cfg, "height"), tfsdk_attr_int(cfg, "width")};
  tfsdk_val size = tfsdk_int_vector(c, to, 2);
  if (strcmp(how, "nearest") == 0) {
    TFSDK_TRY(keras_images(c, cfg, x, 2, &t));
    x = resize_op(c, "ResizeNearestNeighbor", turned(c, cfg, x, 0), size);
    *out = turned(c, cfg, x, 1);
    return tfsdk_ctx_error(c);
  }
  filter k = filter_of(how, smooth);
  TFSDK_TRY(float_images(c, cfg, x, &t));
  x = turned(c, cfg, x, 0);
  if (k.radius == 1 && !smooth && t.dtype != TFSDK_FLOAT64) {
    x = keras_cast(c, resize_op(c, "ResizeBilinear", x, size), t.dtype);
  } else {
    TFSDK_TRY(known_size(c, x, from));
    x = products(c, x, from, to, &k);
  }
  *out = turned(c, cfg, x, 1);
  return tfsdk_ctx_error(c);
}
