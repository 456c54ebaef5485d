/* module.c - the module's state, its lazy tables, and the facade files inside it.
 *
 * `require "tfsdk"` makes the metatables and the table `tf`, nothing else: the runtime is made when
 * a value first needs it, a facade file runs when one of the names that it provides is first read,
 * and a plugin is opened by the core when an op is first looked up.
 *
 * A facade file begins with lines `-- provides NAMESPACE: name name ...`; it is a chunk that is
 * called with (tf, private), where private is the table of C functions that only facade files see.
 */
#include "module.h"
#include "ops.h"
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char state_key = 0; /* its address names the state in the registry */

static const char *const kind_names[TL_KIND_LIMIT] = {"",
#define TL_KIND_NAME_(id, name) name,
                                                      TL_KINDS_LIST(TL_KIND_NAME_)
#undef TL_KIND_NAME_
};

tl_state *tl_find(lua_State *L) {
  tl_state *st;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key);
  st = (tl_state *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return st;
}

void tl_setfuncs(lua_State *L, tl_state *st, const luaL_Reg *list) {
  (void)st;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key);
  luaL_setfuncs(L, list, 1);
}

/* ---------------------------------------------------------------------------------------- runtime
 */

/* Memory is out: collect garbage, so that tensors nobody needs go. */
static void reclaim(void *user) {
  tl_state *st = (tl_state *)user;
  if (st->L != NULL && lua_gc(st->L, LUA_GCISRUNNING, 0)) lua_gc(st->L, LUA_GCCOLLECT, 0);
}

tfsdk_runtime *tl_runtime(lua_State *L, tl_state *st) {
  tfsdk_runtime_options o;
  if (st->rt != NULL) return st->rt;
  memset(&o, 0, sizeof o);
  o.struct_size = (uint32_t)sizeof o;
  o.threads = st->options.threads;
  if (st->options.has_log_level)
    o.log_level =
        st->options.log_level == TFSDK_LOG_DEBUG ? TFSDK_LOG_DEBUG + 100 : st->options.log_level;
  o.reclaim = reclaim;
  o.reclaim_user = st;
  tl_check(L, st, tfsdk_runtime_create(&o, &st->rt));
  if (st->options.has_seed) tfsdk_runtime_set_seed(st->rt, st->options.seed);
  for (const char *const *p = st->options.plugins; p != NULL && *p != NULL; p++)
    tl_check(L, st, tfsdk_plugin_load(st->rt, *p));
  if (st->options.device != NULL) {
    tl_check(L, st, tfsdk_device_check(st->rt, st->options.device));
    tl_check(L, st, tfsdk_ctx_push_device(tfsdk_eager_ctx(st->rt), st->options.device));
  }
  return st->rt;
}

void tl_set_options(lua_State *L, const tl_options *options) {
  tl_state *st = tl_find(L);
  if (st != NULL) st->options = *options;
}

static int state_gc(lua_State *L) {
  tl_state *st = (tl_state *)lua_touserdata(L, 1);
  if (st->rt != NULL) {
    tfsdk_runtime_set_reclaim(st->rt, NULL, NULL);
    tfsdk_runtime_release(st->rt);
    st->rt = NULL;
  }
  return 0;
}

/* ------------------------------------------------------------------------------------------
 * userdata */

tl_kind tl_kind_of(lua_State *L, tl_state *st, int index) {
  const void *meta;
  int type = lua_type(L, index);
  if ((type != LUA_TUSERDATA && type != LUA_TTABLE) || !lua_getmetatable(L, index)) return TL_NONE;
  meta = lua_topointer(L, -1);
  lua_pop(L, 1);
  for (int k = TL_TENSOR; k < TL_KIND_LIMIT; k++)
    if (st->meta[k] == meta) return (tl_kind)k;
  return TL_NONE;
}

void *tl_check_kind(lua_State *L, tl_state *st, int index, tl_kind kind) {
  if (tl_kind_of(L, st, index) != kind)
    tl_fail(L, st, NULL, "expected a %s, got %s (is it called with ':'?)", kind_names[kind],
            tl_type_name(L, st, index));
  return lua_touserdata(L, index);
}

void *tl_new(lua_State *L, tl_state *st, tl_kind kind, size_t size, int user_values) {
  void *p = lua_newuserdatauv(L, size, user_values);
  memset(p, 0, size);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_meta[kind]);
  lua_setmetatable(L, -2);
  return p;
}

void tl_new_meta(lua_State *L, tl_state *st, tl_kind kind, const luaL_Reg *metamethods,
                 const luaL_Reg *methods) {
  tl_push_namespace(L, st, kind_names[kind]);
  if (methods != NULL) tl_setfuncs(L, st, methods);
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushstring(L, kind_names[kind]);
  lua_setfield(L, -2, "__name");
  if (metamethods != NULL) tl_setfuncs(L, st, metamethods);
  st->meta[kind] = lua_topointer(L, -1);
  lua_pushvalue(L, -1);
  st->ref_meta[kind] = luaL_ref(L, LUA_REGISTRYINDEX);
}

int tl_push_method(lua_State *L, tl_state *st, tl_kind kind, int key) {
  if (lua_type(L, key) != LUA_TSTRING) {
    lua_pushnil(L);
    return LUA_TNIL;
  }
  return tl_push_member(L, st, kind_names[kind], lua_tostring(L, key));
}

/* The collector sees a userdata of some bytes where there may be megabytes behind it. So it is
 * stepped by native bytes: one cycle for each half of what lives natively, and at least 16 MB. */
void tl_account(lua_State *L, tl_state *st, uint64_t bytes) {
  uint64_t span =
      st->live_bytes / 2 > ((uint64_t)16 << 20) ? st->live_bytes / 2 : (uint64_t)16 << 20;
  st->live_bytes += bytes;
  st->debt += bytes;
  if (st->debt < span / 8) return;
  st->debt = 0;
  if (lua_gc(L, LUA_GCISRUNNING, 0)) {
    int kilobytes = lua_gc(L, LUA_GCCOUNT, 0);
    lua_gc(L, LUA_GCSTEP, kilobytes / 4 + 64);
  }
}

/* ----------------------------------------------------------------------------------------
 * namespaces */

static int namespace_index(lua_State *L);

void tl_push_namespace(lua_State *L, tl_state *st, const char *path) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_namespaces);
  if (lua_getfield(L, -1, path) == LUA_TTABLE) {
    lua_remove(L, -2);
    return;
  }
  lua_pop(L, 1);
  lua_newtable(L);
  if (strncmp(path, "tf", 2) == 0) { /* scripts see it: names are found when they are read */
    lua_newtable(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key);
    lua_pushstring(L, path);
    lua_pushcclosure(L, namespace_index, 2);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
  }
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, path);
  lua_remove(L, -2);
}

/* Walks the lines `-- provides NAMESPACE: names` at the head of a facade file. */
typedef struct provides {
  const char *at;
  const char *space, *names; /* not NUL-ended */
  size_t n_space, n_names;
} provides;

static int next_provides(provides *p) {
  static const char mark[] = "-- provides ";
  while (p->at[0] == '-' && p->at[1] == '-') {
    const char *end = strchr(p->at, '\n'), *line = p->at, *colon;
    if (end == NULL) return 0;
    p->at = end + 1;
    if (strncmp(line, mark, sizeof mark - 1) != 0) continue;
    p->space = line + sizeof mark - 1;
    colon = memchr(p->space, ':', (size_t)(end - p->space));
    if (colon == NULL) continue;
    p->n_space = (size_t)(colon - p->space);
    p->names = colon + 1;
    p->n_names = (size_t)(end - p->names);
    return 1;
  }
  return 0;
}

static int has_word(const char *list, size_t n, const char *word, size_t n_word) {
  for (size_t i = 0; i + n_word <= n; i++)
    if ((i == 0 || list[i - 1] == ' ') && (i + n_word == n || list[i + n_word] == ' ') &&
        memcmp(list + i, word, n_word) == 0)
      return 1;
  return 0;
}

/* Functions of the script's namespaces that a facade file has made without a signature: guarded. */
static void guard_file(lua_State *L, tl_state *st, const tl_facade_file *f) {
  provides p = {f->text, NULL, NULL, 0, 0};
  char path[256];
  lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key);
  while (next_provides(&p)) {
    size_t end;
    if (strncmp(p.space, "tf", 2) != 0) continue;
    snprintf(path, sizeof path, "%.*s", (int)p.n_space, p.space);
    tl_push_namespace(L, st, path);
    for (size_t i = 0; i < p.n_names; i = end + 1) {
      end = i;
      while (end < p.n_names && p.names[end] != ' ') end++;
      lua_pushlstring(L, p.names + i, end - i);
      lua_pushvalue(L, -1);
      if (lua_rawget(L, -3) == LUA_TFUNCTION && !lua_iscfunction(L, -1)) {
        snprintf(path, sizeof path, "%.*s.%s", (int)p.n_space, p.space, lua_tostring(L, -2));
        tl_guard(L, -4, path);
        lua_rawset(L, -3);
      } else {
        lua_pop(L, 2);
      }
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static void run_file(lua_State *L, tl_state *st, const tl_facade_file *f) {
  char name[64];
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_loaded);
  if (lua_getfield(L, -1, f->name) == LUA_TNIL) {
    lua_pushboolean(L, 1);
    lua_setfield(L, -3, f->name);
    snprintf(name, sizeof name, TL_INTERNAL_CHUNK "%s.lua", f->name);
    if (luaL_loadbufferx(L, f->text, f->bytes, name, "t") != LUA_OK) lua_error(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_tf);
    lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_private);
    lua_call(L, 2, 0);
    guard_file(L, st, f);
  }
  lua_pop(L, 2);
}

int tl_push_member(lua_State *L, tl_state *st, const char *path, const char *key) {
  size_t n_path = strlen(path), n_key = strlen(key);
  int type;
  tl_push_namespace(L, st, path);
  lua_pushstring(L, key);
  type = lua_rawget(L, -2);
  for (const tl_facade_file *f = tl_facade_files; type == LUA_TNIL && f->name != NULL; f++) {
    provides p = {f->text, NULL, NULL, 0, 0};
    while (next_provides(&p)) {
      if (p.n_space != n_path || memcmp(p.space, path, n_path) != 0 ||
          !has_word(p.names, p.n_names, key, n_key))
        continue;
      run_file(L, st, f);
      lua_pop(L, 1);
      lua_pushstring(L, key);
      type = lua_rawget(L, -2);
      break;
    }
  }
  lua_remove(L, -2);
  return type;
}

/* Whether any facade file provides names of this namespace, or of one below it. */
static int namespace_exists(const char *path) {
  size_t n = strlen(path);
  for (const tl_facade_file *f = tl_facade_files; f->name != NULL; f++) {
    provides p = {f->text, NULL, NULL, 0, 0};
    while (next_provides(&p))
      if (p.n_space >= n && memcmp(p.space, path, n) == 0 && (p.n_space == n || p.space[n] == '.'))
        return 1;
  }
  return 0;
}

/* Every name of a namespace, for "did you mean": pushes strings into the table on top. */
static void collect_names(lua_State *L, const char *path) {
  size_t n_path = strlen(path);
  for (const tl_facade_file *f = tl_facade_files; f->name != NULL; f++) {
    provides p = {f->text, NULL, NULL, 0, 0};
    while (next_provides(&p)) {
      size_t from = 0;
      if (p.n_space != n_path || memcmp(p.space, path, n_path) != 0) continue;
      for (size_t i = 0; i <= p.n_names; i++) {
        if (i < p.n_names && p.names[i] != ' ') continue;
        if (i > from) {
          lua_pushlstring(L, p.names + from, i - from);
          lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        }
        from = i + 1;
      }
    }
  }
}

static int unknown_member(lua_State *L, tl_state *st, const char *path, const char *key) {
  const char **list;
  const char *near;
  lua_Integer n;
  lua_newtable(L);
  collect_names(L, path);
  lua_pushnil(L);
  while (lua_next(L, 1) != 0) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING) {
      lua_pushvalue(L, -1);
      lua_rawseti(L, -3, (lua_Integer)lua_rawlen(L, -3) + 1);
    }
  }
  n = (lua_Integer)lua_rawlen(L, -1);
  list = (const char **)lua_newuserdatauv(L, (size_t)(n + 1) * sizeof *list, 0);
  for (lua_Integer i = 0; i < n; i++) {
    lua_rawgeti(L, -2, i + 1);
    list[i] = lua_tostring(L, -1); /* stays: the table holds it */
    lua_pop(L, 1);
  }
  near = tl_nearest(key, list, (size_t)n);
  if (near != NULL && strcmp(near, key) != 0)
    return tl_fail_code(L, st, TFSDK_NOT_FOUND, NULL, "%s.%s does not exist; did you mean %s.%s?",
                        path, key, path, near);
  return tl_fail_code(L, st, TFSDK_NOT_FOUND, NULL, "%s.%s does not exist", path, key);
}

/* Layer libraries and formats come as plugins of these names; their Lua part is a file beside them.
 */
static int plugin_namespace(lua_State *L, tl_state *st, const char *key) {
  static const char *const names[] = {"keras",  "slim",         "onnx", "contrib",
                                      "skflow", "prettytensor", "torch"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(key, names[i]) != 0) continue;
    tl_check_op(L, st, tfsdk_plugin_require(tl_runtime(L, st), key), key);
    tl_push_member(L, st, "Plugin", "open"); /* lua/layers.lua: runs the file beside the plugin */
    lua_pushstring(L, key);
    lua_call(L, 1, 1);
    lua_pushstring(L, key);
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return 1;
  }
  return 0;
}

/* tf.key, tf.nn.key ... for a key that the table does not have yet. */
static int namespace_index(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = lua_tostring(L, lua_upvalueindex(2)), *key;
  if (lua_type(L, 2) != LUA_TSTRING) {
    lua_pushnil(L);
    return 1;
  }
  key = lua_tostring(L, 2);
  if (tl_push_member(L, st, path, key) != LUA_TNIL) return 1;
  lua_pop(L, 1);
  lua_pushfstring(L, "%s.%s", path, key);
  if (namespace_exists(lua_tostring(L, -1))) {
    tl_push_namespace(L, st, lua_tostring(L, -1));
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return 1;
  }
  lua_pop(L, 1);
  if (strcmp(path, "tf.layers") == 0 && tl_push_member(L, st, "Plugin", "layer") != LUA_TNIL) {
    lua_pushvalue(L, 2);
    lua_call(L, 1, 1); /* a layer of any plugin */
    if (!lua_isnil(L, -1)) return 1;
  }
  if (strcmp(path, "tf") == 0) {
    if (plugin_namespace(L, st, key)) return 1;
    if (tl_push_raw_or_family(L, st, key)) return 1;
  }
  return unknown_member(L, st, path, key);
}

/* -------------------------------------------------------------------------------------------
 * opening */

void tl_add_private(lua_State *L, tl_state *st, const luaL_Reg *list) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_private);
  tl_setfuncs(L, st, list);
  lua_pop(L, 1);
}

void tl_add_public(lua_State *L, tl_state *st, const luaL_Reg *list) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_tf);
  tl_setfuncs(L, st, list);
  lua_pop(L, 1);
}

static int tf_load(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = luaL_checkstring(L, 1);
  tl_check_op(L, st, tfsdk_plugin_load(tl_runtime(L, st), path), "tf.load");
  return 0;
}

static int memory_info(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_memory_info m;
  memset(&m, 0, sizeof m);
  tfsdk_runtime_memory(tl_runtime(L, st), luaL_optstring(L, 1, "cpu:0"), &m);
  lua_createtable(L, 0, 6);
#define FIELD(name)                                                                                \
  lua_pushinteger(L, (lua_Integer)m.name);                                                         \
  lua_setfield(L, -2, #name)
  FIELD(in_use);
  FIELD(cached);
  FIELD(peak);
  FIELD(limit);
  FIELD(live_tensors);
  FIELD(live_blocks);
#undef FIELD
  return 1;
}

/* tf.time(): seconds of a clock that never steps back, from a start of its own; for measuring spans. */
static int monotonic_time(lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  lua_pushnumber(L, (lua_Number)t.tv_sec + (lua_Number)t.tv_nsec * 1e-9);
  return 1;
}

static int fail_allocation(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_runtime_fail_allocation(tl_runtime(L, st), (uint64_t)luaL_checkinteger(L, 1),
                                lua_toboolean(L, 2));
  return 0;
}

/* tf.kind(v): "Tensor", "Node" and so on; nil for what is none of the module's. */
static int kind_name(lua_State *L) {
  tl_kind k = tl_kind_of(L, tl_get(L), 1);
  if (k == TL_NONE)
    lua_pushnil(L);
  else
    lua_pushstring(L, kind_names[k]);
  return 1;
}

/* private.namespace(path): the table that functions or methods are put into. */
static int namespace_of(lua_State *L) {
  tl_push_namespace(L, tl_get(L), luaL_checkstring(L, 1));
  return 1;
}

/* private.is_terminal(): whether standard error is one. */
static int is_terminal(lua_State *L) {
  lua_pushboolean(L, isatty(STDERR_FILENO));
  return 1;
}

static void make_table(lua_State *L, int *out_ref, const char *mode) {
  lua_newtable(L);
  if (mode != NULL) {
    lua_newtable(L);
    lua_pushstring(L, mode);
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
  }
  *out_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

static void make_state(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", state_gc}, {NULL, NULL}};
  tl_state *st = (tl_state *)lua_newuserdatauv(L, sizeof *st, 0);
  memset(st, 0, sizeof *st);
  st->L = L;
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  st->main = lua_tothread(L, -1);
  lua_pop(L, 1);
  lua_newtable(L);
  luaL_setfuncs(L, meta, 0);
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &state_key);
  make_table(L, &st->ref_private, NULL);
  make_table(L, &st->ref_namespaces, NULL);
  make_table(L, &st->ref_graphs, "v");
  make_table(L, &st->ref_variables, "v");
  make_table(L, &st->ref_modes, NULL);
  make_table(L, &st->ref_loaded, NULL);
  make_table(L, &st->ref_ops, NULL);
  make_table(L, &st->ref_scalars, NULL);
  tl_push_namespace(L, st, "tf");
  st->ref_tf = luaL_ref(L, LUA_REGISTRYINDEX);
}

TFSDK_EXPORT int luaopen_tfsdk(lua_State *L) {
  static const luaL_Reg public_functions[] = {{"load", tf_load},
                                              {"memory_info", memory_info},
                                              {"kind", kind_name},
                                              {"time", monotonic_time},
                                              {NULL, NULL}};
  static const luaL_Reg private_functions[] = {{"kind", kind_name},
                                               {"namespace", namespace_of},
                                               {"fail_allocation", fail_allocation},
                                               {"is_terminal", is_terminal},
                                               {NULL, NULL}};
  tl_state *st;
  luaL_checkversion(L);
  if (tl_find(L) != NULL) { /* a second require by another name */
    lua_rawgeti(L, LUA_REGISTRYINDEX, tl_find(L)->ref_tf);
    return 1;
  }
  make_state(L);
  st = tl_find(L);
  tl_open_errors(L, st);
  tl_open_tensor(L, st);
  tl_open_node(L, st);
  tl_open_graph(L, st);
  tl_open_variable(L, st);
  tl_open_scope(L, st);
  tl_open_session(L, st);
  tl_open_trace(L, st);
  tl_open_tape(L, st);
  tl_open_gradients(L, st);
  tl_open_dataset(L, st);
  tl_open_bind(L, st);
  tl_open_fault(L, st);
  tl_open_ops(L, st);
  tl_open_layer(L, st);
  tl_open_rules(L, st);
  tl_open_autocast(L, st);
  tl_open_json(L, st);
  tl_open_npy(L, st);
  tl_open_file(L, st);
  tl_open_tensor_file(L, st);
  tl_open_event_writer(L, st);
  tl_open_record_writer(L, st);
  tl_open_graph_import(L, st);
  tl_open_monitor(L, st);
  tl_open_regex(L, st);
  tl_add_public(L, st, public_functions);
  tl_add_private(L, st, private_functions);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_tf);
  lua_pushstring(L, tfsdk_version());
  lua_setfield(L, -2, "version");
#define TYPE_NAME(id, number, name, bytes, kind)                                                   \
  lua_pushstring(L, name);                                                                         \
  lua_setfield(L, -2, name);
  TFSDK_DTYPES(TYPE_NAME)
#undef TYPE_NAME
  return 1;
}
