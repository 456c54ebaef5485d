/* gradients.c - gradients of a graph, and IndexedSlices: gradients that are zero but for some rows.
 */
#include "ops.h"

#include <stdio.h>
#include <stdlib.h>

static tfsdk_val field_val(lua_State *L, tl_state *st, int at, const char *key, tfsdk_graph **g) {
  tfsdk_val v = tfsdk_none();
  lua_getfield(L, at, key);
  switch (tl_kind_of(L, st, lua_gettop(L))) {
  case TL_NODE: {
    const tl_node *n = (const tl_node *)lua_touserdata(L, -1);
    v = n->v;
    *g = n->g;
    break;
  }
  case TL_TENSOR: v = tfsdk_eager_val(tl_check_tensor(L, st, lua_gettop(L))); break;
  default: break;
  }
  lua_pop(L, 1);
  return v;
}

void tl_push_dense(lua_State *L, tl_state *st, int index) {
  tfsdk_gradient grad;
  tfsdk_graph *g = NULL;
  tfsdk_ctx *ctx;
  memset(&grad, 0, sizeof grad);
  grad.values = field_val(L, st, index, "values", &g);
  grad.indices = field_val(L, st, index, "indices", &g);
  if (g == NULL) { /* eager: rows are added up by an op, so that tapes see it */
    int top = lua_gettop(L);
    const tl_opinfo *op = tl_op_find(L, st, "UnsortedSegmentSum");
    luaL_checkstack(L, 10, NULL);
    lua_getfield(L, index, "values");
    lua_getfield(L, index, "indices");
    lua_getfield(L, index, "dense_shape");
    if (tl_kind_of(L, st, top + 3) == TL_TENSOR) {
      tfsdk_shape s;
      tl_check_shape(L, st, top + 3, "IndexedSlices", "dense_shape", &s);
      lua_pushinteger(L, s.dim[0]);
    } else if (lua_istable(L, top + 3)) {
      lua_rawgeti(L, top + 3, 1);
    } else {
      tl_fail(L, st, "IndexedSlices", "the dense form needs 'dense_shape'");
    }
    lua_replace(L, top + 3);
    tl_invoke(L, st, op, top + 1, 0, NULL);
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
    return;
  }
  ctx = tfsdk_graph_ctx(g);
  lua_getfield(L, index, "dense_shape");
  if (tl_kind_of(L, st, lua_gettop(L)) == TL_NONE && lua_istable(L, -1)) { /* the rows of a shape */
    lua_rawgeti(L, -1, 1);
    lua_replace(L, -2);
    tl_push_literal(L, st, lua_gettop(L), TFSDK_INT32, "IndexedSlices", "dense_shape");
    grad.dense_shape = tl_emit_const(L, st, g, tl_check_tensor(L, st, lua_gettop(L)));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  if (grad.dense_shape.id == 0) grad.dense_shape = field_val(L, st, index, "dense_shape", &g);
  tl_mark_where(L, g);
  tl_check_op(L, st, tfsdk_gradient_densify(ctx, &grad), "IndexedSlices");
  tl_push_node(L, st, g, grad.value);
}

/* Reads a list of nodes and variables; `handles`: a variable stands for its handle. */
static void read_values(lua_State *L, tl_state *st, int at, int n, int handles, tfsdk_graph **g,
                        tfsdk_val *out, const char *what) {
  for (int i = 0; i < n; i++) {
    tfsdk_graph *own = NULL;
    lua_rawgeti(L, at, i + 1);
    out[i] = tfsdk_none();
    switch (tl_kind_of(L, st, lua_gettop(L))) {
    case TL_NODE: {
      const tl_node *node = (const tl_node *)lua_touserdata(L, -1);
      out[i] = node->v;
      own = node->g;
      break;
    }
    case TL_VARIABLE: {
      const tl_variable *v = (const tl_variable *)lua_touserdata(L, -1);
      own = v->g;
      if (v->g == NULL)
        tl_fail(L, st, "tf.gradients", "%s %d was made in define-by-run mode; use a GradientTape",
                what, i + 1);
      if (handles)
        out[i] = tfsdk_variable_handle(v->v);
      else
        tl_check(L, st, tfsdk_variable_value(v->v, tfsdk_graph_ctx(v->g), &out[i]));
      break;
    }
    case TL_TENSOR:
      if (*g != NULL) { /* a known upstream gradient */
        out[i] = tl_emit_const(L, st, *g, tl_check_tensor(L, st, lua_gettop(L)));
        own = *g;
        break;
      }
      /* fall through */
    default:
      if (lua_isboolean(L, -1) && !lua_toboolean(L, -1)) {
        own = *g;
        break;
      }
      tl_fail(L, st, "tf.gradients", "%s %d must be a node or variable, not %s", what, i + 1,
              tl_type_name(L, st, lua_gettop(L)));
    }
    if (*g != NULL && own != NULL && own != *g)
      tl_fail(L, st, "tf.gradients", "%s %d belongs to another graph", what, i + 1);
    if (own != NULL) *g = own;
    lua_pop(L, 1);
  }
}

static void set_node(lua_State *L, tl_state *st, tfsdk_graph *g, tfsdk_val v, const char *key) {
  if (v.id == 0) return;
  tl_push_node(L, st, g, v);
  lua_setfield(L, -2, key);
}

/* private.gradients(ys, xs, grad_ys or nil, stop or nil): lists in, a list of nodes, IndexedSlices
 * and false out. */
static int gradients(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_graph *g = NULL;
  int n[4];
  size_t total = 0;
  tfsdk_val *vals, *part[4];
  tfsdk_gradient *out;
  static const char *const what[4] = {"target", "source", "grad_ys", "stop_gradients"};
  lua_settop(L, 4);
  for (int i = 0; i < 4; i++) {
    n[i] = lua_isnil(L, i + 1) ? 0 : (int)lua_rawlen(L, i + 1);
    total += (size_t)n[i];
  }
  vals = (tfsdk_val *)lua_newuserdatauv(L, (total + 1) * sizeof *vals, 0);
  out = (tfsdk_gradient *)lua_newuserdatauv(L, ((size_t)n[1] + 1) * sizeof *out, 0);
  memset(out, 0, ((size_t)n[1] + 1) * sizeof *out);
  for (int i = 0; i < 4; i++) {
    part[i] = vals;
    read_values(L, st, i + 1, n[i], i == 1 || i == 3, &g, vals, what[i]);
    vals += n[i];
  }
  if (g == NULL) return tl_fail(L, st, "tf.gradients", "there are no targets");
  tl_mark_where(L, g);
  tl_check_gradient(L, st,
                    tfsdk_gradients(g, part[0], (size_t)n[0], part[1], (size_t)n[1],
                                    n[2] > 0 ? part[2] : NULL, part[3], (size_t)n[3], out),
                    "tf.gradients");
  lua_createtable(L, n[1], 0);
  for (int i = 0; i < n[1]; i++) {
    if (out[i].value.id != 0) {
      tl_push_node(L, st, g, out[i].value);
    } else if (out[i].values.id != 0) {
      lua_createtable(L, 0, 3);
      set_node(L, st, g, out[i].values, "values");
      set_node(L, st, g, out[i].indices, "indices");
      set_node(L, st, g, out[i].dense_shape, "dense_shape");
      lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_meta[TL_SLICES]);
      lua_setmetatable(L, -2);
    } else {
      lua_pushboolean(L, 0);
    }
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* tf.IndexedSlices(values, indices, dense_shape) */
static int tf_slices(lua_State *L) {
  tl_state *st = tl_get(L);
  static const char *const keys[] = {"values", "indices", "dense_shape"};
  if (lua_gettop(L) == 1 && tl_is_options(L, 1)) {
    for (int i = 0; i < 3; i++) lua_getfield(L, 1, keys[i]);
    lua_remove(L, 1);
  }
  lua_settop(L, 3);
  lua_createtable(L, 0, 3);
  for (int i = 0; i < 3; i++) {
    lua_pushvalue(L, i + 1);
    lua_setfield(L, 4, keys[i]);
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_meta[TL_SLICES]);
  lua_setmetatable(L, -2);
  return 1;
}

static int slices_index(lua_State *L) {
  tl_state *st = tl_get(L);
  if (lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "dtype") == 0) {
    lua_pushliteral(L, "values");
    lua_rawget(L, 1);
    lua_getfield(L, -1, "dtype");
    return 1;
  }
  tl_push_method(L, st, TL_SLICES, 2);
  return 1;
}

static int dense(lua_State *L) {
  tl_state *st = tl_get(L);
  if (tl_kind_of(L, st, 1) == TL_SLICES)
    tl_push_dense(L, st, 1);
  else
    lua_settop(L, 1);
  return 1;
}

void tl_open_gradients(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {{"__index", slices_index}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"IndexedSlices", tf_slices}, {NULL, NULL}};
  static const luaL_Reg hidden[] = {{"gradients", gradients}, {"dense", dense}, {NULL, NULL}};
  tl_new_meta(L, st, TL_SLICES, meta, NULL);
  tl_setfuncs(L, st, tl_value_metamethods);
  lua_pop(L, 1);
  tl_add_public(L, st, functions);
  tl_add_private(L, st, hidden);
}
