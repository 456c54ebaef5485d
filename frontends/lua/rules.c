/* rules.c - what holds for ops while it is pushed: gradients that are Lua functions, and computing in
 * 16 bits (autocast.c). And what tf.recompute_grad needs of graphs and tapes.
 *
 * A gradient's function gets one table: op, inputs, outputs, dys, wants (lists; false: not there), and
 * gives a list of gradients of the inputs. Functions of a graph live in its data table, so that what
 * they hold (nodes, thereby the graph) can be collected with it; those of tapes in the registry. */
#include "ops.h"

#include <stdlib.h>

typedef struct rule {
  tl_state *st;
  tfsdk_graph *graph; /* lent: a rule of its nodes goes before it does. NULL: of tapes */
  int ref;            /* key of the function */
} rule;

static const char error_key = 0; /* registry: what the last function raised */

static void push_functions(lua_State *L, tl_state *st, tfsdk_graph *g) {
  tl_push_graph(L, st, g);
  lua_getiuservalue(L, -1, 2);
  if (lua_getfield(L, -1, "gradient_functions") != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "gradient_functions");
  }
  lua_replace(L, -3);
  lua_pop(L, 1);
}

static void release(void *user) {
  rule *r = (rule *)user;
  if (r->graph == NULL) luaL_unref(r->st->main, LUA_REGISTRYINDEX, r->ref);
  free(r);
}

typedef struct asking {
  rule *r;
  tfsdk_gradcall *g;
} asking;

static void push_val(lua_State *L, const rule *r, tfsdk_val v) {
  if (v.id == 0) {
    lua_pushboolean(L, 0);
  } else if (r->graph != NULL) {
    tl_push_node(L, r->st, r->graph, v);
  } else {
    tl_tensor *box = tl_push_box(L, r->st);
    tl_fill_box(L, r->st, box, tfsdk_tensor_retain(tfsdk_eager_tensor(v)));
  }
}

static void push_list(lua_State *L, const asking *a, const char *key, uint32_t n,
                      tfsdk_val (*get)(tfsdk_gradcall *, uint32_t)) {
  lua_createtable(L, (int)n, 0);
  for (uint32_t i = 0; i < n; i++) {
    push_val(L, a->r, get(a->g, i));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, key);
}

static tfsdk_val value_at(lua_State *L, const asking *a, int at) {
  tl_kind k = tl_kind_of(L, a->r->st, at);
  if (k == TL_NODE) return ((const tl_node *)lua_touserdata(L, at))->v;
  if (a->r->graph == NULL) return tfsdk_eager_val(tl_check_tensor(L, a->r->st, at));
  return tl_emit_const(L, a->r->st, a->r->graph, tl_check_tensor(L, a->r->st, at));
}

static tfsdk_val field_at(lua_State *L, const asking *a, int at, const char *key) {
  tfsdk_val v;
  lua_getfield(L, at, key);
  v = value_at(L, a, lua_gettop(L));
  lua_pop(L, 1);
  return v;
}

/* (function, asking), inside lua_pcall */
static int ask(lua_State *L) {
  asking *a = (asking *)lua_touserdata(L, 2);
  tl_state *st = a->r->st;
  lua_pushvalue(L, 1);
  lua_createtable(L, 0, 6);
  lua_pushstring(L, a->g->op->name);
  lua_setfield(L, -2, "op");
  push_list(L, a, "inputs", a->g->n_in, tfsdk_input);
  push_list(L, a, "outputs", a->g->n_out, tfsdk_output);
  push_list(L, a, "dys", a->g->n_out, tfsdk_dy);
  lua_createtable(L, (int)a->g->n_in, 0);
  for (uint32_t i = 0; i < a->g->n_in; i++) {
    lua_pushboolean(L, tfsdk_wants(a->g, i));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "wants");
  lua_call(L, 1, 1);
  if (lua_isnil(L, 3)) return 0;
  if (tl_kind_of(L, st, 3) != TL_NONE || !lua_istable(L, 3))
    return tl_fail(L, st, a->g->op->name, "the gradient's function must give a list, not %s",
                   tl_type_name(L, st, 3));
  for (uint32_t i = 0; i < a->g->n_in; i++) {
    lua_rawgeti(L, 3, (lua_Integer)i + 1);
    if (lua_toboolean(L, 4) && tfsdk_wants(a->g, i)) {
      if (tl_kind_of(L, st, 4) == TL_SLICES) {
        tl_check(L, st,
                 tfsdk_set_dx_slices(a->g, i, field_at(L, a, 4, "indices"),
                                     field_at(L, a, 4, "values")));
      } else {
        tl_push_value(L, st, 4, 0, "gradient");
        tl_check(L, st, tfsdk_set_dx(a->g, i, value_at(L, a, 5)));
      }
    }
    lua_settop(L, 3);
  }
  return 0;
}

static tfsdk_status *gradient(void *user, tfsdk_ctx *c, tfsdk_gradcall *g) {
  asking a = {(rule *)user, g};
  lua_State *L = a.r->st->L;
  int top = lua_gettop(L);
  tfsdk_status *s;
  if (!lua_checkstack(L, 16)) return TFSDK_FAIL(c, RESOURCE_EXHAUSTED, "the Lua stack is full");
  lua_pushcfunction(L, ask);
  if (a.r->graph != NULL) {
    push_functions(L, a.r->st, a.r->graph);
    lua_rawgeti(L, -1, a.r->ref);
    lua_remove(L, -2);
  } else {
    lua_rawgeti(L, LUA_REGISTRYINDEX, a.r->ref);
  }
  lua_pushlightuserdata(L, &a);
  if (lua_pcall(L, 2, 0, 0) == LUA_OK) {
    if (a.r->graph != NULL) tl_mark_where(L, a.r->graph);
    return NULL;
  }
  s = TFSDK_FAIL(c, ABORTED, "%s", luaL_tolstring(L, -1, NULL));
  lua_pushvalue(L, top + 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
  lua_settop(L, top);
  return s;
}

void tl_check_gradient(lua_State *L, tl_state *st, tfsdk_status *s, const char *op) {
  int raised = lua_rawgetp(L, LUA_REGISTRYINDEX, &error_key) != LUA_TNIL;
  if (!raised) lua_pop(L, 1);
  if (s == NULL && raised) lua_pop(L, 1); /* somebody caught it */
  if (raised) {
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
  }
  if (s != NULL && raised) {
    tfsdk_status_release(s);
    lua_error(L);
  }
  tl_check_op(L, st, s, op);
}

/* private.push_gradient(op, fn, keep): for ops of that name of the present region, till
 * pop_gradient(). keep: 1 inputs, 2 outputs, of what tapes record. */
static int push_gradient(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_ctx *ctx = tl_context(L, st);
  const char *op = luaL_checkstring(L, 1);
  tfsdk_gradient_rule def = {sizeof def, (uint32_t)luaL_checkinteger(L, 3), gradient, release,
                             NULL};
  rule *r = (rule *)malloc(sizeof *r);
  if (r == NULL) return tl_fail_code(L, st, TFSDK_RESOURCE_EXHAUSTED, op, "no memory");
  r->st = st;
  r->graph = tl_is_eager(st) ? NULL : tl_current_graph(L, st);
  def.user = r;
  if (r->graph != NULL) {
    push_functions(L, st, r->graph);
    lua_pushvalue(L, 2);
    r->ref = (int)lua_rawlen(L, -2) + 1;
    lua_rawseti(L, -2, r->ref);
  } else {
    lua_pushvalue(L, 2);
    r->ref = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  tl_check_op(L, st, tfsdk_ctx_push_gradient(ctx, op, &def), "gradient_override_map");
  return 0;
}

static int pop_gradient(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_ctx_pop_gradient(tl_context(L, st));
  return 0;
}

/* ------------------------------------------------------------------------------- recomputing */

static int hide_tapes(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_tapes_hide(tl_runtime(L, st));
  return 0;
}

static int show_tapes(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_tapes_show(tl_runtime(L, st));
  return 0;
}

static tfsdk_val input_of(lua_State *L, tl_state *st, int map, tfsdk_graph *g, tfsdk_val v) {
  if (v.id == 0) return v;
  if (lua_rawgeti(L, map, (lua_Integer)v.id) == LUA_TNIL) {
    lua_pop(L, 1);
    return v;
  }
  v = ((const tl_node *)tl_check_kind(L, st, lua_gettop(L), TL_NODE))->v;
  (void)g;
  lua_pop(L, 1);
  return v;
}

/* private.copy_node(graph, id, map): emits the node again, with the inputs that `map` (value id ->
 * node) has in place of its own; its outputs are put into `map`. */
static int copy_node(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_graph *g = ((tl_graph *)tl_check_kind(L, st, 1, TL_GRAPH))->g;
  tfsdk_ctx *ctx = tfsdk_graph_ctx(g);
  uint32_t id = (uint32_t)luaL_checkinteger(L, 2);
  tfsdk_node_info info;
  tfsdk_val *in, *out;
  const char *last;
  lua_settop(L, 3);
  tl_check(L, st, tfsdk_graph_node(g, tfsdk_graph_value(id, 0), &info));
  in = (tfsdk_val *)lua_newuserdatauv(L, (info.n_in + info.n_out + 1u) * sizeof *in, 0);
  out = in + info.n_in;
  memset(out, 0, (info.n_out + 1u) * sizeof *out);
  luaL_checkstack(L, 8, NULL);
  for (uint32_t i = 0; i < info.n_in; i++) in[i] = input_of(L, st, 3, g, info.in[i]);
  tfsdk_graph_set_where(g, info.where);
  last = strrchr(info.name, '/');
  tfsdk_graph_set_name(g, last != NULL ? last + 1 : info.name);
  tl_check_op(L, st, tfsdk_ctx_push_device(ctx, info.device), info.op);
  {
    tfsdk_status *s = ctx->api->emit(ctx, info.op, in, info.n_in, info.attr.list, info.attr.n, out,
                                     info.n_out > 0 ? info.n_out : 1);
    tfsdk_ctx_pop_device(ctx);
    tl_check_op(L, st, s, info.op);
  }
  for (uint32_t i = 0; i < info.n_out; i++) {
    tl_push_node(L, st, g, out[i]);
    lua_rawseti(L, 3, (lua_Integer)tfsdk_graph_value(id, i).id);
  }
  return 0;
}

/* private.value_id(node): what `map` above is keyed by; and the id of its node. */
static int value_id(lua_State *L) {
  tl_state *st = tl_get(L);
  const tl_node *n = (const tl_node *)tl_check_kind(L, st, 1, TL_NODE);
  tfsdk_node_info info;
  tl_check(L, st, tfsdk_graph_node(n->g, n->v, &info));
  lua_pushinteger(L, (lua_Integer)n->v.id);
  lua_pushinteger(L, info.id);
  return 2;
}

/* private.node_inputs(graph, id): the ids of the nodes that its inputs come from, and those values'
 * ids; and the op's name. */
static int node_inputs(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_graph *g = ((tl_graph *)tl_check_kind(L, st, 1, TL_GRAPH))->g;
  tfsdk_node_info info;
  tl_check(L, st,
           tfsdk_graph_node(g, tfsdk_graph_value((uint32_t)luaL_checkinteger(L, 2), 0), &info));
  lua_createtable(L, (int)info.n_in, 0);
  lua_createtable(L, (int)info.n_in, 0);
  for (uint32_t i = 0, k = 0; i < info.n_in; i++) {
    tfsdk_node_info from;
    if (info.in[i].id == 0) continue;
    tl_check(L, st, tfsdk_graph_node(g, info.in[i], &from));
    lua_pushinteger(L, from.id);
    lua_rawseti(L, -3, (lua_Integer)++k);
    lua_pushinteger(L, (lua_Integer)info.in[i].id);
    lua_rawseti(L, -2, (lua_Integer)k);
  }
  lua_pushstring(L, info.op);
  return 3;
}

/* private.node_value(graph, id, index) */
static int node_value(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_graph *g = ((tl_graph *)tl_check_kind(L, st, 1, TL_GRAPH))->g;
  tl_push_node(
      L, st, g,
      tfsdk_graph_value((uint32_t)luaL_checkinteger(L, 2), (uint32_t)luaL_checkinteger(L, 3)));
  return 1;
}

/* private.handle(variable): its handle as a tensor or node. */
static int handle(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_variable *v = (tl_variable *)tl_check_kind(L, st, 1, TL_VARIABLE);
  tfsdk_val h = tfsdk_variable_handle(v->v);
  if (v->g != NULL) {
    tl_push_node(L, st, v->g, h);
  } else {
    tl_tensor *box = tl_push_box(L, st);
    tl_fill_box(L, st, box, tfsdk_tensor_retain(tfsdk_eager_tensor(h)));
  }
  return 1;
}

void tl_open_rules(lua_State *L, tl_state *st) {
  static const luaL_Reg hidden[] = {{"push_gradient", push_gradient},
                                    {"pop_gradient", pop_gradient},
                                    {"hide_tapes", hide_tapes},
                                    {"show_tapes", show_tapes},
                                    {"copy_node", copy_node},
                                    {"value_id", value_id},
                                    {"node_inputs", node_inputs},
                                    {"node_value", node_value},
                                    {"handle", handle},
                                    {NULL, NULL}};
  tl_add_private(L, st, hidden);
}
