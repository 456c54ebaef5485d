/* layer.c - layers of the registry for the facade: their records, and building them with weights
 * that a Lua function gives.
 *
 *     private.build_layer("dense", {x}, {units = 10}, weight, {name =})  -> outputs, effects
 *
 * weight(role, shape, dtype, initializer, state) gives the variable (or any value, unless `state`)
 * for a weight that the layer asks for; nil: a variable of the present variable scope. `effects`
 * lists what the layer put into buckets: {bucket = "updates", value = node}; define-by-run only losses,
 * as updates have happened. */
#include "ops.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct building {
  lua_State *L;
  tl_state *st;
  tfsdk_graph *graph; /* NULL: eager */
  tfsdk_ctx *ctx;
  const char *name;
  int weight, effects; /* stack indices: the function or 0; the table */
  int error;           /* a reference to what the function raised, or LUA_NOREF */
  const tfsdk_weightspec *spec;
  tfsdk_val handle, value;
} building;

/* Takes the value on top as the weight. */
static void take_weight(lua_State *L, building *b) {
  tl_state *st = b->st;
  int at = lua_gettop(L);
  switch (tl_kind_of(L, st, at)) {
  case TL_VARIABLE: {
    tl_variable *v = (tl_variable *)lua_touserdata(L, at);
    if (b->graph != NULL && v->g == NULL && st->ref_capture != 0) { /* tf.func makes a plan */
      if (b->spec->state) tl_push_captured(L, st, at, 1);           /* says that it cannot */
      tl_push_captured(L, st, at, 0);
      take_weight(L, b);
      return;
    }
    if (v->g != b->graph)
      tl_fail(L, st, b->name, "weight '%s': variable '%s' belongs to %s", b->spec->role,
              tfsdk_variable_name(v->v), v->g == NULL ? "define-by-run mode" : "another graph");
    b->handle = tfsdk_variable_handle(v->v);
    tl_check_op(L, st, tfsdk_variable_value(v->v, b->ctx, &b->value), b->name);
    return;
  }
  case TL_NODE: {
    tl_node *n = (tl_node *)lua_touserdata(L, at);
    if (n->g != b->graph)
      tl_fail(L, st, b->name, "weight '%s' is a node of another graph", b->spec->role);
    b->value = n->v;
    break;
  }
  case TL_TENSOR: {
    tfsdk_tensor *t = tl_check_tensor(L, st, at);
    if (b->graph != NULL) {
      b->value = tl_emit_const(L, st, b->graph, t);
    } else { /* the table of effects keeps it as long as the call lasts */
      b->value = tfsdk_eager_val(t);
      lua_rawsetp(L, b->effects, t);
    }
    break;
  }
  default:
    tl_fail(L, st, b->name, "weight '%s' must be a variable, not %s", b->spec->role,
            tl_type_name(L, st, at));
  }
  if (b->spec->state)
    tl_fail(L, st, b->name, "weight '%s' is assigned to: it must be a variable", b->spec->role);
}

static int call_weight(lua_State *L) { /* (function, effects), inside lua_pcall */
  building *b = (building *)lua_touserdata(L, 3);
  lua_pushvalue(L, 1);
  lua_pushstring(L, b->spec->role);
  tl_push_shape(L, &b->spec->shape);
  lua_pushstring(L, tfsdk_dtype_name(b->spec->dtype));
  lua_pushstring(L, b->spec->initializer ? b->spec->initializer : "glorot_uniform");
  lua_pushboolean(L, b->spec->state);
  lua_call(L, 5, 1);
  {
    building inner = *b; /* its stack is this function's */
    inner.effects = 2;
    take_weight(L, &inner);
    b->handle = inner.handle;
    b->value = inner.value;
  }
  return 0;
}

static tfsdk_val cast(tfsdk_ctx *c, tfsdk_val v, int32_t dtype) {
  tfsdk_attrval to = tfsdk_a_dtype("DstT", dtype);
  return tfsdk_emit(c, "Cast", &v, 1, &to, 1);
}

/* Layers with statistics compute in float32 under a policy of 16 bits: their inputs are cast. */
static tfsdk_status *widen(const building *b, const tfsdk_layerdef *d, tfsdk_val *in,
                           lua_Integer n) {
  bool statistics = false;
  for (int i = 0; i < d->n_weight; i++)
    statistics = statistics || strcmp(d->weight[i].type, "state") == 0;
  for (lua_Integer i = 0; statistics && b->st->policy != 0 && i < n; i++)
    if (in[i].id != 0 && tfsdk_type(b->ctx, in[i]).dtype == b->st->policy)
      in[i] = cast(b->ctx, in[i], TFSDK_FLOAT32);
  return tfsdk_ctx_error(b->ctx);
}

static tfsdk_status *give_weight(void *user, tfsdk_ctx *c, const tfsdk_weightspec *spec,
                                 tfsdk_val *out_handle, tfsdk_val *out_value) {
  building *b = (building *)user;
  lua_State *L = b->L;
  int top = lua_gettop(L);
  /* A policy computes in 16 bits, and keeps what is trained in float32. */
  const bool master = b->st->policy != 0 && spec->dtype == b->st->policy && !spec->state;
  tfsdk_weightspec whole = *spec;
  if (!lua_checkstack(L, 8)) return TFSDK_FAIL(c, RESOURCE_EXHAUSTED, "the Lua stack is full");
  if (master) whole.dtype = TFSDK_FLOAT32;
  b->spec = &whole;
  b->handle = b->value = tfsdk_none();
  lua_pushcfunction(L, call_weight);
  lua_pushvalue(L, b->weight);
  lua_pushvalue(L, b->effects);
  lua_pushlightuserdata(L, b);
  if (lua_pcall(L, 3, 0, 0) != LUA_OK) {
    b->error = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_settop(L, top);
    return TFSDK_FAIL(c, ABORTED, "weight '%s' could not be made", spec->role);
  }
  lua_settop(L, top);
  if (b->graph != NULL) tl_mark_where(L, b->graph);
  *out_handle = b->handle;
  *out_value = b->value;
  if (master && tfsdk_type(c, b->value).dtype == TFSDK_FLOAT32)
    *out_value = cast(c, b->value, spec->dtype);
  return tfsdk_ctx_error(c);
}

static int note_effect(lua_State *L) { /* (effects, building, bucket, id), inside lua_pcall */
  building *b = (building *)lua_touserdata(L, 2);
  static const char *const names[] = {"", "updates", "losses", "summaries"};
  tfsdk_val v;
  tfsdk_node_info info = {0};
  v.id = (uint64_t)lua_tointeger(L, 4);
  lua_createtable(L, 0, 2);
  lua_pushstring(L, names[lua_tointeger(L, 3)]);
  lua_setfield(L, -2, "bucket");
  if (b->graph != NULL) tl_check(L, b->st, tfsdk_graph_node(b->graph, v, &info));
  if (b->graph == NULL) {
    tl_tensor *box = tl_push_box(L, b->st);
    tl_fill_box(L, b->st, box, tfsdk_tensor_retain(tfsdk_eager_tensor(v)));
  } else if (info.n_out > 0)
    tl_push_node(L, b->st, b->graph, v);
  else
    tl_push_operation(L, b->st, b->graph, info.id);
  lua_setfield(L, -2, "value");
  lua_rawseti(L, 1, (lua_Integer)lua_rawlen(L, 1) + 1);
  return 0;
}

static tfsdk_status *take_effect(void *user, tfsdk_ctx *c, int32_t bucket, tfsdk_val v) {
  building *b = (building *)user;
  lua_State *L = b->L;
  if (b->graph == NULL && bucket != TFSDK_BUCKET_LOSSES) return NULL; /* it has happened */
  if (!lua_checkstack(L, 8)) return TFSDK_FAIL(c, RESOURCE_EXHAUSTED, "the Lua stack is full");
  lua_pushcfunction(L, note_effect);
  lua_pushvalue(L, b->effects);
  lua_pushlightuserdata(L, b);
  lua_pushinteger(L, bucket);
  lua_pushinteger(L, (lua_Integer)v.id);
  if (lua_pcall(L, 4, 0, 0) != LUA_OK) {
    b->error = luaL_ref(L, LUA_REGISTRYINDEX);
    return TFSDK_FAIL(c, ABORTED, "an effect could not be noted");
  }
  return NULL;
}

static int unknown_param(lua_State *L, tl_state *st, const tfsdk_layerdef *d, const char *key) {
  const char *list[TL_MAX_ATTR], *near;
  size_t n = 0;
  for (int i = 0; i < d->n_param && n < TL_MAX_ATTR; i++) list[n++] = d->param[i].name;
  near = tl_nearest(key, list, n);
  if (near != NULL)
    return tl_fail(L, st, d->name, "unknown option '%s'; did you mean '%s'?", key, near);
  return tl_fail(L, st, d->name, "unknown option '%s'", key);
}

/* The parameters of the table at `at`; their values stay on the stack. */
static uint32_t read_params(lua_State *L, tl_state *st, const tfsdk_layerdef *d, int at,
                            tfsdk_attrval *out) {
  uint32_t n = 0;
  if (!lua_istable(L, at)) return 0;
  lua_pushnil(L);
  while (lua_next(L, at) != 0) {
    tl_attrinfo info;
    int i = 0;
    const char *key;
    if (lua_type(L, -2) != LUA_TSTRING)
      tl_fail(L, st, d->name, "the table of options has the key [%s]; options have names",
              luaL_tolstring(L, -2, NULL));
    key = lua_tostring(L, -2);
    while (i < d->n_param && strcmp(d->param[i].name, key) != 0) i++;
    if (i == d->n_param) unknown_param(L, st, d, key);
    luaL_checkstack(L, 8, NULL);
    tl_parse_attr(&d->param[i], &info);
    {
      int value = lua_gettop(L);
      tl_read_attr(L, st, d->name, &info, value, &out[n++]);
      lua_pushvalue(L, value - 1); /* what was read stays below; lua_next goes on from the key */
    }
  }
  return n;
}

static const tfsdk_layerdef *find_layer(lua_State *L, tl_state *st, const char *name) {
  const tfsdk_layerdef *d;
  tl_check(L, st, tfsdk_layer_find(tl_runtime(L, st), name, &d));
  if (d->n_param > TL_MAX_ATTR || d->n_in > TL_MAX_FLAT || d->n_out > TL_MAX_FLAT)
    tl_fail(L, st, name, "the record has more parameters than the Lua module can handle");
  return d;
}

/* The inputs of the list at `at` as tensors and nodes on the stack, from the returned index on. */
static int spread_inputs(lua_State *L, tl_state *st, const char *name, int at, lua_Integer n,
                         tfsdk_graph **graph, int *tensors) {
  int first = lua_gettop(L) + 1;
  luaL_checkstack(L, (int)n + 12, name);
  for (lua_Integer i = 1; i <= n; i++) {
    if (lua_rawgeti(L, at, i) == LUA_TNIL || (lua_isboolean(L, -1) && !lua_toboolean(L, -1))) {
      lua_pop(L, 1);
      lua_pushnil(L); /* absent */
      continue;
    }
    if (lua_isboolean(L, -1)) {
      int value = lua_gettop(L);
      tl_push_literal(L, st, value, TFSDK_BOOL, name, "input");
      lua_replace(L, value);
    } else {
      int value = lua_gettop(L);
      tl_push_value(L, st, value, 0, "input");
      lua_replace(L, value);
      lua_settop(L, value);
    }
    if (tl_kind_of(L, st, -1) == TL_NODE) {
      const tl_node *node = (const tl_node *)lua_touserdata(L, -1);
      if (*graph != NULL && *graph != node->g)
        tl_fail(L, st, name, "input %d is a node of another graph than the ones before", (int)i);
      *graph = node->g;
    } else {
      *tensors += 1;
    }
  }
  return first;
}

static void push_outputs(lua_State *L, building *b, const tfsdk_val *out, size_t n) {
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    if (out[i].id == 0) {
      lua_pushboolean(L, 0);
    } else if (b->graph != NULL) {
      tl_push_node(L, b->st, b->graph, out[i]);
    } else {
      tl_tensor *box = tl_push_box(L, b->st);
      tl_fill_box(L, b->st, box, tfsdk_tensor_retain(tfsdk_eager_tensor(out[i])));
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* private.build_layer(name, inputs, params, weight) -> list of outputs, list of effects */
static int build_layer(lua_State *L) {
  tl_state *st = tl_get(L);
  building b;
  const tfsdk_layerdef *d;
  tfsdk_attrval param[TL_MAX_ATTR];
  tfsdk_val local[TL_MAX_FLAT], *in = local, out[TL_MAX_FLAT];
  tfsdk_layer_options options;
  tfsdk_status *s;
  tfsdk_graph *graph = NULL;
  lua_Integer n;
  int first, tensors = 0;
  uint32_t n_param;
  size_t n_out, mark = 0;
  memset(&b, 0, sizeof b);
  b.L = L;
  b.st = st;
  b.name = luaL_checkstring(L, 1);
  b.error = LUA_NOREF;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 4);
  lua_newtable(L);
  b.effects = 5;
  b.weight = lua_isfunction(L, 4) ? 4 : 0;
  d = find_layer(L, st, b.name);
  b.name = d->name;
  lua_getfield(L, 2, "n");
  n = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : (lua_Integer)lua_rawlen(L, 2);
  first = spread_inputs(L, st, b.name, 2, n, &graph, &tensors);
  if (graph == NULL && !tl_is_eager(st) && (d->n_weight > 0 || tensors == 0))
    graph = tl_current_graph(L, st);
  b.graph = graph;
  b.ctx = graph != NULL ? tfsdk_graph_ctx(graph) : tfsdk_eager_ctx(tl_runtime(L, st));
  n_param = read_params(L, st, d, 3, param);
  if (n > TL_MAX_FLAT) in = (tfsdk_val *)lua_newuserdatauv(L, (size_t)n * sizeof *in, 0);
  if (graph != NULL) tl_mark_where(L, graph);
  for (lua_Integer i = 0; i < n; i++) {
    int at = first + (int)i;
    if (lua_isnil(L, at))
      in[i] = tfsdk_none();
    else if (tl_kind_of(L, st, at) == TL_NODE)
      in[i] = ((tl_node *)lua_touserdata(L, at))->v;
    else if (graph != NULL)
      in[i] = tl_emit_const(L, st, graph, tl_check_tensor(L, st, at));
    else
      in[i] = tfsdk_eager_val(tl_check_tensor(L, st, at));
  }
  memset(&options, 0, sizeof options);
  options.struct_size = (uint32_t)sizeof options;
  options.weight = b.weight != 0 ? give_weight : NULL;
  options.effect = take_effect;
  options.user = &b;
  n_out = d->n_out > 0 ? d->n_out : 1;
  luaL_checkstack(L, (int)n_out + 16, b.name);
  if (graph == NULL) mark = tfsdk_eager_mark(st->rt);
  s = widen(&b, d, in, n);
  if (s == NULL)
    s = tfsdk_layer_build(b.ctx, b.name, in, (size_t)n, param, n_param, &options, out, n_out);
  if (s != NULL) {
    if (graph == NULL) tfsdk_eager_release_vals(st->rt, mark);
    if (b.error != LUA_NOREF) { /* what the function raised, as it was */
      tfsdk_status_release(s);
      lua_rawgeti(L, LUA_REGISTRYINDEX, b.error);
      luaL_unref(L, LUA_REGISTRYINDEX, b.error);
      return lua_error(L);
    }
    tl_check_op(L, st, s, b.name);
  }
  push_outputs(L, &b, out, n_out);
  if (graph == NULL) tfsdk_eager_release_vals(st->rt, mark);
  lua_pushvalue(L, b.effects);
  return 2;
}

static void push_args(lua_State *L, const tfsdk_arg *args, int n, const char *key) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_createtable(L, 0, 3);
    lua_pushstring(L, args[i].name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, args[i].type);
    lua_setfield(L, -2, "type");
    lua_pushstring(L, args[i].doc);
    lua_setfield(L, -2, "doc");
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, key);
}

/* The default of a parameter as a Lua value: nothing pushed when it must be given. */
static int push_default(lua_State *L, const tfsdk_attrdef *d) {
  tl_attrinfo info;
  const char *text = d->dflt;
  if (text == NULL) return 0;
  tl_parse_attr(d, &info);
  switch (info.kind) {
  case TFSDK_ATTR_INT:
  case TFSDK_ATTR_FLOAT:
    if (lua_stringtonumber(L, text) == 0) lua_pushstring(L, text);
    return 1;
  case TFSDK_ATTR_BOOL: lua_pushboolean(L, strcmp(text, "true") == 0); return 1;
  case TFSDK_ATTR_LIST_INT:
  case TFSDK_ATTR_LIST_FLOAT: {
    lua_Integer n = 0;
    lua_newtable(L);
    for (const char *p = text + strspn(text, "[ "); *p != 0 && *p != ']';) {
      size_t len = strcspn(p, ",]");
      lua_pushlstring(L, p, len);
      if (lua_stringtonumber(L, lua_tostring(L, -1)) != 0) lua_remove(L, -2);
      lua_rawseti(L, -2, ++n);
      p += len;
      p += strspn(p, ", ");
    }
    return 1;
  }
  default: lua_pushstring(L, text); return 1;
  }
}

/* private.layer_record(name): {name, doc, plugin, params = {{name, type, default, doc}}, inputs,
 * outputs, weights}; nil when there is no such layer and `try` is given. */
static int layer_record(lua_State *L) {
  tl_state *st = tl_get(L);
  const tfsdk_layerdef *d;
  const char *name = luaL_checkstring(L, 1);
  if (lua_toboolean(L, 2)) {
    tfsdk_status *s = tfsdk_layer_find(tl_runtime(L, st), name, &d);
    if (tfsdk_status_code(s) == TFSDK_NOT_FOUND) {
      tfsdk_status_release(s);
      lua_pushnil(L);
      return 1;
    }
    tl_check(L, st, s);
  }
  d = find_layer(L, st, name);
  lua_createtable(L, 0, 8);
  lua_pushstring(L, d->name);
  lua_setfield(L, -2, "name");
  lua_pushstring(L, d->doc);
  lua_setfield(L, -2, "doc");
  lua_pushstring(L, tfsdk_layer_plugin(st->rt, name));
  lua_setfield(L, -2, "plugin");
  lua_createtable(L, d->n_param, 0);
  for (int i = 0; i < d->n_param; i++) {
    lua_createtable(L, 0, 4);
    lua_pushstring(L, d->param[i].name);
    lua_setfield(L, -2, "name");
    lua_pushstring(L, d->param[i].type);
    lua_setfield(L, -2, "type");
    lua_pushstring(L, d->param[i].doc);
    lua_setfield(L, -2, "doc");
    if (push_default(L, &d->param[i])) lua_setfield(L, -2, "default");
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "params");
  push_args(L, d->in, d->n_in, "inputs");
  push_args(L, d->out, d->n_out, "outputs");
  push_args(L, d->weight, d->n_weight, "weights");
  return 1;
}

/* private.layer_text(name, params): "dense(units=10)" */
static int layer_text(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_attrval param[TL_MAX_ATTR];
  const tfsdk_layerdef *d;
  char *text = NULL, *copy;
  uint32_t n;
  lua_settop(L, 2);
  d = find_layer(L, st, luaL_checkstring(L, 1));
  n = read_params(L, st, d, 2, param);
  copy = (char *)lua_newuserdatauv(L, 4096, 0); /* the collector's, before the core's is there */
  tl_check_op(L, st, tfsdk_layer_text(st->rt, d->name, param, n, &text), d->name);
  snprintf(copy, 4096, "%s", text);
  free(text);
  lua_pushstring(L, copy);
  return 1;
}

static int each_name(void *user, const char *name) {
  lua_State *L = (lua_State *)user;
  lua_pushstring(L, name);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  return 0;
}

static int layer_names(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_runtime *rt = tl_runtime(L, st);
  lua_newtable(L);
  tfsdk_layer_each(rt, each_name, L);
  return 1;
}

/* private.bucket(graph, "updates"): what layers built in C put into a graph's bucket. */
static int graph_bucket(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_graph *g = ((tl_graph *)tl_check_kind(L, st, 1, TL_GRAPH))->g;
  const tfsdk_val *list;
  size_t n = tfsdk_graph_bucket(g, (int32_t)luaL_checkinteger(L, 2), &list);
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    tfsdk_node_info info;
    tl_check(L, st, tfsdk_graph_node(g, list[i], &info));
    if (info.n_out > 0)
      tl_push_node(L, st, g, list[i]);
    else
      tl_push_operation(L, st, g, info.id);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* -------------------------------------------------------------------- Lua files of plugins */

typedef struct plugin_search {
  const char *name;
  char path[1024];
} plugin_search;

static int same_name(void *user, const tfsdk_plugin_report *r) {
  plugin_search *p = (plugin_search *)user;
  if (r->name == NULL || strcmp(r->name, p->name) != 0 || strcmp(r->state, "loaded") != 0) return 0;
  snprintf(p->path, sizeof p->path, "%s", r->path);
  return 1;
}

/* private.plugin_path(name): the file of a loaded plugin; "" if it is part of the program. */
static int plugin_path(lua_State *L) {
  tl_state *st = tl_get(L);
  plugin_search p = {luaL_checkstring(L, 1), ""};
  tl_check(L, st, tfsdk_plugin_require(tl_runtime(L, st), p.name));
  tfsdk_plugin_each(st->rt, same_name, &p);
  lua_pushstring(L, p.path);
  return 1;
}

/* private.load_file(path, chunk name): compiles a file of a plugin's facade. The chunk counts as
 * part of the facade: errors are told at the script's line. nil and why, if it cannot be read. */
static int load_file(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = luaL_checkstring(L, 1);
  size_t n;
  const char *text = tl_push_file(L, st, path, &n);
  lua_pushfstring(L, TL_INTERNAL_CHUNK "%s", luaL_checkstring(L, 2));
  if (luaL_loadbufferx(L, text, n, lua_tostring(L, -1), "t") != LUA_OK) return lua_error(L);
  return 1;
}

/* The same for a file that is embedded in a static build; nil if there is none of that name. */
static int load_embedded(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  for (const tl_facade_file *f = tl_facade_files; f->name != NULL; f++) {
    if (strcmp(f->name, name) != 0) continue;
    lua_pushfstring(L, TL_INTERNAL_CHUNK "%s.lua", name);
    if (luaL_loadbufferx(L, f->text, f->bytes, lua_tostring(L, -1), "t") != LUA_OK)
      return lua_error(L);
    return 1;
  }
  lua_pushnil(L);
  return 1;
}

void tl_open_layer(lua_State *L, tl_state *st) {
  static const luaL_Reg functions[] = {
      {"build_layer", build_layer}, {"layer_record", layer_record},   {"layer_text", layer_text},
      {"layer_names", layer_names}, {"bucket", graph_bucket},         {"plugin_path", plugin_path},
      {"load_file", load_file},     {"load_embedded", load_embedded}, {NULL, NULL}};
  tl_add_private(L, st, functions);
}
