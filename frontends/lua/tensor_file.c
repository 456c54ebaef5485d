/* tensor_file.c - files of named tensors, saving in the background, and what of a run is kept to go
 * on later. lua/saver.lua makes tf.train.Saver of it. */
#include "ops.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/* -------------------------------------------------------------------------------------- reading */

typedef struct listing {
  lua_State *L;
  lua_Integer n;
} listing;

/* Runs between C functions of the core: it must not raise, so it is called protected. */
static int push_entry(lua_State *L) {
  const tfsdk_file_tensor *t = (const tfsdk_file_tensor *)lua_touserdata(L, 2);
  lua_createtable(L, 0, 5);
  lua_pushstring(L, t->name);
  lua_setfield(L, -2, "name");
  lua_pushstring(L, tfsdk_dtype_name(t->dtype));
  lua_setfield(L, -2, "dtype");
  tl_push_dims(L, t->shape.rank, t->shape.dim);
  lua_setfield(L, -2, "shape");
  lua_pushstring(L, t->file);
  lua_setfield(L, -2, "file");
  lua_pushinteger(L, (lua_Integer)t->offset);
  lua_setfield(L, -2, "offset");
  lua_rawseti(L, 1, (lua_Integer)lua_rawlen(L, 1) + 1);
  return 0;
}

static int add_entry(void *user, const tfsdk_file_tensor *t) {
  listing *l = (listing *)user;
  lua_State *L = l->L;
  lua_pushcfunction(L, push_entry);
  lua_pushvalue(L, -2); /* the list */
  lua_pushlightuserdata(L, (void *)(uintptr_t)t);
  if (lua_pcall(L, 2, 0, 0) == LUA_OK) return 0;
  lua_pop(L, 1);
  l->n = -1;
  return 1;
}

/* private.file_list(path, reader): {{name =, dtype =, shape =, file =, offset =}, ...} */
static int file_list(lua_State *L) {
  tl_state *st = tl_get(L);
  listing l = {L, 0};
  const char *path = luaL_checkstring(L, 1), *reader = luaL_optstring(L, 2, NULL);
  lua_settop(L, 2);
  lua_newtable(L);
  luaL_checkstack(L, 8, NULL);
  tl_check(L, st, tfsdk_file_each(tl_runtime(L, st), path, reader, add_entry, &l));
  if (l.n < 0) return luaL_error(L, "not enough memory");
  return 1;
}

/* The strings of a list at `at`, which holds them. */
static const char **strings_of(lua_State *L, int at, size_t *out_n) {
  size_t n = (size_t)lua_rawlen(L, at);
  const char **list = (const char **)lua_newuserdatauv(L, (n + 1) * sizeof *list, 0);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, at, (lua_Integer)i + 1);
    list[i] = luaL_checkstring(L, -1);
    lua_pop(L, 1);
  }
  *out_n = n;
  return list;
}

/* private.file_read(path, reader, names, map): a list of tensors in the order of the names */
static int file_read(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = luaL_checkstring(L, 1), *reader = luaL_optstring(L, 2, NULL);
  const char **names;
  tl_tensor **box;
  tfsdk_tensor **out;
  size_t n;
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 4);
  names = strings_of(L, 3, &n);
  out = (tfsdk_tensor **)lua_newuserdatauv(L, (n + 1) * sizeof *out, 0);
  box = (tl_tensor **)lua_newuserdatauv(L, (n + 1) * sizeof *box, 0);
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    box[i] = tl_push_box(L, st);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  tl_check(L, st,
           tfsdk_file_read(tl_runtime(L, st), path, reader, names, n, lua_toboolean(L, 4), out));
  for (size_t i = 0; i < n; i++) box[i]->t = out[i]; /* nothing is lost when accounting raises */
  for (size_t i = 0; i < n; i++) tl_fill_box(L, st, box[i], out[i]);
  return 1;
}

static int push_text(lua_State *L) {
  lua_pushstring(L, (const char *)lua_touserdata(L, 1));
  return 1;
}

/* Pushes a malloc'ed text and frees it, also when memory is out. */
static int take_text(lua_State *L, char *text) {
  int rc;
  lua_pushcfunction(L, push_text);
  lua_pushlightuserdata(L, text);
  rc = lua_pcall(L, 1, 1, 0);
  free(text);
  return rc == LUA_OK ? 1 : lua_error(L);
}

/* private.file_metadata(path, reader): JSON */
static int file_metadata(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = luaL_checkstring(L, 1), *reader = luaL_optstring(L, 2, NULL);
  char *text = NULL;
  luaL_checkstack(L, 4, NULL);
  tl_check(L, st, tfsdk_file_metadata(tl_runtime(L, st), path, reader, &text));
  return take_text(L, text);
}

/* private.op_plugin(op): the plugin that it comes from */
static int op_plugin(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_pushstring(L, tfsdk_op_plugin(tl_runtime(L, st), luaL_checkstring(L, 1)));
  return 1;
}

/* private.path_kind(path): "file", "folder", or nil */
static int path_kind(lua_State *L) {
  struct stat s;
  if (stat(luaL_checkstring(L, 1), &s) != 0)
    lua_pushnil(L);
  else
    lua_pushstring(L, S_ISDIR(s.st_mode) ? "folder" : "file");
  return 1;
}

/* -------------------------------------------------------------------------------------- writing */

static const char saving_key = 0; /* its address names the metatable */

static int saving_gc(lua_State *L) {
  tfsdk_saving **s = (tfsdk_saving **)lua_touserdata(L, 1);
  tfsdk_saving *v = *s;
  *s = NULL;
  tfsdk_status_release(tfsdk_saving_wait(v)); /* it is finished in any case */
  return 0;
}

static tfsdk_saving **check_saving(lua_State *L) {
  void *p = lua_touserdata(L, 1);
  if (p == NULL || !lua_getmetatable(L, 1)) luaL_error(L, "no saving");
  lua_rawgetp(L, LUA_REGISTRYINDEX, &saving_key);
  if (!lua_rawequal(L, -1, -2)) luaL_error(L, "no saving");
  lua_pop(L, 2);
  return (tfsdk_saving **)p;
}

/* private.saving_done(s): whether waiting takes no time */
static int saving_done(lua_State *L) {
  tfsdk_saving **s = check_saving(L);
  lua_pushboolean(L, *s == NULL || tfsdk_saving_done(*s));
  return 1;
}

/* private.saving_wait(s): until it is on the disk; its error is raised */
static int saving_wait(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_saving **s = check_saving(L);
  tfsdk_saving *v = *s;
  *s = NULL;
  tl_check_op(L, st, tfsdk_saving_wait(v), "save");
  return 0;
}

/* Options {key = string, number or boolean}; the table at `at` holds the strings. */
static size_t read_options(lua_State *L, tl_state *st, int at, tfsdk_attrval *out) {
  size_t n = 0;
  if (!lua_istable(L, at)) return 0;
  lua_pushnil(L);
  while (lua_next(L, at) != 0) {
    tfsdk_attrval *a = &out[n++];
    if (n > TL_MAX_ATTR) tl_fail(L, st, "write", "too many options");
    memset(a, 0, sizeof *a);
    a->name = luaL_checkstring(L, -2);
    if (lua_type(L, -1) == LUA_TSTRING) {
      a->kind = TFSDK_ATTR_STRING;
      a->v.s = lua_tostring(L, -1);
    } else if (lua_isboolean(L, -1)) {
      a->kind = TFSDK_ATTR_BOOL;
      a->v.i = lua_toboolean(L, -1);
    } else {
      a->kind = TFSDK_ATTR_INT;
      a->v.i = luaL_checkinteger(L, -1);
    }
    lua_pop(L, 1);
  }
  return n;
}

/* private.file_write(path, writer, names, tensors, options, background): a saving to wait for, if
 * it goes on in the background */
static int file_write(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = luaL_checkstring(L, 1), *writer = luaL_optstring(L, 2, NULL);
  tfsdk_attrval options[TL_MAX_ATTR];
  const char **names;
  tfsdk_tensor **tensors;
  tfsdk_saving **box;
  size_t n, n_options;
  luaL_checktype(L, 3, LUA_TTABLE);
  luaL_checktype(L, 4, LUA_TTABLE);
  lua_settop(L, 6);
  n_options = read_options(L, st, 5, options);
  names = strings_of(L, 3, &n);
  tensors = (tfsdk_tensor **)lua_newuserdatauv(L, (n + 1) * sizeof *tensors, 0);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, 4, (lua_Integer)i + 1);
    tensors[i] = tl_check_tensor(L, st, lua_gettop(L));
    lua_pop(L, 1);
  }
  box = (tfsdk_saving **)lua_newuserdatauv(L, sizeof *box, 0);
  *box = NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &saving_key);
  lua_setmetatable(L, -2);
  tl_check_op(L, st,
              tfsdk_saving_start(tl_runtime(L, st), path, writer, options, n_options, names,
                                 tensors, n, box),
              "save");
  if (lua_toboolean(L, 6)) return 1;
  { /* at once: the same path, waited for */
    tfsdk_saving *v = *box;
    *box = NULL;
    tl_check_op(L, st, tfsdk_saving_wait(v), "save");
  }
  return 0;
}

/* --------------------------------------------------------------------------- the state of a run */

/* Userdata of sessions and iterators begin with the core's object, NULL once closed. */
static void *first_member(lua_State *L, tl_state *st, int at, tl_kind kind, const char *what) {
  void *inner = *(void **)tl_check_kind(L, st, at, kind);
  if (inner == NULL)
    tl_fail_code(L, st, TFSDK_FAILED_PRECONDITION, NULL, "this %s was closed", what);
  return inner;
}
static tfsdk_session *check_session(lua_State *L, tl_state *st, int at) {
  return (tfsdk_session *)first_member(L, st, at, TL_SESSION, "session");
}
static tfsdk_iterator *check_iterator(lua_State *L, tl_state *st, int at) {
  return (tfsdk_iterator *)first_member(L, st, at, TL_ITERATOR, "iterator");
}

/* private.session_assign(session, name, tensor) */
static int session_assign(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_check_op(L, st,
              tfsdk_session_assign(check_session(L, st, 1), luaL_checkstring(L, 2),
                                   tl_check_tensor(L, st, 3)),
              "restore");
  return 0;
}

/* private.random_state(session or nil): text */
static int random_state(lua_State *L) {
  tl_state *st = tl_get(L);
  char *text = NULL;
  luaL_checkstack(L, 4, NULL);
  if (lua_isnoneornil(L, 1))
    tl_check(L, st, tfsdk_eager_random_save(tl_runtime(L, st), &text));
  else
    tl_check(L, st, tfsdk_session_random_save(check_session(L, st, 1), &text));
  return take_text(L, text);
}

/* private.set_random_state(session or nil, text) */
static int set_random_state(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *text = luaL_checkstring(L, 2);
  if (lua_isnil(L, 1))
    tl_check_op(L, st, tfsdk_eager_random_restore(tl_runtime(L, st), text), "restore");
  else
    tl_check_op(L, st, tfsdk_session_random_restore(check_session(L, st, 1), text), "restore");
  return 0;
}

/* iterator:position(): text; see iterator:seek */
static int position(lua_State *L) {
  tl_state *st = tl_get(L);
  char *text = NULL;
  luaL_checkstack(L, 4, NULL);
  tl_check(L, st, tfsdk_iterator_save(check_iterator(L, st, 1), &text));
  return take_text(L, text);
}

/* private.seek(iterator, text): a new iterator of a dataset made the same way goes on from there */
static int seek(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_check_op(L, st, tfsdk_iterator_restore(check_iterator(L, st, 1), luaL_checkstring(L, 2)),
              "restore");
  return 0;
}

/* ------------------------------------------------------------------------------ SIGINT, SIGTERM */

static volatile sig_atomic_t asked; /* the signal that came; the process has one set of handlers */
static int catching;                /* guards that are open */
static struct sigaction before[2];
static const int signals[2] = {SIGINT, SIGTERM};

/* The second one is the usual end: whoever is asked twice is not waited for. */
static void on_signal(int number) {
  asked = number;
  for (int i = 0; i < 2; i++) sigaction(signals[i], &before[i], NULL);
}

/* private.catch_signals(): they wait until release_signals */
static int catch_signals(lua_State *L) {
  struct sigaction action;
  (void)L;
  if (catching++ > 0) return 0;
  asked = 0;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (int i = 0; i < 2; i++) sigaction(signals[i], &action, &before[i]);
  return 0;
}

/* private.caught_signal(): "SIGINT", "SIGTERM", or nil */
static int caught_signal(lua_State *L) {
  if (asked == 0)
    lua_pushnil(L);
  else
    lua_pushstring(L, asked == SIGTERM ? "SIGTERM" : "SIGINT");
  return 1;
}

/* private.release_signals(): what has come meanwhile comes now */
static int release_signals(lua_State *L) {
  int number = asked;
  (void)L;
  if (catching == 0 || --catching > 0) return 0;
  asked = 0;
  if (number == 0)
    for (int i = 0; i < 2; i++) sigaction(signals[i], &before[i], NULL);
  else
    raise(number);
  return 0;
}

/* private.sleep(seconds): until then, or until a signal comes */
static int sleep_for(lua_State *L) {
  double seconds = luaL_checknumber(L, 1);
  struct timespec t;
  if (!(seconds > 0)) return 0;
  if (seconds > 1e9) seconds = 1e9;
  t.tv_sec = (time_t)seconds;
  t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
  nanosleep(&t, NULL);
  return 0;
}

void tl_open_tensor_file(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {{"__gc", saving_gc}, {NULL, NULL}};
  static const luaL_Reg hidden[] = {{"file_list", file_list},
                                    {"file_read", file_read},
                                    {"file_metadata", file_metadata},
                                    {"file_write", file_write},
                                    {"op_plugin", op_plugin},
                                    {"path_kind", path_kind},
                                    {"saving_done", saving_done},
                                    {"saving_wait", saving_wait},
                                    {"session_assign", session_assign},
                                    {"random_state", random_state},
                                    {"set_random_state", set_random_state},
                                    {"position", position},
                                    {"seek", seek},
                                    {"catch_signals", catch_signals},
                                    {"caught_signal", caught_signal},
                                    {"release_signals", release_signals},
                                    {"sleep", sleep_for},
                                    {NULL, NULL}};
  lua_newtable(L);
  luaL_setfuncs(L, meta, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &saving_key);
  tl_add_private(L, st, hidden);
}
