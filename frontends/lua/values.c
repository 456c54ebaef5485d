/* values.c - what tensors, nodes and variables have in common: operators, slicing, methods. */
#include "ops.h"

#include <tfsdk/shape.h>

#include <stdio.h>
#include <stdlib.h>

void tl_type_of(lua_State *L, tl_state *st, int index, tfsdk_typed_shape *out) {
  memset(out, 0, sizeof *out);
  out->shape.rank = -1;
  switch (tl_kind_of(L, st, index)) {
  case TL_TENSOR: {
    tfsdk_tensor *t = tl_check_tensor(L, st, index);
    out->dtype = tfsdk_tensor_dtype(t);
    out->shape.rank = tfsdk_tensor_rank(t);
    for (int32_t i = 0; i < out->shape.rank; i++) out->shape.dim[i] = tfsdk_tensor_dims(t)[i];
    return;
  }
  case TL_NODE: {
    const tl_node *n = (const tl_node *)lua_touserdata(L, index);
    tfsdk_ctx *ctx = tfsdk_graph_ctx(n->g);
    tl_check(L, st, ctx->api->type(ctx, n->v, out));
    return;
  }
  case TL_VARIABLE: {
    const tl_variable *v = (const tl_variable *)lua_touserdata(L, index);
    out->dtype = tfsdk_variable_dtype(v->v);
    out->shape = *tfsdk_variable_shape(v->v);
    return;
  }
  case TL_SLICES:
    lua_getfield(L, index, "values");
    tl_type_of(L, st, lua_gettop(L), out);
    lua_pop(L, 1);
    if (out->shape.rank > 0) out->shape.dim[0] = -1;
    return;
  default: return;
  }
}

/* ------------------------------------------------------------------------------------------
 * operators */

/* Pushes op(stack 1, stack 2), or of stack 1 alone. */
static int apply(lua_State *L, tl_op_id id, int n, const char *name) {
  tl_state *st = tl_get(L);
  lua_settop(L, n); /* a unary metamethod gets its operand twice */
  return tl_invoke(L, st, tl_op(L, st, id), 1, 0, name);
}

static int32_t operand_dtype(lua_State *L, tl_state *st) {
  tfsdk_typed_shape t;
  tl_type_of(L, st, 1, &t);
  if (t.dtype == 0) tl_type_of(L, st, 2, &t);
  return t.dtype;
}

static int value_add(lua_State *L) { return apply(L, TL_OP_ADD, 2, "add"); }
static int value_sub(lua_State *L) { return apply(L, TL_OP_SUB, 2, "sub"); }
static int value_mul(lua_State *L) { return apply(L, TL_OP_MUL, 2, "mul"); }
static int value_idiv(lua_State *L) { return apply(L, TL_OP_FLOORDIV, 2, "floordiv"); }
static int value_mod(lua_State *L) { return apply(L, TL_OP_FLOORMOD, 2, "mod"); }
static int value_pow(lua_State *L) { return apply(L, TL_OP_POW, 2, "pow"); }
static int value_unm(lua_State *L) { return apply(L, TL_OP_NEG, 1, NULL); }
static int value_shl(lua_State *L) { return apply(L, TL_OP_LEFTSHIFT, 2, NULL); }
static int value_shr(lua_State *L) { return apply(L, TL_OP_RIGHTSHIFT, 2, NULL); }

/* Casts operand `at` to a type, whatever it is. */
static void cast(lua_State *L, tl_state *st, int at, int32_t dtype) {
  int top = lua_gettop(L);
  tfsdk_typed_shape t;
  tl_type_of(L, st, at, &t);
  if (t.dtype == 0 || t.dtype == dtype) return; /* a literal takes the other's type */
  lua_pushvalue(L, at);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, tfsdk_dtype_name(dtype));
  lua_setfield(L, -2, "DstT");
  tl_invoke(L, st, tl_op(L, st, TL_OP_CAST), top + 1, top + 2, NULL);
  lua_replace(L, at);
  lua_settop(L, top);
}

/* True division: integers of up to 16 bits become float32, longer ones float64, as in TensorFlow.
 */
static int value_div(lua_State *L) {
  tl_state *st = tl_get(L);
  int32_t dtype;
  lua_settop(L, 2);
  dtype = operand_dtype(L, st);
  switch (tfsdk_dtype_kind(dtype)) {
  case 'i':
  case 'u': {
    int32_t to = tfsdk_dtype_size(dtype) <= 2 ? TFSDK_FLOAT32 : TFSDK_FLOAT64;
    cast(L, st, 1, to);
    cast(L, st, 2, to);
    break;
  }
  default: break;
  }
  return apply(L, TL_OP_REALDIV, 2, "truediv");
}

static int value_band(lua_State *L) {
  return apply(L, operand_dtype(L, tl_get(L)) == TFSDK_BOOL ? TL_OP_AND : TL_OP_BITAND, 2, "and");
}
static int value_bor(lua_State *L) {
  return apply(L, operand_dtype(L, tl_get(L)) == TFSDK_BOOL ? TL_OP_OR : TL_OP_BITOR, 2, "or");
}
static int value_bxor(lua_State *L) {
  return apply(L, operand_dtype(L, tl_get(L)) == TFSDK_BOOL ? TL_OP_NOTEQUAL : TL_OP_BITXOR, 2,
               "xor");
}
static int value_bnot(lua_State *L) {
  return apply(L, operand_dtype(L, tl_get(L)) == TFSDK_BOOL ? TL_OP_NOT : TL_OP_INVERT, 1, NULL);
}

static double scalar_number(lua_State *L, tl_state *st, int at) {
  tfsdk_view v;
  tfsdk_tensor *t;
  if (lua_type(L, at) == LUA_TNUMBER) return lua_tonumber(L, at);
  if (tl_kind_of(L, st, at) == TL_NODE)
    tl_fail(L, st, NULL, "a node has no value while the graph is built; compare with :lt(), :le()");
  tl_push_value(L, st, at, 0, "comparison");
  at = lua_gettop(L);
  t = tl_check_tensor(L, st, at);
  if (tfsdk_tensor_elements(t) != 1 || tfsdk_tensor_dtype(t) == TFSDK_STRING)
    tl_fail(L, st, NULL,
            "'<' and '<=' compare single numbers; for tensors there are :lt() and :le()");
  tl_check(L, st, tfsdk_tensor_view(t, &v));
  tl_push_element(L, &v, 0);
  return lua_isboolean(L, -1) ? (double)lua_toboolean(L, -1) : lua_tonumber(L, -1);
}

static int value_lt(lua_State *L) {
  tl_state *st = tl_get(L);
  double a = scalar_number(L, st, 1), b = scalar_number(L, st, 2);
  lua_pushboolean(L, a < b);
  return 1;
}

static int value_le(lua_State *L) {
  tl_state *st = tl_get(L);
  double a = scalar_number(L, st, 1), b = scalar_number(L, st, 2);
  lua_pushboolean(L, a <= b);
  return 1;
}

static int value_len(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_typed_shape t;
  tl_type_of(L, st, 1, &t);
  if (t.shape.rank <= 0 || t.shape.dim[0] < 0)
    return tl_fail(L, st, NULL,
                   t.shape.rank == 0 ? "a scalar has no length"
                                     : "the length is not known while the graph is built");
  lua_pushinteger(L, t.shape.dim[0]);
  return 1;
}

/* ---------------------------------------------------------------------------------------------
 * slicing */

typedef struct slicing {
  lua_Integer begin[TFSDK_MAX_RANK], end[TFSDK_MAX_RANK], step[TFSDK_MAX_RANK];
  lua_Integer begin_mask, end_mask, shrink_mask;
  int n;
} slicing;

/* One place along an axis of `extent` (-1 unknown): 1 is the first, -1 the last. Gives it from 0.
 */
static lua_Integer place(lua_State *L, tl_state *st, int at, int64_t extent) {
  int ok;
  lua_Integer i = lua_tointegerx(L, at, &ok);
  if (!ok && lua_type(L, at) == LUA_TNUMBER)
    tl_fail(L, st, NULL, "index %.14g is no whole number", lua_tonumber(L, at));
  if (!ok) tl_fail(L, st, NULL, "an index is a number, not %s", tl_type_name(L, st, at));
  if (i == 0) tl_fail(L, st, NULL, "index 0: Lua counts from 1 (and -1 is the last)");
  if (extent >= 0 && (i > extent || i < -extent))
    tl_fail_code(L, st, TFSDK_OUT_OF_RANGE, NULL, "index %lld is outside of 1..%lld", (long long)i,
                 (long long)extent);
  return i > 0 ? i - 1 : i;
}

static void slice_axis(lua_State *L, tl_state *st, slicing *s, int at, const tfsdk_shape *shape) {
  int k = s->n++;
  int64_t extent = shape->rank >= 0 ? shape->dim[k] : -1;
  s->step[k] = 1;
  if (!lua_istable(L, at)) {
    s->begin[k] = place(L, st, at, extent);
    s->end[k] = s->begin[k] + 1;
    s->shrink_mask |= (lua_Integer)1 << k;
    return;
  }
  if (lua_rawlen(L, at) == 0) { /* {}: all of the axis */
    s->begin[k] = s->end[k] = 0;
    s->begin_mask |= (lua_Integer)1 << k;
    s->end_mask |= (lua_Integer)1 << k;
    return;
  }
  if (lua_rawlen(L, at) > 3)
    tl_fail(L, st, NULL, "a range is {first, last} or {first, last, step}");
  lua_rawgeti(L, at, 1);
  s->begin[k] = place(L, st, lua_gettop(L), extent);
  lua_pop(L, 1);
  if (lua_rawgeti(L, at, 2) == LUA_TNIL)
    lua_pushinteger(L, s->begin[k] >= 0 ? s->begin[k] + 1 : s->begin[k]);
  s->end[k] = place(L, st, lua_gettop(L), extent) + 1;    /* the range includes its last place */
  if (s->end[k] == 0) s->end_mask |= (lua_Integer)1 << k; /* to the very end */
  lua_settop(L, at);
  if (lua_rawgeti(L, at, 3) != LUA_TNIL) {
    s->step[k] = tl_check_int(L, st, lua_gettop(L), NULL, "step");
    if (s->step[k] < 1) tl_fail(L, st, NULL, "the step of a range must be at least 1");
  }
  lua_settop(L, at);
}

/* A vector of int32 as a tensor: places fit, for no axis of this machine is longer than that. */
static void push_places(lua_State *L, tl_state *st, const lua_Integer *list, int n) {
  int32_t v[TFSDK_MAX_RANK];
  int64_t dim[1];
  tfsdk_tensor *t = NULL;
  tl_tensor *box = tl_push_box(L, st);
  for (int i = 0; i < n; i++) {
    if (list[i] > INT32_MAX || list[i] < INT32_MIN)
      tl_fail(L, st, NULL, "index %lld is too large", (long long)list[i]);
    v[i] = (int32_t)list[i];
  }
  dim[0] = n;
  tl_check(
      L, st,
      tfsdk_tensor_create(tl_runtime(L, st), TFSDK_INT32, 1, dim, v, (size_t)n * sizeof v[0], &t));
  box->t = t;
}

static void set_integer(lua_State *L, const char *key, lua_Integer value) {
  if (value == 0) return; /* the default */
  lua_pushinteger(L, value);
  lua_setfield(L, -2, key);
}

/* Whether the index comes from `for i, row in ipairs(x)`, which asks for one row after the other until it gets nil. */
static int in_loop(lua_State *L) {
  lua_Debug ar;
  return lua_getstack(L, 1, &ar) && lua_getinfo(L, "Sn", &ar) && ar.what[0] == 'C' &&
         strcmp(ar.namewhat, "for iterator") == 0;
}

/* Whether a loop is past the last row. */
static int ends_loop(lua_State *L, tl_state *st, const tfsdk_shape *shape, lua_Integer i) {
  int64_t extent = shape->rank > 0 ? shape->dim[0] : -1;
  if ((extent >= 0 && i <= extent) || !in_loop(L)) return 0;
  if (extent < 0)
    tl_fail(L, st, NULL,
            "a loop cannot walk over a value of shape %s: how many rows there are must be known "
            "(tf.unstack(x, {num = n}) gives n)",
            tfsdk_shape_text(shape).s);
  return 1;
}

int tl_index_value(lua_State *L, tl_state *st, int self, int key) {
  tfsdk_typed_shape t;
  slicing s;
  int base;
  memset(&s, 0, sizeof s);
  tl_type_of(L, st, self, &t);
  if (lua_istable(L, key) && tl_kind_of(L, st, key) == TL_NONE) {
    lua_Integer n = (lua_Integer)lua_rawlen(L, key);
    if (n > TFSDK_MAX_RANK || (t.shape.rank >= 0 && n > t.shape.rank))
      return tl_fail(L, st, NULL, "%d indices for a tensor of rank %d", (int)n, (int)t.shape.rank);
    for (lua_Integer i = 1; i <= n; i++) {
      lua_rawgeti(L, key, i);
      slice_axis(L, st, &s, lua_gettop(L), &t.shape);
      lua_pop(L, 1);
    }
  } else if (lua_type(L, key) == LUA_TNUMBER) {
    if (t.shape.rank == 0) return tl_fail(L, st, NULL, "a scalar cannot be indexed");
    if (lua_isinteger(L, key) && ends_loop(L, st, &t.shape, lua_tointeger(L, key))) {
      lua_pushnil(L);
      return 1;
    }
    slice_axis(L, st, &s, key, &t.shape);
  } else {
    return tl_fail(L, st, NULL, "%s is no index; there are t[1], t[{1, 2}], t[{{}, {2, 3}}]",
                   tl_type_name(L, st, key));
  }
  base = lua_gettop(L) + 1;
  luaL_checkstack(L, 12, NULL);
  lua_pushvalue(L, self);
  push_places(L, st, s.begin, s.n);
  push_places(L, st, s.end, s.n);
  push_places(L, st, s.step, s.n);
  lua_createtable(L, 0, 3);
  set_integer(L, "begin_mask", s.begin_mask);
  set_integer(L, "end_mask", s.end_mask);
  set_integer(L, "shrink_axis_mask", s.shrink_mask);
  return tl_invoke(L, st, tl_op(L, st, TL_OP_STRIDEDSLICE), base, base + 4, "strided_slice");
}

/* ------------------------------------------------------------------------------------------ any
 * value */

void tl_push_value(lua_State *L, tl_state *st, int index, int32_t dtype, const char *what) {
  tl_kind k = tl_kind_of(L, st, index);
  if (k == TL_TENSOR || k == TL_NODE) {
    lua_pushvalue(L, index);
    return;
  }
  if (k == TL_SLICES) {
    tl_push_dense(L, st, index);
    return;
  }
  if (k == TL_VARIABLE) {
    tl_variable *v = (tl_variable *)lua_touserdata(L, index);
    tfsdk_val value;
    if (v->g != NULL) {
      tl_mark_where(L, v->g);
      tl_check(L, st, tfsdk_variable_value(v->v, tfsdk_graph_ctx(v->g), &value));
      tl_push_node(L, st, v->g, value);
    } else if (st->ref_capture != 0 && !tl_is_eager(st)) {
      tl_push_captured(L, st, index, 0);
    } else {
      tl_tensor *box = tl_push_box(L, st);
      size_t mark = tfsdk_eager_mark(st->rt);
      tl_check(L, st, tfsdk_variable_value(v->v, tfsdk_eager_ctx(st->rt), &value));
      tl_fill_box(L, st, box, tfsdk_tensor_retain(tfsdk_eager_tensor(value)));
      tfsdk_eager_release_vals(st->rt, mark);
    }
    return;
  }
  if (k == TL_NONE && lua_istable(L, index) && tl_holds_values(L, st, index)) {
    int top = lua_gettop(L);
    lua_pushvalue(L, index);
    tl_invoke(L, st, tl_op(L, st, TL_OP_PACK), top + 1, 0, NULL);
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
    return;
  }
  if (k != TL_NONE || lua_isnoneornil(L, index) || lua_isfunction(L, index))
    tl_fail(L, st, what, "%s is no tensor", tl_type_name(L, st, index));
  tl_push_literal(L, st, index, dtype, what, "value");
  if (!tl_is_eager(st)) {
    tfsdk_graph *g = tl_current_graph(L, st);
    tfsdk_val v;
    tl_mark_where(L, g);
    v = tl_emit_const(L, st, g, tl_check_tensor(L, st, lua_gettop(L)));
    tl_push_node(L, st, g, v);
    lua_remove(L, -2);
  }
}

const luaL_Reg tl_value_metamethods[] = {
    {"__add", value_add},   {"__sub", value_sub}, {"__mul", value_mul},   {"__div", value_div},
    {"__idiv", value_idiv}, {"__mod", value_mod}, {"__pow", value_pow},   {"__unm", value_unm},
    {"__band", value_band}, {"__bor", value_bor}, {"__bxor", value_bxor}, {"__bnot", value_bnot},
    {"__shl", value_shl},   {"__shr", value_shr}, {"__lt", value_lt},     {"__le", value_le},
    {"__len", value_len},   {NULL, NULL}};
