/* variable.c - tf.Variable objects; what they can do besides being read is in lua/variables.lua. */
#include "ops.h"

#include <tfsdk/shape.h>

#include <stdio.h>
#include <stdlib.h>

void tl_push_variable(lua_State *L, tl_state *st, tfsdk_variable *take, tfsdk_graph *g) {
  tl_variable *box;
  luaL_checkstack(L, 6, NULL);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_variables);
  if (lua_rawgetp(L, -1, take) == LUA_TUSERDATA) {
    tfsdk_variable_release(take);
    lua_remove(L, -2);
    return;
  }
  lua_pop(L, 1);
  box = (tl_variable *)tl_new(L, st, TL_VARIABLE, sizeof *box, 1);
  box->v = take;
  box->g = g;
  if (g != NULL) {
    tl_push_graph(L, st, g);
    lua_setiuservalue(L, -2, 1);
  }
  lua_pushvalue(L, -1);
  lua_rawsetp(L, -3, take);
  lua_remove(L, -2);
}

static tl_variable *check_variable(lua_State *L, tl_state *st) {
  return (tl_variable *)tl_check_kind(L, st, 1, TL_VARIABLE);
}

static int variable_gc(lua_State *L) {
  tl_variable *box = (tl_variable *)lua_touserdata(L, 1);
  tfsdk_variable *v = box->v;
  box->v = NULL;
  tfsdk_variable_release(v);
  return 0;
}

static int variable_tostring(lua_State *L) {
  tl_state *st = tl_get(L);
  const tl_variable *v = check_variable(L, st);
  lua_pushfstring(L, "Variable(\"%s:0\", shape=%s, dtype=%s)", tfsdk_variable_name(v->v),
                  tfsdk_shape_text(tfsdk_variable_shape(v->v)).s,
                  tfsdk_dtype_name(tfsdk_variable_dtype(v->v)));
  if (v->g == NULL) { /* define-by-run: the value, too */
    tl_push_value(L, st, 1, 0, NULL);
    lua_pushliteral(L, "\n");
    luaL_tolstring(L, -2, NULL);
    lua_remove(L, -3);
    lua_concat(L, 3);
  }
  return 1;
}

static int push_graph_value(lua_State *L, tl_state *st, const tl_variable *v, tfsdk_val value) {
  if (v->g == NULL || value.id == 0)
    lua_pushnil(L);
  else
    tl_push_node(L, st, v->g, value);
  return 1;
}

static int variable_index(lua_State *L) {
  tl_state *st = tl_get(L);
  const tl_variable *v = check_variable(L, st);
  const char *key;
  if (lua_type(L, 2) != LUA_TSTRING) return tl_index_value(L, st, 1, 2);
  key = lua_tostring(L, 2);
  if (strcmp(key, "name") == 0) {
    lua_pushfstring(L, "%s:0", tfsdk_variable_name(v->v));
    return 1;
  }
  if (strcmp(key, "shape") == 0) {
    tl_push_shape(L, tfsdk_variable_shape(v->v));
    return 1;
  }
  if (strcmp(key, "dtype") == 0) {
    lua_pushstring(L, tfsdk_dtype_name(tfsdk_variable_dtype(v->v)));
    return 1;
  }
  if (strcmp(key, "trainable") == 0) {
    lua_pushboolean(L, tfsdk_variable_trainable(v->v));
    return 1;
  }
  if (strcmp(key, "handle") == 0) {
    if (v->g == NULL) { /* the resource as a tensor */
      tl_tensor *box = tl_push_box(L, st);
      tl_fill_box(L, st, box, tfsdk_tensor_retain(tfsdk_eager_tensor(tfsdk_variable_handle(v->v))));
      return 1;
    }
    return push_graph_value(L, st, v, tfsdk_variable_handle(v->v));
  }
  if (strcmp(key, "initial_value") == 0)
    return push_graph_value(L, st, v, tfsdk_variable_initial(v->v));
  if (strcmp(key, "op") == 0) {
    tfsdk_node_info info;
    if (v->g == NULL) {
      lua_pushnil(L);
      return 1;
    }
    tl_check(L, st, tfsdk_graph_node(v->g, tfsdk_variable_handle(v->v), &info));
    tl_push_operation(L, st, v->g, info.id);
    return 1;
  }
  if (strcmp(key, "initializer") == 0) {
    tfsdk_node_info info;
    tfsdk_val init = tfsdk_variable_initializer(v->v);
    if (v->g == NULL || init.id == 0) {
      lua_pushnil(L);
      return 1;
    }
    tl_check(L, st, tfsdk_graph_node(v->g, init, &info));
    tl_push_operation(L, st, v->g, info.id);
    return 1;
  }
  if (strcmp(key, "graph") == 0) {
    if (v->g == NULL)
      lua_pushnil(L);
    else
      tl_push_graph(L, st, v->g);
    return 1;
  }
  return tl_push_value_member(L, st, TL_VARIABLE, 2);
}

static int variable_newindex(lua_State *L) {
  return tl_fail(L, tl_get(L), NULL, "a variable is written with :assign(value)");
}

static int variable_value(lua_State *L) {
  tl_state *st = tl_get(L);
  check_variable(L, st);
  tl_push_value(L, st, 1, 0, NULL);
  return 1;
}

/* -------------------------------------------------------------------------------------------
 * making */

/* private.variable{name=, dtype=, shape=, init= (tensor or node), trainable=, get= (bool)}: a
 * variable of the present mode; `get` resolves the name in the variable scope. Returns it and
 * whether it was made. */
static int make_variable(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_varspec spec;
  tfsdk_variable *v = NULL;
  tfsdk_ctx *ctx;
  int32_t created = 1;
  int get, eager = tl_is_eager(st);
  const char *name;
  tfsdk_graph *g = eager ? NULL : tl_current_graph(L, st);
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  memset(&spec, 0, sizeof spec);
  spec.struct_size = (uint32_t)sizeof spec;
  lua_getfield(L, 1, "name");
  name = luaL_checkstring(L, 2);
  lua_getfield(L, 1, "init");
  switch (tl_kind_of(L, st, 3)) {
  case TL_NONE:
    if (lua_isnil(L, 3)) break;
    tl_fail(L, st, name, "the initial value must be a tensor");
    break;
  case TL_TENSOR:
    if (eager) {
      spec.init = tfsdk_eager_val(tl_check_tensor(L, st, 3));
    } else {
      tl_mark_where(L, g);
      spec.init = tl_emit_const(L, st, g, tl_check_tensor(L, st, 3));
    }
    break;
  case TL_NODE: {
    tl_node *n = (tl_node *)lua_touserdata(L, 3);
    if (eager || n->g != g)
      tl_fail(L, st, name,
              "the initial value is a node of another graph, or of a graph in "
              "define-by-run mode");
    spec.init = n->v;
    break;
  }
  default: tl_fail(L, st, name, "the initial value cannot be a %s", tl_type_name(L, st, 3));
  }
  spec.shape.rank = -1;
  if (!lua_isnil(L, 3)) {
    tfsdk_typed_shape t;
    tl_type_of(L, st, 3, &t);
    spec.shape = t.shape;
    spec.dtype = t.dtype;
  }
  lua_getfield(L, 1, "shape");
  if (!lua_isnil(L, 4)) tl_check_shape(L, st, 4, name, "shape", &spec.shape);
  lua_getfield(L, 1, "dtype");
  if (!lua_isnil(L, 5)) spec.dtype = tl_check_dtype(L, st, 5, name, "dtype");
  lua_getfield(L, 1, "trainable");
  spec.not_trainable = lua_isboolean(L, 6) && !lua_toboolean(L, 6);
  lua_getfield(L, 1, "get");
  get = lua_toboolean(L, 7);
  ctx = tl_context(L, st);
  if (!eager) tl_mark_where(L, g);
  if (get) {
    tl_check_op(L, st, tfsdk_variable_get(ctx, name, &spec, &created, &v), "tf.get_variable");
    tfsdk_variable_retain(v);
  } else {
    tl_check_op(L, st, tfsdk_variable_create(ctx, name, &spec, &v), "tf.Variable");
  }
  tl_push_variable(L, st, v, g);
  lua_pushboolean(L, created);
  return 2;
}

typedef struct visit {
  lua_State *L;
  tl_state *st;
  tfsdk_graph *g;
} visit;

static int each_variable(void *user, tfsdk_variable *v) {
  const visit *w = (const visit *)user;
  tl_push_variable(w->L, w->st, tfsdk_variable_retain(v), w->g);
  lua_rawseti(w->L, -2, (lua_Integer)lua_rawlen(w->L, -2) + 1);
  return 0;
}

/* private.variables(): all variables of the present graph (or of define-by-run), in order of
 * making. */
static int all_variables(lua_State *L) {
  tl_state *st = tl_get(L);
  visit w;
  w.L = L;
  w.st = st;
  if (tl_kind_of(L, st, 1) == TL_GRAPH) {
    w.g = ((tl_graph *)lua_touserdata(L, 1))->g;
    lua_newtable(L);
    tfsdk_variable_each(tfsdk_graph_ctx(w.g), each_variable, &w);
    return 1;
  }
  w.g = tl_is_eager(st) ? NULL : tl_current_graph(L, st);
  lua_newtable(L);
  tfsdk_variable_each(tl_context(L, st), each_variable, &w);
  return 1;
}

/* private.assign_now(variable, tensor): sets an eager variable without a record on any tape. */
static int assign_now(lua_State *L) {
  tl_state *st = tl_get(L);
  const tl_variable *v = check_variable(L, st);
  tl_check_op(L, st, tfsdk_variable_assign(v->v, tl_check_tensor(L, st, 2)), "assign");
  return 0;
}

static int variable_path(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_pushstring(L, tfsdk_ctx_variable_scope(tl_context(L, st)));
  lua_pushinteger(L, tfsdk_ctx_reuse(tl_context(L, st)));
  return 2;
}

void tl_open_variable(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {{"__gc", variable_gc},
                                  {"__tostring", variable_tostring},
                                  {"__index", variable_index},
                                  {"__newindex", variable_newindex},
                                  {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"value", variable_value}, {"read_value", variable_value}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"variable", make_variable},
                                       {"variables", all_variables},
                                       {"assign_now", assign_now},
                                       {"variable_path", variable_path},
                                       {NULL, NULL}};
  tl_new_meta(L, st, TL_VARIABLE, meta, methods);
  tl_setfuncs(L, st, tl_value_metamethods);
  lua_pop(L, 1);
  tl_add_private(L, st, functions);
}
