/* autocast.c - computing in 16 bits where that is safe: the emission filter behind tf.mixed_precision.
 *
 * While a policy holds, float32 and 16-bit values meet in an op by the class of the op:
 *   low    products and convolutions: both sides in 16 bits
 *   high   exponentials, logarithms, sums, losses, norms: in float32
 *   follow a bias: in the type of what it is added to
 *   else   in the types of the inputs; where both types meet under one type attribute, in float32
 * The classes follow TensorFlow 1.15's lists for its mixed precision rewrite and PyTorch's for autocast
 * where those agree; where they do not (softmax), float32.
 *
 * Variables stay as they are: what is cast is their value, and the cast's gradient is float32 again. */
#include "ops.h"

#include <stdbool.h>
#include <stdlib.h>

enum { REST, LOW, HIGH, FOLLOW };

static const struct class_of {
  const char *op;
  int class;
} classes[] = {/* sorted by name */
               {"BatchMatMul", LOW},
               {"BatchMatMulV2", LOW},
               {"BiasAdd", FOLLOW},
               {"BiasAddV1", FOLLOW},
               {"CTCLoss", HIGH},
               {"CTCLossV2", HIGH},
               {"ChannelMoments", HIGH},
               {"Conv2D", LOW},
               {"Conv2DBackpropFilter", LOW},
               {"Conv2DBackpropInput", LOW},
               {"Conv3D", LOW},
               {"Conv3DBackpropFilterV2", LOW},
               {"Conv3DBackpropInputV2", LOW},
               {"Cumprod", HIGH},
               {"Cumsum", HIGH},
               {"DepthwiseConv2dNative", LOW},
               {"Einsum", LOW},
               {"EuclideanNorm", HIGH},
               {"Exp", HIGH},
               {"Expm1", HIGH},
               {"FusedBatchNorm", HIGH},
               {"L2Loss", HIGH},
               {"LRN", HIGH},
               {"Log", HIGH},
               {"Log1p", HIGH},
               {"LogSoftmax", HIGH},
               {"MatMul", LOW},
               {"Mean", HIGH},
               {"Pow", HIGH},
               {"Prod", HIGH},
               {"Reciprocal", HIGH},
               {"Rsqrt", HIGH},
               {"SegmentMean", HIGH},
               {"SegmentSum", HIGH},
               {"Softmax", HIGH},
               {"SoftmaxCrossEntropyWithLogits", HIGH},
               {"Softplus", HIGH},
               {"SparseSoftmaxCrossEntropyWithLogits", HIGH},
               {"SquaredDifference", HIGH},
               {"Sum", HIGH},
               {"UnsortedSegmentSum", HIGH}};

static int by_name(const void *key, const void *entry) {
  return strcmp((const char *)key, ((const struct class_of *)entry)->op);
}

static int class_of(const char *op) {
  const struct class_of *c = (const struct class_of *)bsearch(
      op, classes, sizeof classes / sizeof classes[0], sizeof classes[0], by_name);
  return c != NULL ? c->class : REST;
}

static tfsdk_val cast(tfsdk_ctx *c, tfsdk_val v, int32_t dtype) {
  tfsdk_attrval to = tfsdk_a_dtype("DstT", dtype);
  return tfsdk_emit(c, "Cast", &v, 1, &to, 1);
}

/* The type attribute that flat input i has; NULL: a type of its own. At most one argument is a list. */
static const char *attr_of(const tfsdk_opdef *op, size_t i, size_t n_in) {
  size_t arg = i;
  const char *type;
  for (size_t a = 0; a < op->n_in && n_in != op->n_in; a++) {
    bool list = strchr(op->in[a].type, '*') != NULL || strncmp(op->in[a].type, "list:", 5) == 0;
    if (!list) continue;
    if (n_in + 1 < op->n_in) return NULL;
    size_t members = n_in - (op->n_in - 1u);
    if (i >= a) arg = i < a + members ? a : i - members + 1;
    break;
  }
  if (arg >= op->n_in) return NULL;
  type = op->in[arg].type;
  if (strncmp(type, "list:", 5) == 0) return NULL;
  return strchr(type, '*') != NULL ? strchr(type, '*') + 1 : type;
}

static bool same_attr(const char *a, const char *b) {
  size_t n = a != NULL ? strcspn(a, "?") : 0, m = b != NULL ? strcspn(b, "?") : 0;
  return n > 0 && n == m && strncmp(a, b, n) == 0;
}

static tfsdk_status *filter(void *user, tfsdk_ctx *c, const tfsdk_opdef *op, tfsdk_val *in,
                            size_t n_in) {
  const int32_t low = ((const tl_state *)user)->policy;
  int32_t dtype[64];
  bool any_low = false, any_full = false;
  if (low == 0 || n_in > 64 || strcmp(op->name, "Cast") == 0) return NULL;
  for (size_t i = 0; i < n_in; i++) {
    dtype[i] = in[i].id != 0 ? tfsdk_type(c, in[i]).dtype : 0;
    any_low = any_low || dtype[i] == low;
    any_full = any_full || dtype[i] == TFSDK_FLOAT32;
  }
  const int class = class_of(op->name);
  if (class == LOW && any_full) {
    for (size_t i = 0; i < n_in; i++)
      if (dtype[i] == TFSDK_FLOAT32) in[i] = cast(c, in[i], low);
  } else if (class == HIGH && any_low) {
    for (size_t i = 0; i < n_in; i++)
      if (dtype[i] == low) in[i] = cast(c, in[i], TFSDK_FLOAT32);
  } else if (class == FOLLOW && any_low && any_full) {
    for (size_t i = 1; i < n_in; i++)
      if (dtype[i] != dtype[0]) in[i] = cast(c, in[i], dtype[0]);
  } else if (any_low && any_full) {
    for (size_t i = 0; i < n_in; i++) {
      bool meets = false;
      if (dtype[i] != low) continue;
      for (size_t k = 0; k < n_in; k++)
        meets = meets || (dtype[k] == TFSDK_FLOAT32 &&
                          same_attr(attr_of(op, i, n_in), attr_of(op, k, n_in)));
      if (meets) in[i] = cast(c, in[i], TFSDK_FLOAT32);
    }
  }
  return tfsdk_ctx_error(c);
}

/* One filter for all: it asks the state which policy holds, if any. The first policy puts it into every context;
 * graphs that are made later get it as they are made. It lives as long as the process. */
void tl_filter(lua_State *L, tl_state *st, tfsdk_ctx *ctx) {
  tfsdk_emit_filter *f;
  if (st->filter == NULL) {
    f = (tfsdk_emit_filter *)lua_newuserdatauv(L, sizeof *f, 0);
    memset(f, 0, sizeof *f);
    f->struct_size = sizeof *f;
    f->filter = filter;
    f->user = st;
    st->filter = f;
    lua_rawsetp(L, LUA_REGISTRYINDEX, &classes);
  }
  tl_check(L, st, tfsdk_ctx_push_filter(ctx, st->filter));
}

/* private.emit_in(dtype or nil): which type products and convolutions are computed in from now on; nil: in
 * the types of their inputs. Gives what held before. */
static int emit_in(lua_State *L) {
  tl_state *st = tl_get(L);
  int32_t dtype =
      lua_isnoneornil(L, 1) ? 0 : tl_check_dtype(L, st, 1, "tf.mixed_precision", "dtype");
  if (dtype != 0 && st->filter == NULL) {
    tl_filter(L, st, tfsdk_eager_ctx(tl_runtime(L, st)));
    lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_graphs);
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1))
      tl_filter(L, st, tfsdk_graph_ctx(((tl_graph *)lua_touserdata(L, -1))->g));
    lua_pop(L, 1);
  }
  if (st->policy != 0)
    lua_pushstring(L, tfsdk_dtype_name(st->policy));
  else
    lua_pushnil(L);
  st->policy = dtype;
  return 1;
}

void tl_open_autocast(lua_State *L, tl_state *st) {
  static const luaL_Reg hidden[] = {{"emit_in", emit_in}, {NULL, NULL}};
  tl_add_private(L, st, hidden);
}
