/* node.c - values of a graph (Node) and the operations that make them (Operation). */
#include "ops.h"

#include <tfsdk/shape.h>

#include <stdio.h>
#include <stdlib.h>

/* One userdata for each value, so that nodes can be keys of a table of feeds. Negative keys hold
 * operations. */
static int push_cached(lua_State *L, tl_state *st, tfsdk_graph *g, lua_Integer key) {
  tl_push_graph(L, st, g);
  lua_getiuservalue(L, -1, 1);
  if (lua_rawgeti(L, -1, key) == LUA_TUSERDATA) {
    lua_replace(L, -3);
    lua_pop(L, 1);
    return 1;
  }
  lua_pop(L, 1); /* graph, cache */
  return 0;
}

void tl_push_node(lua_State *L, tl_state *st, tfsdk_graph *g, tfsdk_val v) {
  tl_node *n;
  luaL_checkstack(L, 6, NULL);
  if (push_cached(L, st, g, (lua_Integer)v.id)) return;
  n = (tl_node *)tl_new(L, st, TL_NODE, sizeof *n, 1);
  n->g = g;
  n->v = v;
  lua_pushvalue(L, -3);
  lua_setiuservalue(L, -2, 1);
  lua_pushvalue(L, -1);
  lua_rawseti(L, -3, (lua_Integer)v.id);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

void tl_push_operation(lua_State *L, tl_state *st, tfsdk_graph *g, uint32_t id) {
  tl_operation *o;
  lua_Integer key = -(lua_Integer)id - 1;
  luaL_checkstack(L, 6, NULL);
  if (push_cached(L, st, g, key)) return;
  o = (tl_operation *)tl_new(L, st, TL_OPERATION, sizeof *o, 1);
  o->g = g;
  o->id = id;
  lua_pushvalue(L, -3);
  lua_setiuservalue(L, -2, 1);
  lua_pushvalue(L, -1);
  lua_rawseti(L, -3, key);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

/* ----------------------------------------------------------------------------------------------
 * Node */

static void node_info(lua_State *L, tl_state *st, const tl_node *n, tfsdk_node_info *out) {
  tl_check(L, st, tfsdk_graph_node(n->g, n->v, out));
}

static int node_tostring(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_node *n = (tl_node *)tl_check_kind(L, st, 1, TL_NODE);
  tfsdk_node_info info;
  tfsdk_typed_shape t;
  node_info(L, st, n, &info);
  tl_type_of(L, st, 1, &t);
  lua_pushfstring(L, "Node(\"%s:%d\", %s, shape=%s, dtype=%s)", info.name, (int)info.index, info.op,
                  tfsdk_shape_text(&t.shape).s, tfsdk_dtype_name(t.dtype));
  return 1;
}

/* A method of a kind, else one of all values, else a function of tf, tf.nn or tf.math. */
int tl_push_value_member(lua_State *L, tl_state *st, tl_kind kind, int key) {
  static const char *const spaces[] = {"Value", "tf", "tf.nn", "tf.math"};
  const char *name;
  if (tl_push_method(L, st, kind, key) != LUA_TNIL) return 1;
  name = lua_tostring(L, key);
  for (size_t i = 0; i < sizeof spaces / sizeof spaces[0] && name != NULL; i++) {
    lua_pop(L, 1);
    if (tl_push_member(L, st, spaces[i], name) == LUA_TFUNCTION) return 1;
  }
  lua_pop(L, 1);
  lua_pushnil(L);
  return 1;
}

static int node_index(lua_State *L) {
  tl_state *st = tl_get(L);
  const tl_node *n = (const tl_node *)tl_check_kind(L, st, 1, TL_NODE);
  tfsdk_node_info info;
  tfsdk_typed_shape t;
  const char *key;
  if (lua_type(L, 2) != LUA_TSTRING) return tl_index_value(L, st, 1, 2);
  key = lua_tostring(L, 2);
  if (strcmp(key, "shape") == 0) {
    tl_type_of(L, st, 1, &t);
    tl_push_shape(L, &t.shape);
    return 1;
  }
  if (strcmp(key, "dtype") == 0) {
    tl_type_of(L, st, 1, &t);
    lua_pushstring(L, tfsdk_dtype_name(t.dtype));
    return 1;
  }
  if (strcmp(key, "graph") == 0) {
    tl_push_graph(L, st, n->g);
    return 1;
  }
  node_info(L, st, n, &info);
  if (strcmp(key, "name") == 0) {
    lua_pushfstring(L, "%s:%d", info.name, (int)info.index);
    return 1;
  }
  if (strcmp(key, "op") == 0) {
    tl_push_operation(L, st, n->g, info.id);
    return 1;
  }
  if (strcmp(key, "device") == 0 || strcmp(key, "where") == 0) {
    lua_pushstring(L, key[0] == 'd' ? info.device : info.where);
    return 1;
  }
  if (strcmp(key, "value_index") == 0) {
    lua_pushinteger(L, info.index);
    return 1;
  }
  return tl_push_value_member(L, st, TL_NODE, 2);
}

static int node_rank(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_typed_shape t;
  tl_check_kind(L, st, 1, TL_NODE);
  tl_type_of(L, st, 1, &t);
  if (t.shape.rank < 0)
    lua_pushnil(L);
  else
    lua_pushinteger(L, t.shape.rank);
  return 1;
}

static int node_set_shape(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_node *n = (tl_node *)tl_check_kind(L, st, 1, TL_NODE);
  tfsdk_shape s;
  tl_check_shape(L, st, 2, "set_shape", "shape", &s);
  tl_check_op(L, st, tfsdk_graph_set_shape(n->g, n->v, &s), "set_shape");
  lua_settop(L, 1);
  return 1;
}

static int node_newindex(lua_State *L) {
  return tl_fail(L, tl_get(L), NULL, "a node cannot be written to");
}

/* -----------------------------------------------------------------------------------------
 * Operation */

static void push_attr(lua_State *L, tl_state *st, const tfsdk_attrval *a) {
  switch (a->kind) {
  case TFSDK_ATTR_INT: lua_pushinteger(L, a->v.i); return;
  case TFSDK_ATTR_FLOAT: lua_pushnumber(L, a->v.f); return;
  case TFSDK_ATTR_BOOL: lua_pushboolean(L, a->v.i != 0); return;
  case TFSDK_ATTR_STRING: lua_pushstring(L, a->v.s); return;
  case TFSDK_ATTR_DTYPE: lua_pushstring(L, tfsdk_dtype_name((int32_t)a->v.i)); return;
  case TFSDK_ATTR_TENSOR: {
    tl_tensor *box = tl_push_box(L, st);
    union { /* the attribute lends a tensor for reading; a second reference changes no data */
      const tfsdk_tensor *lent;
      tfsdk_tensor *own;
    } t;
    t.lent = a->v.tensor;
    if (t.own != NULL) tl_fill_box(L, st, box, tfsdk_tensor_retain(t.own));
    return;
  }
  case TFSDK_ATTR_SHAPE:
    if (a->n == TFSDK_UNKNOWN_RANK) {
      lua_pushboolean(L, 0);
      return;
    }
    break;
  default: break;
  }
  lua_createtable(L, (int)a->n, 0);
  for (uint32_t i = 0; i < a->n; i++) {
    switch (a->kind) {
    case TFSDK_ATTR_LIST_FLOAT: lua_pushnumber(L, a->v.floats[i]); break;
    case TFSDK_ATTR_LIST_STRING: lua_pushstring(L, a->v.strings[i]); break;
    case TFSDK_ATTR_LIST_DTYPE: lua_pushstring(L, tfsdk_dtype_name((int32_t)a->v.ints[i])); break;
    case TFSDK_ATTR_LIST_BOOL: lua_pushboolean(L, a->v.ints[i] != 0); break;
    case TFSDK_ATTR_LIST_SHAPE:
      tl_push_shape(L, &a->v.shapes[i]);
      if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, 0);
      }
      break;
    default: lua_pushinteger(L, a->v.ints[i]); break;
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static tl_operation *operation(lua_State *L, tl_state *st, tfsdk_node_info *out) {
  tl_operation *o = (tl_operation *)tl_check_kind(L, st, 1, TL_OPERATION);
  tl_check(L, st, tfsdk_graph_node(o->g, tfsdk_graph_value(o->id, 0), out));
  return o;
}

static int operation_get_attr(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_node_info info;
  const tfsdk_attrval *a;
  operation(L, st, &info);
  a = tfsdk_attr_find(&info.attr, luaL_checkstring(L, 2));
  if (a == NULL)
    return tl_fail_code(L, st, TFSDK_NOT_FOUND, info.op, "has no attribute '%s'",
                        lua_tostring(L, 2));
  push_attr(L, st, a);
  return 1;
}

static int operation_index(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_node_info info;
  tl_operation *o = operation(L, st, &info);
  const char *key = luaL_checkstring(L, 2);
  if (strcmp(key, "name") == 0)
    lua_pushstring(L, info.name);
  else if (strcmp(key, "type") == 0)
    lua_pushstring(L, info.op);
  else if (strcmp(key, "device") == 0)
    lua_pushstring(L, info.device);
  else if (strcmp(key, "where") == 0)
    lua_pushstring(L, info.where);
  else if (strcmp(key, "graph") == 0)
    tl_push_graph(L, st, o->g);
  else if (strcmp(key, "inputs") == 0) {
    int n = 0;
    lua_createtable(L, (int)info.n_in, 0);
    for (uint32_t i = 0; i < info.n_in; i++) {
      if (info.in[i].id == 0) continue; /* an optional input that is absent */
      tl_push_node(L, st, o->g, info.in[i]);
      lua_rawseti(L, -2, ++n);
    }
  } else if (strcmp(key, "outputs") == 0) {
    lua_createtable(L, (int)info.n_out, 0);
    for (uint32_t i = 0; i < info.n_out; i++) {
      tl_push_node(L, st, o->g, tfsdk_graph_value(o->id, i));
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
  } else if (strcmp(key, "control_inputs") == 0) {
    lua_createtable(L, (int)info.n_control, 0);
    for (uint32_t i = 0; i < info.n_control; i++) {
      tl_push_operation(L, st, o->g, info.control[i]);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
  } else if (strcmp(key, "attrs") == 0) {
    lua_createtable(L, 0, (int)info.attr.n);
    for (uint32_t i = 0; i < info.attr.n; i++) {
      push_attr(L, st, &info.attr.list[i]);
      lua_setfield(L, -2, info.attr.list[i].name);
    }
  } else
    tl_push_method(L, st, TL_OPERATION, 2);
  return 1;
}

static int operation_tostring(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_node_info info;
  operation(L, st, &info);
  lua_pushfstring(L, "Operation(\"%s\", %s)", info.name, info.op);
  return 1;
}

void tl_open_node(lua_State *L, tl_state *st) {
  static const luaL_Reg node_meta[] = {{"__tostring", node_tostring},
                                       {"__index", node_index},
                                       {"__newindex", node_newindex},
                                       {NULL, NULL}};
  static const luaL_Reg node_methods[] = {
      {"rank", node_rank}, {"set_shape", node_set_shape}, {NULL, NULL}};
  static const luaL_Reg operation_meta[] = {
      {"__tostring", operation_tostring}, {"__index", operation_index}, {NULL, NULL}};
  static const luaL_Reg operation_methods[] = {{"get_attr", operation_get_attr}, {NULL, NULL}};
  tl_new_meta(L, st, TL_NODE, node_meta, node_methods);
  tl_setfuncs(L, st, tl_value_metamethods);
  lua_pop(L, 1);
  tl_new_meta(L, st, TL_OPERATION, operation_meta, operation_methods);
  lua_pop(L, 1);
}
