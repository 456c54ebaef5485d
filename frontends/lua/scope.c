/* scope.c - where ops go: the stack of graphs and define-by-run regions, and the scopes of names,
 * devices, control dependencies and variables.
 *
 * Each scope is entered by a function and left in one of two ways: a script gives a function, which
 * is called inside, or keeps the returned object in a `<close>` variable. Leaving twice does
 * nothing.
 */
#include "ops.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum scope_kind {
  SCOPE_NAME,
  SCOPE_DEVICE,
  SCOPE_CONTROL,
  SCOPE_VARIABLE,
  SCOPE_MODE
} scope_kind;

typedef struct scope {
  scope_kind kind;
  int open;
  tfsdk_ctx *ctx, *second; /* devices apply to both modes */
  lua_Integer depth;       /* of modes */
} scope;                   /* user value 1: what must stay alive (a graph) */

int tl_is_eager(const tl_state *st) { return st->now > 0 || st->eager; }

/* Finds the present region from the top of the stack of modes. */
static void refresh(lua_State *L, tl_state *st) {
  lua_Integer d;
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_modes);
  st->eager = st->base_eager;
  st->graph = NULL;
  if (st->mode_depth > 0) {
    lua_rawgeti(L, -1, st->mode_depth);
    st->eager = lua_isboolean(L, -1);
    lua_pop(L, 1);
  }
  for (d = st->mode_depth; d >= 0 && st->graph == NULL; d--) {
    if (lua_rawgeti(L, -1, d) == LUA_TUSERDATA) st->graph = ((tl_graph *)lua_touserdata(L, -1))->g;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

tfsdk_graph *tl_current_graph(lua_State *L, tl_state *st) {
  if (st->graph == NULL) {
    tfsdk_graph *g = NULL;
    tl_check(L, st, tfsdk_graph_create(tl_runtime(L, st), &g));
    lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_modes);
    tl_push_graph(L, st, g);
    tfsdk_graph_release(g);
    if (st->options.has_seed) tfsdk_graph_set_seed(g, st->options.seed);
    if (st->options.device != NULL)
      tl_check(L, st, tfsdk_ctx_push_device(tfsdk_graph_ctx(g), st->options.device));
    lua_rawseti(L, -2, 0);
    lua_pop(L, 1);
    refresh(L, st);
  }
  return st->graph;
}

tfsdk_ctx *tl_context(lua_State *L, tl_state *st) {
  if (tl_is_eager(st)) return tfsdk_eager_ctx(tl_runtime(L, st));
  return tfsdk_graph_ctx(tl_current_graph(L, st));
}

/* ------------------------------------------------------------------------------------------
 * leaving */

static void leave(lua_State *L, tl_state *st, scope *s) {
  if (!s->open) return;
  s->open = 0;
  switch (s->kind) {
  case SCOPE_NAME: tfsdk_ctx_pop_name_scope(s->ctx); break;
  case SCOPE_DEVICE:
    if (s->ctx != NULL) tfsdk_ctx_pop_device(s->ctx);
    if (s->second != NULL) tfsdk_ctx_pop_device(s->second);
    break;
  case SCOPE_CONTROL: tfsdk_ctx_pop_control(s->ctx); break;
  case SCOPE_VARIABLE: tfsdk_ctx_pop_variable_scope(s->ctx); break;
  case SCOPE_MODE:
    if (st->mode_depth >= s->depth) { /* scopes inside that were never closed end with it */
      lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_modes);
      for (lua_Integer d = st->mode_depth; d >= s->depth; d--) {
        lua_pushnil(L);
        lua_rawseti(L, -2, d);
      }
      lua_pop(L, 1);
      st->mode_depth = s->depth - 1;
      refresh(L, st);
    }
    break;
  }
}

static int scope_close(lua_State *L) {
  leave(L, tl_get(L), (scope *)lua_touserdata(L, 1));
  return 0;
}

/* The scope's userdata is on top; a function at `fn` is called with `n_args` values found below it
 * and the scope is left. Returns what to return to Lua. */
static int enter(lua_State *L, tl_state *st, int fn, int arg) {
  int at = lua_gettop(L), status;
  if (fn == 0 || !lua_isfunction(L, fn)) return 1;
  lua_pushvalue(L, fn);
  if (arg != 0) lua_pushvalue(L, arg);
  status = lua_pcall(L, arg != 0, LUA_MULTRET, 0);
  leave(L, st, (scope *)lua_touserdata(L, at));
  if (status != LUA_OK) return lua_error(L);
  return lua_gettop(L) - at;
}

static scope *push_scope(lua_State *L, tl_state *st, scope_kind kind, tfsdk_ctx *ctx) {
  scope *s = (scope *)tl_new(L, st, TL_SCOPE, sizeof *s, 1);
  s->kind = kind;
  s->ctx = ctx;
  if (st->graph != NULL) { /* the context stays as long as the scope */
    tl_push_graph(L, st, st->graph);
    lua_setiuservalue(L, -2, 1);
  }
  return s;
}

/* The function among the arguments, if there is one. */
static int find_function(lua_State *L) {
  for (int i = lua_gettop(L); i > 0; i--)
    if (lua_isfunction(L, i)) return i;
  return 0;
}

/* --------------------------------------------------------------------------------------------
 * scopes */

/* tf.name_scope(name, [default_name], [values], [fn]); fn gets the scope's path, "a/b/". */
static int tf_name_scope(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_ctx *ctx;
  scope *s;
  const char *name;
  int fn = find_function(L), at;
  lua_settop(L, lua_gettop(L) < 4 ? 4 : lua_gettop(L));
  if (!lua_isstring(L, 1) && lua_toboolean(L, 1) && fn != 1)
    return tl_fail(L, st, "tf.name_scope", "the name must be a string, not %s",
                   tl_type_name(L, st, 1));
  name = lua_type(L, 1) == LUA_TSTRING   ? lua_tostring(L, 1)
         : lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2)
                                         : "";
  ctx = tl_context(L, st);
  s = push_scope(L, st, SCOPE_NAME, ctx);
  at = lua_gettop(L);
  tl_check_op(L, st, tfsdk_ctx_push_name_scope(ctx, name), "tf.name_scope");
  s->open = 1;
  lua_pushstring(L, tfsdk_ctx_name_scope(ctx));
  lua_pushvalue(L, at);
  return enter(L, st, fn, at + 1);
}

/* private.scope(name, default): the name scope of a function made of several ops; in define-by-run
 * mode, where names say nothing, a scope that is closed already. */
static int function_scope(lua_State *L) {
  tl_state *st = tl_get(L);
  if (!tl_is_eager(st) && !st->concrete) {
    lua_settop(L, 2);
    return tf_name_scope(L);
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_closed);
  return 1;
}

/* "/device:GPU:1", "/gpu:1", "gpu:1", "cuda:1", "/cpu:0" to "cuda:1" and "cpu:0". */
static void device_name(const char *text, char *out, size_t cap) {
  const char *last = strrchr(text, '/');
  size_t n = 0;
  if (last != NULL) text = last + 1;
  if (strncmp(text, "device:", 7) == 0) text += 7;
  while (*text != 0 && n + 8 < cap) out[n++] = (char)tolower((unsigned char)*text++);
  out[n] = 0;
  if (strncmp(out, "gpu", 3) == 0) {
    memmove(out + 4, out + 3, n - 2);
    memcpy(out, "cuda", 4);
  }
  if (out[0] != 0 && strchr(out, ':') == NULL && strlen(out) + 3 < cap) strcat(out, ":0");
}

static int tf_device(lua_State *L) {
  tl_state *st = tl_get(L);
  char name[128];
  const char *device = NULL;
  scope *s;
  int fn = find_function(L);
  lua_settop(L, 2);
  if (lua_type(L, 1) == LUA_TSTRING) {
    device_name(lua_tostring(L, 1), name, sizeof name);
    device = name;
  } else if (fn == 1 || (!lua_isnil(L, 1) && !lua_isboolean(L, 1))) {
    return tl_fail(L, st, "tf.device", "expected a device like \"cpu:0\", got %s",
                   tl_type_name(L, st, 1));
  }
  s = push_scope(L, st, SCOPE_DEVICE, tfsdk_eager_ctx(tl_runtime(L, st)));
  if (tl_is_eager(st)) {
    tl_check_op(L, st, tfsdk_ctx_push_device(s->ctx, device), "tf.device");
    s->open = 1;
    if (st->graph == NULL) return enter(L, st, fn, 0);
  } else { /* a graph may be made for a device of another machine: its sessions decide */
    tfsdk_status *missing = tfsdk_ctx_push_device(s->ctx, device);
    if (missing != NULL) s->ctx = NULL;
    tfsdk_status_release(missing);
    s->open = 1;
  }
  {
    tfsdk_ctx *graph = tfsdk_graph_ctx(tl_current_graph(L, st));
    tl_check_op(L, st, tfsdk_ctx_push_device(graph, device), "tf.device");
    s->second = graph;
  }
  return enter(L, st, fn, 0);
}

static void add_control(tfsdk_val *out, size_t *n, tfsdk_val v) {
  if (out != NULL) out[*n] = v;
  (*n)++;
}

/* Collects the values to wait for; tables are lists of them. Without `out` it only counts. */
static void collect_control(lua_State *L, tl_state *st, int at, tfsdk_val *out, size_t *n) {
  tl_kind k = tl_kind_of(L, st, at);
  if (k == TL_NONE && lua_istable(L, at)) {
    if (lua_gettop(L) > TL_NEST_LIMIT)
      tl_fail(L, st, "tf.control_dependencies", "the list is nested too deep");
    luaL_checkstack(L, 4, NULL);
    for (lua_Integer i = 1, m = (lua_Integer)lua_rawlen(L, at); i <= m; i++) {
      lua_rawgeti(L, at, i);
      collect_control(L, st, lua_gettop(L), out, n);
      lua_pop(L, 1);
    }
    return;
  }
  if (k == TL_NONE && lua_isboolean(L, at))
    return; /* none, or what is done: `true` of an op that ran */
  switch (k) {
  case TL_NODE: add_control(out, n, ((tl_node *)lua_touserdata(L, at))->v); return;
  case TL_OPERATION:
    add_control(out, n, tfsdk_graph_value(((tl_operation *)lua_touserdata(L, at))->id, 0));
    return;
  case TL_VARIABLE: {
    const tl_variable *v = (const tl_variable *)lua_touserdata(L, at);
    if (v->g != NULL) add_control(out, n, tfsdk_variable_handle(v->v));
    return;
  }
  case TL_TENSOR: return; /* is there already */
  case TL_SLICES:
    lua_getfield(L, at, "values");
    collect_control(L, st, lua_gettop(L), out, n);
    lua_pop(L, 1);
    return;
  default: tl_fail(L, st, "tf.control_dependencies", "cannot wait for %s", tl_type_name(L, st, at));
  }
}

/* tf.control_dependencies({ops}, [fn]); nil or false: forgets those outside. */
static int tf_control_dependencies(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_val *list = NULL;
  size_t n = 0;
  scope *s;
  int fn = find_function(L);
  lua_settop(L, 2);
  if (fn == 1)
    return tl_fail(L, st, "tf.control_dependencies", "the list of operations is missing");
  if (lua_toboolean(L, 1)) {
    collect_control(L, st, 1, NULL, &n);
    list = (tfsdk_val *)lua_newuserdatauv(L, (n + 1) * sizeof *list, 0); /* the collector's own */
    n = 0;
    collect_control(L, st, 1, list, &n);
    lua_replace(L, 1);
  }
  s = push_scope(L, st, SCOPE_CONTROL, tl_context(L, st));
  if (n > 0 || list == NULL) {
    tl_check_op(L, st, tfsdk_ctx_push_control(s->ctx, list, n), "tf.control_dependencies");
    s->open = 1;
  }
  return enter(L, st, fn, 0);
}

static int push_mode(lua_State *L, tl_state *st, int graph_at, int fn) {
  scope *s = push_scope(L, st, SCOPE_MODE, NULL);
  int at = lua_gettop(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_modes);
  if (graph_at != 0)
    lua_pushvalue(L, graph_at);
  else
    lua_pushboolean(L, 0);
  lua_rawseti(L, -2, st->mode_depth + 1);
  s->depth = ++st->mode_depth;
  s->open = 1;
  lua_settop(L, at);
  refresh(L, st);
  return enter(L, st, fn, graph_at);
}

/* graph:as_default([fn]) */
static int graph_as_default(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_check_kind(L, st, 1, TL_GRAPH);
  lua_settop(L, 2);
  return push_mode(L, st, 1, 2);
}

/* tf.eager([fn]): define-by-run for the function, or until the scope is closed. */
static int tf_eager(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_settop(L, 1);
  return push_mode(L, st, 0, 1);
}

static int tf_enable_eager_execution(lua_State *L) {
  tl_state *st = tl_get(L);
  st->base_eager = 1;
  refresh(L, st);
  return 0;
}

static int tf_executing_eagerly(lua_State *L) {
  lua_pushboolean(L, tl_is_eager(tl_get(L)));
  return 1;
}

static int tf_reset_default_graph(lua_State *L) {
  tl_state *st = tl_get(L);
  if (st->mode_depth > 0)
    return tl_fail(L, st, "tf.reset_default_graph", "cannot be used inside a graph's scope");
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_modes);
  lua_pushnil(L);
  lua_rawseti(L, -2, 0);
  refresh(L, st);
  return 0;
}

/* private.variable_scope(path, reuse, absolute): the core's part of a variable scope. */
static int push_variable_scope(lua_State *L) {
  tl_state *st = tl_get(L);
  scope *s;
  const char *name = luaL_checkstring(L, 1);
  int32_t reuse = (int32_t)luaL_optinteger(L, 2, TFSDK_REUSE_INHERIT);
  s = push_scope(L, st, SCOPE_VARIABLE, tl_context(L, st));
  tl_check_op(L, st, tfsdk_ctx_push_variable_scope(s->ctx, name, reuse, lua_toboolean(L, 3)),
              "tf.variable_scope");
  s->open = 1;
  return 1;
}

static int current_name_scope(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_pushstring(L, tfsdk_ctx_name_scope(tl_context(L, st)));
  return 1;
}

/* private.with_now(fn, ...): calls fn so that ops without inputs run at once. */
static int with_now(lua_State *L) {
  tl_state *st = tl_get(L);
  int status;
  st->now++;
  status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  st->now--;
  if (status != LUA_OK) return lua_error(L);
  return lua_gettop(L);
}

/* private.is_graph(values...): whether an op of these values makes a node. */
static int is_graph(lua_State *L) {
  tl_state *st = tl_get(L);
  int n = lua_gettop(L), tensor = 0;
  for (int i = 1; i <= n; i++) {
    tl_kind k = tl_kind_of(L, st, i);
    if (k == TL_SLICES) {
      lua_getfield(L, i, "values");
      lua_replace(L, i);
      k = tl_kind_of(L, st, i);
    }
    if (k == TL_NODE || k == TL_OPERATION ||
        (k == TL_VARIABLE && ((tl_variable *)lua_touserdata(L, i))->g != NULL)) {
      lua_pushboolean(L, 1);
      return 1;
    }
    tensor |= k == TL_TENSOR || k == TL_VARIABLE;
  }
  lua_pushboolean(L, !tensor && !tl_is_eager(st));
  return 1;
}

static int set_seed(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_Integer seed = luaL_checkinteger(L, 1);
  tl_runtime(L, st);
  if (tl_is_eager(st)) {
    tfsdk_runtime_set_seed(st->rt, seed);
    return 0;
  }
  tl_push_graph(L, st, tl_current_graph(L, st));
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "seed");
  return 0;
}

static int where_now(lua_State *L) {
  char where[512];
  tl_where(L, where, sizeof where);
  lua_pushstring(L, where);
  return 1;
}

void tl_open_scope(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {{"__close", scope_close}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"close", scope_close}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"name_scope", tf_name_scope},
                                       {"device", tf_device},
                                       {"control_dependencies", tf_control_dependencies},
                                       {"eager", tf_eager},
                                       {"enable_eager_execution", tf_enable_eager_execution},
                                       {"executing_eagerly", tf_executing_eagerly},
                                       {"reset_default_graph", tf_reset_default_graph},
                                       {NULL, NULL}};
  static const luaL_Reg graph_methods[] = {{"as_default", graph_as_default}, {NULL, NULL}};
  static const luaL_Reg hidden[] = {{"scope", function_scope},
                                    {"variable_scope", push_variable_scope},
                                    {"name_scope", current_name_scope},
                                    {"with_now", with_now},
                                    {"is_graph", is_graph},
                                    {"set_seed", set_seed},
                                    {"where", where_now},
                                    {NULL, NULL}};
  tl_new_meta(L, st, TL_SCOPE, meta, NULL);
  lua_newtable(L);
  tl_setfuncs(L, st, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
  tl_new(L, st, TL_SCOPE, sizeof(scope), 1);
  st->ref_closed = luaL_ref(L, LUA_REGISTRYINDEX);
  tl_push_namespace(L, st, "Graph");
  tl_setfuncs(L, st, graph_methods);
  lua_pop(L, 1);
  tl_add_public(L, st, functions);
  tl_add_private(L, st, hidden);
}
