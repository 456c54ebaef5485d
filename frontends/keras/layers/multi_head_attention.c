/* multi_head_attention: attention by several projections at once (Vaswani et al. 2017). */
#include "attend.h"

#include <math.h>

/* The axes of query, value and key: those that attend, and those that go along (the batch first). */
typedef struct heads {
  int64_t attend[TFSDK_MAX_RANK], along[TFSDK_MAX_RANK];
  uint32_t n_attend, n_along;
} heads;

static tfsdk_status *read_axes(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_typed_shape *t,
                               heads *h) {
  uint32_t rank = (uint32_t)t->shape.rank;
  uint64_t in = 0;
  TFSDK_TRY(keras_axes(c, cfg, "attention_axes", t, h->attend, &h->n_attend));
  if (h->n_attend == 0)
    for (uint32_t i = 1; i + 1 < rank; i++) h->attend[h->n_attend++] = i;
  for (uint32_t i = 0; i < h->n_attend; i++) {
    TFSDK_REQUIRE(c, h->attend[i] > 0 && h->attend[i] + 1 < rank,
                  "'attention_axes' has axis %lld, which is the batch or the features of a query "
                  "of shape %s",
                  (long long)h->attend[i], tfsdk_shape_text(&t->shape).s);
    in |= (uint64_t)1 << h->attend[i];
  }
  h->n_along = 0;
  for (uint32_t i = 0; i + 1 < rank; i++)
    if (!(in >> i & 1)) h->along[h->n_along++] = i;
  return NULL;
}

/* [lead..., heads, d] to [along..., heads, steps, d], the attending axes as one. */
static tfsdk_val to_heads(tfsdk_ctx *c, const heads *h, tfsdk_val x) {
  int64_t perm[TFSDK_MAX_RANK];
  uint32_t n = 0, rank = h->n_along + h->n_attend + 2;
  keras_dim dim[TFSDK_MAX_RANK];
  for (uint32_t i = 0; i < h->n_along; i++) perm[n++] = h->along[i];
  perm[n++] = rank - 2;
  for (uint32_t i = 0; i < h->n_attend; i++) perm[n++] = h->attend[i];
  perm[n] = rank - 1;
  for (uint32_t i = 0; i <= h->n_along; i++) dim[i] = keras_dim_of(c, x, (int32_t)perm[i]);
  dim[h->n_along + 1] = keras_dim_is(-1);
  dim[h->n_along + 2] = keras_dim_of(c, x, (int32_t)rank - 1);
  x = keras_transpose(c, x, perm, rank);
  return h->n_attend == 1 ? x : keras_reshape(c, x, h->n_along + 3, dim);
}

/* [along..., heads, steps, d] to [lead..., heads, d], extents as the query's. */
static tfsdk_val from_heads(tfsdk_ctx *c, const heads *h, tfsdk_val y, tfsdk_val query) {
  int64_t perm[TFSDK_MAX_RANK];
  uint32_t rank = h->n_along + h->n_attend + 2, n = h->n_along;
  keras_dim dim[TFSDK_MAX_RANK];
  for (uint32_t i = 0; i < n; i++) dim[i] = keras_dim_of(c, query, (int32_t)h->along[i]);
  dim[n] = keras_dim_of(c, y, (int32_t)n);
  for (uint32_t i = 0; i < h->n_attend; i++)
    dim[n + 1 + i] = keras_dim_of(c, query, (int32_t)h->attend[i]);
  dim[rank - 1] = keras_dim_of(c, y, (int32_t)n + 2);
  if (h->n_attend > 1) y = keras_reshape(c, y, rank, dim);
  for (uint32_t i = 0; i < n; i++) perm[h->along[i]] = i;
  for (uint32_t i = 0; i < h->n_attend; i++) perm[h->attend[i]] = n + 1 + i;
  perm[rank - 2] = n;
  perm[rank - 1] = rank - 1;
  return keras_transpose(c, y, perm, rank);
}

/* [along..., heads, T..., S...], as a mask and the caller see scores; `joined`: T and S as one axis
 * each. */
static tfsdk_val scores_as(tfsdk_ctx *c, const heads *h, tfsdk_val x, tfsdk_val query,
                           tfsdk_val key, int64_t n_heads, int joined) {
  keras_dim dim[2 * TFSDK_MAX_RANK];
  uint32_t n = 0;
  if (h->n_attend == 1) return x;
  for (uint32_t i = 0; i < h->n_along; i++) dim[n++] = keras_dim_of(c, query, (int32_t)h->along[i]);
  dim[n++] = keras_dim_is(n_heads);
  for (int k = 0; k < 2; k++) {
    keras_dim all = keras_dim_is(1);
    for (uint32_t i = 0; i < h->n_attend; i++) {
      keras_dim d = keras_dim_of(c, k ? key : query, (int32_t)h->attend[i]);
      if (!joined) dim[n++] = d;
      all.d = all.d < 0 || d.d < 0 ? -1 : all.d * d.d;
    }
    if (joined) dim[n++] = all;
  }
  return keras_reshape(c, x, n, dim);
}

/* A mask of fewer axes than the scores has none for the heads. */
static tfsdk_val head_mask(tfsdk_ctx *c, const heads *h, tfsdk_val mask) {
  int32_t rank = (int32_t)(h->n_along + 1 + 2 * h->n_attend);
  if (mask.id == 0) return mask;
  for (int32_t r = tfsdk_type(c, mask).shape.rank; r >= 0 && r < rank; r++)
    mask = keras_expand(c, mask, -2 * (int32_t)h->n_attend - 1);
  return mask;
}

static tfsdk_status *check(tfsdk_ctx *c, const tfsdk_val *in, tfsdk_typed_shape t[3]) {
  static const char *const names[3] = {"query", "value", "key"};
  for (int i = 0; i < 3; i++) {
    if (in[i].id != 0) TFSDK_TRY(c->api->type(c, in[i], &t[i]));
    if (in[i].id == 0) t[i] = t[1];
    TFSDK_REQUIRE(c, t[i].shape.rank >= 3,
                  "the %s must have rank 3 or more (batch, steps, "
                  "features); its shape is %s",
                  names[i], tfsdk_shape_text(&t[i].shape).s);
    TFSDK_REQUIRE(c, t[i].shape.rank == t[0].shape.rank,
                  "query and %s must have the same rank; "
                  "their shapes are %s and %s",
                  names[i], tfsdk_shape_text(&t[0].shape).s, tfsdk_shape_text(&t[i].shape).s);
    TFSDK_REQUIRE(c, tfsdk_dtype_kind(t[i].dtype) == 'f' && t[i].dtype == t[0].dtype,
                  "the %s is %s; query, value and key must be of one floating type", names[i],
                  tfsdk_dtype_name(t[i].dtype));
  }
  TFSDK_REQUIRE(c, t[0].shape.rank + 2 <= TFSDK_MAX_RANK, "the query has too many axes: %d",
                t[0].shape.rank);
  return NULL;
}

static tfsdk_status *build(tfsdk_ctx *c, const tfsdk_attrs *cfg, const tfsdk_val *in, size_t n_in,
                           tfsdk_val *out, size_t n_out) {
  tfsdk_typed_shape t[3];
  heads h;
  uint32_t n_shape;
  int64_t n_heads = tfsdk_attr_int(cfg, "num_heads"), d = tfsdk_attr_int(cfg, "key_dim");
  int64_t e = tfsdk_attr_int(cfg, "value_dim") ? tfsdk_attr_int(cfg, "value_dim") : d;
  int64_t inner[2] = {n_heads, d}, values[2] = {n_heads, e}, features;
  const int64_t *shape = tfsdk_attr_ints(cfg, "output_shape", &n_shape);
  int bias = tfsdk_attr_int(cfg, "use_bias") != 0;
  tfsdk_val key = in[2].id ? in[2] : in[1], q, k, v, gate = {0}, y;
  TFSDK_TRY(check(c, in, t));
  TFSDK_TRY(read_axes(c, cfg, &t[0], &h));
  TFSDK_TRY(keras_known_extent(c, &t[0], t[0].shape.rank - 1, &features));
  TFSDK_TRY(attend_project(c, "query", bias, in[0], 1, inner, 2, &q));
  TFSDK_TRY(attend_project(c, "key", bias, key, 1, inner, 2, &k));
  if (tfsdk_attr_int(cfg, "use_gate")) {
    TFSDK_TRY(attend_project(c, "gate", bias, in[0], 1, values, 2, &gate));
    gate = tfsdk_emit1(c, "Sigmoid", gate);
  }
  TFSDK_TRY(attend_project(c, "value", bias, in[1], 1, values, 2, &v));
  tfsdk_val pair[2] = {keras_times(c, to_heads(c, &h, q), 1 / sqrt((double)d)), to_heads(c, &h, k)};
  tfsdk_attrval turned = tfsdk_a_bool("adj_y", 1);
  tfsdk_val scores = tfsdk_emit(c, "BatchMatMulV2", pair, 2, &turned, 1);
  tfsdk_val mask = head_mask(c, &h, attend_mask(c, cfg, in));
  if (mask.id != 0 && h.n_attend > 1) { /* the mask as the scores: T and S as one axis each */
    tfsdk_val all = scores_as(c, &h, scores, in[0], key, n_heads, 0);
    all = tfsdk_emit2(c, "BroadcastTo", mask, tfsdk_emit1(c, "Shape", all));
    mask = scores_as(c, &h, all, in[0], key, n_heads, 1);
  }
  tfsdk_val weights = attend_softmax(c, scores, mask);
  out[1] = scores_as(c, &h, attend_shown(c, weights, mask), in[0], key, n_heads, 0);
  TFSDK_TRY(attend_drop(c, cfg, in[7], &weights));
  y = tfsdk_emit2(c, "BatchMatMulV2", weights, to_heads(c, &h, v));
  y = from_heads(c, &h, y, in[0]);
  if (gate.id != 0) y = tfsdk_emit2(c, "Mul", y, gate);
  if (n_shape == 0) {
    shape = &features;
    n_shape = 1;
  }
  return attend_project(c, "attention_output", bias, y, 2, shape, n_shape, &out[0]);
}

ATTEND_HEADS_IN;
ATTEND_OUT;
static const tfsdk_arg weight[] = {
    ATTEND_ROLES("query", "heads, key_dim"), ATTEND_ROLES("key", "heads, key_dim"),
    ATTEND_ROLES("gate", "heads, value_dim"), ATTEND_ROLES("value", "heads, value_dim"),
    ATTEND_ROLES("attention_output", "output_shape...")};
static const tfsdk_attrdef param[] = {
    {"num_heads", "int", NULL, "the number of projections", 1, 2147483647.0},
    {"key_dim", "int", NULL, "features of a head's queries and keys", 1, 2147483647.0},
    {"value_dim", "int", "0", "features of a head's values; 0: as key_dim", 0, 2147483647.0},
    ATTEND_DROPOUT,
    ATTEND_USE_BIAS,
    {"output_shape", "list(int)", "[]", "features of the output; empty: as the query's", 0, 0},
    {"attention_axes", "list(int)", "[]",
     "along which steps look at each other; empty: all between the batch and the features", 0, 0},
    ATTEND_CAUSAL,
    ATTEND_WINDOW,
    ATTEND_GATE,
    KERAS_SEED,
    KERAS_TRAINING};
static const tfsdk_layerdef layers[] = {
    {TFSDK_LAYER_HEAD("multi_head_attention",
                      "For each head `softmax(query key / sqrt(key_dim)) value` of projections of "
                      "query, key and value; the heads' results together, projected again."),
     .param = param, .n_param = TFSDK_COUNT(param), .in = in, .n_in = TFSDK_COUNT(in), .out = out,
     .n_out = 2, .weight = weight, .n_weight = TFSDK_COUNT(weight), .build = build}};
TFSDK_UNIT_LAYERS(multi_head_attention, layers);
