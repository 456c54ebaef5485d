/* graph.c - tf.Graph: looking into a graph. Collections and other book-keeping live in its data
 * table, which facade files fill. */
#include "ops.h"

#include <stdio.h>
#include <stdlib.h>

void tl_push_graph(lua_State *L, tl_state *st, tfsdk_graph *g) {
  tl_graph *box;
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_graphs);
  if (lua_rawgetp(L, -1, g) == LUA_TUSERDATA) {
    lua_remove(L, -2);
    return;
  }
  lua_pop(L, 1);
  box = (tl_graph *)tl_new(L, st, TL_GRAPH, sizeof *box, 2);
  box->g = tfsdk_graph_retain(g);
  if (st->filter != NULL) tl_filter(L, st, tfsdk_graph_ctx(g));
  lua_newtable(L); /* nodes by id, as long as a script holds them */
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_setiuservalue(L, -2, 1);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 2);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, -3, g);
  lua_remove(L, -2);
}

static tfsdk_graph *check_graph(lua_State *L, tl_state *st) {
  return ((tl_graph *)tl_check_kind(L, st, 1, TL_GRAPH))->g;
}

static int graph_gc(lua_State *L) {
  tl_graph *box = (tl_graph *)lua_touserdata(L, 1);
  tfsdk_graph_release(box->g);
  box->g = NULL;
  return 0;
}

static int graph_tostring(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_pushfstring(L, "Graph(%d nodes)", (int)tfsdk_graph_node_count(check_graph(L, st)));
  return 1;
}

static int graph_index(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_graph *g = check_graph(L, st);
  const char *key = luaL_checkstring(L, 2);
  if (strcmp(key, "finalized") == 0) {
    lua_pushboolean(L, tfsdk_graph_is_finalized(g));
    return 1;
  }
  if (strcmp(key, "version") == 0) {
    lua_pushinteger(L, tfsdk_graph_node_count(g));
    return 1;
  }
  if (strcmp(key, "seed") == 0) {
    lua_getiuservalue(L, 1, 2);
    lua_getfield(L, -1, "seed");
    return 1;
  }
  tl_push_method(L, st, TL_GRAPH, 2);
  return 1;
}

static int graph_newindex(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_graph *g = check_graph(L, st);
  if (lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "seed") == 0) {
    tfsdk_graph_set_seed(g, luaL_checkinteger(L, 3));
    lua_getiuservalue(L, 1, 2);
    lua_pushvalue(L, 3);
    lua_setfield(L, -2, "seed");
    return 0;
  }
  return tl_fail(L, st, "Graph", "the only field that can be set is 'seed'");
}

static int graph_get_operations(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_graph *g = check_graph(L, st);
  uint32_t n = tfsdk_graph_node_count(g);
  lua_createtable(L, (int)n, 0);
  for (uint32_t i = 0; i < n; i++) {
    tl_push_operation(L, st, g, i);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* "name" or "name:0" to a value. */
static tfsdk_val find(lua_State *L, tl_state *st, tfsdk_graph *g, const char *name,
                      const char *op) {
  tfsdk_val v = tfsdk_none();
  tl_check_op(L, st, tfsdk_graph_find(g, name, &v), op);
  return v;
}

static int graph_get_operation_by_name(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_graph *g = check_graph(L, st);
  tfsdk_node_info info;
  tfsdk_val v = find(L, st, g, luaL_checkstring(L, 2), "get_operation_by_name");
  tl_check(L, st, tfsdk_graph_node(g, v, &info));
  tl_push_operation(L, st, g, info.id);
  return 1;
}

static int graph_get_tensor_by_name(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_graph *g = check_graph(L, st);
  tl_push_node(L, st, g, find(L, st, g, luaL_checkstring(L, 2), "get_tensor_by_name"));
  return 1;
}

static int graph_finalize(lua_State *L) {
  tfsdk_graph_finalize(check_graph(L, tl_get(L)));
  return 0;
}

static int graph_unique_name(lua_State *L) {
  tl_state *st = tl_get(L);
  char name[512];
  tl_check_op(
      L, st, tfsdk_graph_unique_name(check_graph(L, st), luaL_checkstring(L, 2), name, sizeof name),
      "unique_name");
  lua_pushstring(L, name);
  return 1;
}

/* private.graph_data(g): the table of collections and other facts; of the present graph without g.
 */
static int graph_data(lua_State *L) {
  tl_state *st = tl_get(L);
  if (lua_isnoneornil(L, 1)) {
    lua_settop(L, 0);
    tl_push_graph(L, st, tl_current_graph(L, st));
  }
  check_graph(L, st);
  lua_getiuservalue(L, 1, 2);
  return 1;
}

static int tf_get_default_graph(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_push_graph(L, st, tl_current_graph(L, st));
  return 1;
}

/* tf.Graph(), or tf.Graph(fn): fn(graph) runs with the graph as the default one. */
static int tf_graph(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_graph *g = NULL;
  lua_settop(L, 1);
  tl_check_op(L, st, tfsdk_graph_create(tl_runtime(L, st), &g), "tf.Graph");
  tl_push_graph(L, st, g);
  tfsdk_graph_release(g); /* the userdata has its own reference */
  if (lua_isfunction(L, 1)) {
    lua_getfield(L, 2, "as_default");
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 1);
    lua_call(L, 2, 0);
  }
  lua_settop(L, 2);
  return 1;
}

void tl_open_graph(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {{"__gc", graph_gc},
                                  {"__tostring", graph_tostring},
                                  {"__index", graph_index},
                                  {"__newindex", graph_newindex},
                                  {NULL, NULL}};
  static const luaL_Reg methods[] = {{"get_operations", graph_get_operations},
                                     {"get_operation_by_name", graph_get_operation_by_name},
                                     {"get_tensor_by_name", graph_get_tensor_by_name},
                                     {"finalize", graph_finalize},
                                     {"unique_name", graph_unique_name},
                                     {NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"get_default_graph", tf_get_default_graph}, {"Graph", tf_graph}, {NULL, NULL}};
  static const luaL_Reg hidden[] = {{"graph_data", graph_data}, {NULL, NULL}};
  tl_new_meta(L, st, TL_GRAPH, meta, methods);
  lua_pop(L, 1);
  tl_add_public(L, st, functions);
  tl_add_private(L, st, hidden);
}
