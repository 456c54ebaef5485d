/* graph_import.c - graphs of files into graphs of scripts; lua/saved_model.lua is above it. */
#include "ops.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct fact {
  char *text[7]; /* kind, name, signature, key, path, reader, method */
  tfsdk_val val;
} fact;

/* What the file says, kept until the core has returned; a userdata, so that an error loses nothing. */
typedef struct facts {
  fact *list;
  size_t n, cap;
  int failed;
} facts;

static int facts_gc(lua_State *L) {
  facts *f = (facts *)lua_touserdata(L, 1);
  for (size_t i = 0; i < f->n; i++)
    for (int k = 0; k < 7; k++) free(f->list[i].text[k]);
  free(f->list);
  memset(f, 0, sizeof *f);
  return 0;
}

static tfsdk_status *note(void *user, const tfsdk_import_fact *in) {
  facts *f = (facts *)user;
  const char *text[7] = {in->kind,
                         in->name,
                         in->signature,
                         in->key,
                         in->path,
                         in->reader,
                         in->slice != NULL ? in->slice : in->method};
  if (f->n == f->cap) {
    size_t cap = f->cap == 0 ? 64 : 2 * f->cap;
    fact *more = (fact *)realloc(f->list, cap * sizeof *more);
    if (more == NULL) {
      f->failed = 1;
      return NULL;
    }
    f->list = more;
    f->cap = cap;
  }
  fact *x = &f->list[f->n++];
  memset(x, 0, sizeof *x);
  x->val = in->val;
  for (int k = 0; k < 7; k++)
    if (text[k] != NULL && (x->text[k] = strdup(text[k])) == NULL) f->failed = 1;
  return NULL;
}

static const char **read_names(lua_State *L, int at, uint32_t *out_n) {
  const char **list;
  *out_n = (uint32_t)lua_rawlen(L, at);
  list = (const char **)lua_newuserdatauv(L, (*out_n + 1u) * sizeof *list, 0);
  for (uint32_t i = 0; i < *out_n; i++) {
    lua_rawgeti(L, at, (lua_Integer)i + 1);
    list[i] = luaL_checkstring(L, -1); /* stays: the table holds it */
    lua_pop(L, 1);
  }
  return list;
}

static void read_map(lua_State *L, tl_state *st, int at, tfsdk_import_options *o) {
  uint32_t n = 0;
  lua_pushnil(L);
  while (lua_next(L, at) != 0) {
    n++;
    lua_pop(L, 1);
  }
  const char **name = (const char **)lua_newuserdatauv(L, (n + 1u) * sizeof *name, 0);
  tfsdk_val *val = (tfsdk_val *)lua_newuserdatauv(L, (n + 1u) * sizeof *val, 0);
  lua_pushnil(L);
  while (lua_next(L, at) != 0) {
    name[o->n_map] = luaL_checkstring(L, -2);
    val[o->n_map++] = ((const tl_node *)tl_check_kind(L, st, lua_gettop(L), TL_NODE))->v;
    lua_pop(L, 1);
  }
  o->map_name = name;
  o->map_val = val;
}

/* private.graph_import(graph, path, {content =, prefix =, tags = {}, outputs = {}, map = {[name] = node}}):
 * a list of {kind =, name =, signature =, key =, path =, reader =, more =, node =}; `more` is the method of an input or
 * output, the slice of a variable. */
static int graph_import(lua_State *L) {
  tl_state *st = tl_get(L);
  static const char *const keys[7] = {"kind", "name", "signature", "key", "path", "reader", "more"};
  tfsdk_graph *g = ((tl_graph *)tl_check_kind(L, st, 1, TL_GRAPH))->g;
  const char *path = luaL_checkstring(L, 2);
  tfsdk_import_options o;
  memset(&o, 0, sizeof o);
  o.struct_size = (uint32_t)sizeof o;
  lua_settop(L, 3);
  luaL_checktype(L, 3, LUA_TTABLE);
  facts *f = (facts *)lua_newuserdatauv(L, sizeof *f, 0); /* 4 */
  memset(f, 0, sizeof *f);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, facts_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, 4);
  lua_getfield(L, 3, "content"); /* 5 */
  o.content = lua_tolstring(L, 5, &o.content_bytes);
  lua_getfield(L, 3, "prefix"); /* 6 */
  o.prefix = lua_tostring(L, 6);
  lua_getfield(L, 3, "reader"); /* 7 */
  o.reader = lua_tostring(L, 7);
  lua_getfield(L, 3, "tags"); /* 8 */
  if (lua_istable(L, 8)) o.tags = read_names(L, 8, &o.n_tags);
  lua_settop(L, lua_istable(L, 8) ? 9 : 8);
  lua_getfield(L, 3, "outputs");
  if (lua_istable(L, -1)) o.outputs = read_names(L, lua_gettop(L), &o.n_outputs);
  lua_getfield(L, 3, "map");
  if (lua_istable(L, -1)) read_map(L, st, lua_gettop(L), &o);
  o.fact = note;
  o.user = f;
  tl_mark_where(L, g);
  tl_check_op(L, st, tfsdk_graph_import(g, path, &o), NULL);
  if (f->failed) return luaL_error(L, "not enough memory");
  lua_createtable(L, (int)f->n, 0);
  luaL_checkstack(L, 8, NULL);
  for (size_t i = 0; i < f->n; i++) {
    lua_createtable(L, 0, 8);
    for (int k = 0; k < 7; k++) {
      if (f->list[i].text[k] == NULL) continue;
      lua_pushstring(L, f->list[i].text[k]);
      lua_setfield(L, -2, keys[k]);
    }
    tl_push_node(L, st, g, f->list[i].val);
    lua_setfield(L, -2, "node");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* private.op_plugin(name): the plugin that an op came from, and this program's version. */
static int op_plugin(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_pushstring(L, tfsdk_op_plugin(tl_runtime(L, st), luaL_checkstring(L, 1)));
  lua_pushstring(L, tfsdk_version());
  return 2;
}

/* private.make_folders(path): a folder, and those above it, where they are missing. */
static int make_folders(lua_State *L) {
  tl_state *st = tl_get(L);
  size_t n;
  const char *given = luaL_checklstring(L, 1, &n);
  char *path = lua_newuserdatauv(L, n + 1, 0);
  memcpy(path, given, n + 1);
  for (size_t i = 1; i <= n; i++) {
    if (given[i] != '/' && i != n) continue;
    path[i] = 0;
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
      return tl_fail_code(L, st, errno == ENOENT ? TFSDK_NOT_FOUND : TFSDK_PERMISSION_DENIED, NULL,
                          "%s: the folder cannot be made: %s", path, strerror(errno));
    path[i] = given[i];
  }
  return 0;
}

void tl_open_graph_import(lua_State *L, tl_state *st) {
  static const luaL_Reg hidden[] = {{"graph_import", graph_import},
                                    {"op_plugin", op_plugin},
                                    {"make_folders", make_folders},
                                    {NULL, NULL}};
  tl_add_private(L, st, hidden);
}
