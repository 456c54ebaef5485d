/* tensor.c - concrete tensors: making, printing, reading. Immutable, like all tensors of the core.
 */
#include "module.h"

#include <stdio.h>
#include <stdlib.h>

/* Book-keeping per tensor that the collector should know of besides the elements. */
#define OVERHEAD 256u

tl_tensor *tl_push_box(lua_State *L, tl_state *st) {
  return (tl_tensor *)tl_new(L, st, TL_TENSOR, sizeof(tl_tensor), 0);
}

void tl_fill_box(lua_State *L, tl_state *st, tl_tensor *box, tfsdk_tensor *take) {
  box->t = take;
  if (take == NULL) return;
  box->bytes = tfsdk_tensor_bytes(take) + OVERHEAD;
  tl_account(L, st, box->bytes);
}

void tl_push_tensor(lua_State *L, tl_state *st, tfsdk_tensor *take) {
  tl_tensor *box = tl_push_box(L, st); /* cannot fail before it holds the tensor but for memory */
  tl_fill_box(L, st, box, take);
}

tfsdk_tensor *tl_check_tensor(lua_State *L, tl_state *st, int index) {
  tl_tensor *box = (tl_tensor *)tl_check_kind(L, st, index, TL_TENSOR);
  if (box->t == NULL) tl_fail(L, st, NULL, "this tensor was closed");
  return box->t;
}

static int tensor_gc(lua_State *L) {
  tl_state *st = (tl_state *)lua_touserdata(L, lua_upvalueindex(1));
  tl_tensor *box = (tl_tensor *)lua_touserdata(L, 1);
  tfsdk_tensor *t = box->t;
  box->t = NULL;
  st->live_bytes -= box->bytes < st->live_bytes ? box->bytes : st->live_bytes;
  box->bytes = 0;
  tfsdk_tensor_release(t);
  return 0;
}

void tl_push_plain(lua_State *L, tl_state *st, int index) {
  tfsdk_tensor *t = tl_check_tensor(L, st, index);
  int32_t kind = tfsdk_dtype_kind(tfsdk_tensor_dtype(t));
  tfsdk_view v;
  if (tfsdk_tensor_rank(t) != 0 || kind == 'r' || kind == 'c') {
    lua_pushvalue(L, index);
    return;
  }
  tl_check(L, st, tfsdk_tensor_view(t, &v));
  tl_push_element(L, &v, 0);
}

/* ---------------------------------------------------------------------------------------- reading
 */

static int tensor_item(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_tensor *t = tl_check_tensor(L, st, 1);
  tfsdk_view v;
  if (tfsdk_tensor_elements(t) != 1)
    return tl_fail(L, st, "item", "a tensor of %lld elements is not one number",
                   (long long)tfsdk_tensor_elements(t));
  tl_check(L, st, tfsdk_tensor_view(t, &v));
  tl_push_element(L, &v, 0);
  return 1;
}

static void push_level(lua_State *L, const tfsdk_view *v, uint32_t depth, int64_t *at) {
  if (depth == v->rank) {
    tl_push_element(L, v, (*at)++);
    return;
  }
  luaL_checkstack(L, 4, NULL);
  lua_createtable(L, v->dim[depth] < INT32_MAX ? (int)v->dim[depth] : 0, 0);
  for (int64_t i = 0; i < v->dim[depth]; i++) {
    push_level(L, v, depth + 1, at);
    lua_rawseti(L, -2, i + 1);
  }
}

static int tensor_table(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_view v;
  int64_t at = 0;
  tl_check(L, st, tfsdk_tensor_view(tl_check_tensor(L, st, 1), &v));
  push_level(L, &v, 0, &at);
  return 1;
}

/* The elements as a string of bytes, in the machine's order. */
static int tensor_bytes(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_view v;
  tl_check(L, st, tfsdk_tensor_view(tl_check_tensor(L, st, 1), &v));
  if (v.dtype == TFSDK_STRING || v.dtype == TFSDK_RESOURCE)
    return tl_fail(L, st, "bytes", "a tensor of type %s has no plain bytes",
                   tfsdk_dtype_name(v.dtype));
  lua_pushlstring(L, (const char *)v.data, (size_t)v.n_elem * tfsdk_dtype_size(v.dtype));
  return 1;
}

static int tensor_tostring(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_tensor *box = (tl_tensor *)tl_check_kind(L, st, 1, TL_TENSOR);
  char *text;
  if (box->t == NULL) {
    lua_pushliteral(L, "[closed tensor]");
    return 1;
  }
  tl_check(L, st, tfsdk_tensor_format(box->t, 1000, &text));
  lua_pushstring(L, text); /* on a failure here the text is lost with the interpreter's memory */
  free(text);
  return 1;
}

static int tensor_rank(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_pushinteger(L, tfsdk_tensor_rank(tl_check_tensor(L, st, 1)));
  return 1;
}

static int tensor_size(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_tensor *t = tl_check_tensor(L, st, 1);
  if (lua_gettop(L) > 1) { /* a:size(1), as in Torch */
    lua_Integer axis = luaL_checkinteger(L, 2);
    if (axis < 1 || axis > tfsdk_tensor_rank(t))
      return tl_fail(L, st, "size", "axis %d of a tensor of rank %d", (int)axis,
                     (int)tfsdk_tensor_rank(t));
    lua_pushinteger(L, tfsdk_tensor_dims(t)[axis - 1]);
    return 1;
  }
  lua_pushinteger(L, tfsdk_tensor_elements(t));
  return 1;
}

static int tensor_to(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_tensor *t = tl_check_tensor(L, st, 1), *out = NULL;
  const char *device = luaL_checkstring(L, 2);
  tl_tensor *box = tl_push_box(L, st);
  tl_check_op(L, st, tfsdk_tensor_to_device(t, device, &out), "to");
  tl_fill_box(L, st, box, out);
  return 1;
}

static int tensor_index(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *key;
  if (lua_type(L, 2) != LUA_TSTRING) return tl_index_value(L, st, 1, 2);
  key = lua_tostring(L, 2);
  if (strcmp(key, "shape") == 0) {
    tfsdk_tensor *t = tl_check_tensor(L, st, 1);
    tl_push_dims(L, tfsdk_tensor_rank(t), tfsdk_tensor_dims(t));
    return 1;
  }
  if (strcmp(key, "dtype") == 0) {
    lua_pushstring(L, tfsdk_dtype_name(tfsdk_tensor_dtype(tl_check_tensor(L, st, 1))));
    return 1;
  }
  if (strcmp(key, "device") == 0) {
    lua_pushstring(L, tfsdk_tensor_device(tl_check_tensor(L, st, 1)));
    return 1;
  }
  return tl_push_value_member(L, st, TL_TENSOR, 2);
}

static int tensor_newindex(lua_State *L) {
  return tl_fail(L, tl_get(L), NULL,
                 "tensors do not change; make a new one, or keep what changes in a tf.Variable");
}

/* ---------------------------------------------------------------------------------------- making
 */

/* tf.tensor(data, dtype, shape): data is a number, boolean, string, nested table, or a tensor. */
static int tf_tensor(lua_State *L) {
  tl_state *st = tl_get(L);
  int32_t dtype = 0;
  tfsdk_tensor *t, *shaped = NULL;
  lua_settop(L, 3);
  if (tl_is_options(L, 2)) {
    lua_pushnil(L);
    while (lua_next(L, 2) != 0) {
      const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
      if (strcmp(key, "dtype") != 0 && strcmp(key, "shape") != 0)
        return tl_fail(L, st, "tf.tensor", "unknown option '%s'; there are 'dtype' and 'shape'",
                       key);
      lua_pop(L, 1);
    }
    lua_getfield(L, 2, "shape");
    lua_replace(L, 3);
    lua_getfield(L, 2, "dtype");
    lua_replace(L, 2);
  }
  if (!lua_isnoneornil(L, 2)) dtype = tl_check_dtype(L, st, 2, "tf.tensor", "dtype");
  switch (tl_kind_of(L, st, 1)) {
  case TL_NONE: break;
  case TL_TENSOR:
  case TL_VARIABLE: {
    tl_push_value(L, st, 1, 0, "tf.tensor");
    if (dtype != 0 && tl_kind_of(L, st, lua_gettop(L)) == TL_TENSOR &&
        tfsdk_tensor_dtype(tl_check_tensor(L, st, lua_gettop(L))) != dtype) {
      lua_getfield(L, -1, "cast");
      lua_insert(L, -2);
      lua_pushvalue(L, 2);
      lua_call(L, 2, 1);
    }
    return 1;
  }
  default:
    return tl_fail(L, st, "tf.tensor", "cannot make a tensor of a %s", tl_type_name(L, st, 1));
  }
  if (lua_isnoneornil(L, 1) || lua_isfunction(L, 1))
    return lua_isnoneornil(L, 1)
               ? tl_fail(L, st, "tf.tensor", "the data is missing")
               : tl_fail(L, st, "tf.tensor", "%s is no tensor", tl_type_name(L, st, 1));
  if (lua_istable(L, 1) && tl_holds_values(L, st, 1)) { /* a list of tensors is stacked */
    tl_push_value(L, st, 1, dtype, "tf.tensor");
    return 1;
  }
  t = tl_push_literal(L, st, 1, dtype, "tf.tensor", "data");
  if (!lua_isnil(L, 3)) {
    tfsdk_shape s;
    tl_tensor *box;
    tl_check_shape(L, st, 3, "tf.tensor", "shape", &s);
    box = tl_push_box(L, st);
    tl_check_op(L, st, tfsdk_tensor_reshape(t, (uint32_t)s.rank, s.dim, &shaped), "tf.tensor");
    tl_fill_box(L, st, box, shaped);
  }
  return 1;
}

/* tf.frombytes(bytes, dtype, shape): the inverse of bytes(). */
static int tf_frombytes(lua_State *L) {
  tl_state *st = tl_get(L);
  size_t n, size;
  const char *bytes = luaL_checklstring(L, 1, &n);
  int32_t dtype = tl_check_dtype(L, st, 2, "tf.frombytes", "dtype");
  tfsdk_shape s;
  tl_tensor *box;
  tfsdk_tensor *t = NULL;
  size = tfsdk_dtype_size(dtype);
  if (size == 0 || dtype == TFSDK_RESOURCE)
    return tl_fail(L, st, "tf.frombytes", "type %s has no plain bytes", tfsdk_dtype_name(dtype));
  if (lua_isnoneornil(L, 3)) {
    memset(&s, 0, sizeof s);
    s.rank = 1;
    s.dim[0] = (int64_t)(n / size);
  } else {
    tl_check_shape(L, st, 3, "tf.frombytes", "shape", &s);
  }
  box = tl_push_box(L, st);
  tl_check_op(L, st,
              tfsdk_tensor_create(tl_runtime(L, st), dtype, (uint32_t)s.rank, s.dim, bytes, n, &t),
              "tf.frombytes");
  tl_fill_box(L, st, box, t);
  return 1;
}

void tl_open_tensor(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {
      {"__gc", tensor_gc},       {"__close", tensor_gc},          {"__tostring", tensor_tostring},
      {"__index", tensor_index}, {"__newindex", tensor_newindex}, {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"item", tensor_item},   {"number", tensor_item}, {"table", tensor_table},
      {"bytes", tensor_bytes}, {"rank", tensor_rank},   {"size", tensor_size},
      {"to", tensor_to},       {"close", tensor_gc},    {NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"tensor", tf_tensor}, {"frombytes", tf_frombytes}, {NULL, NULL}};
  tl_new_meta(L, st, TL_TENSOR, meta, methods);
  tl_setfuncs(L, st, tl_value_metamethods);
  lua_pop(L, 1);
  tl_add_public(L, st, functions);
}
