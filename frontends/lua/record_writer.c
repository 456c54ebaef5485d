/* record_writer.c - TFRecord files for lua/example.lua: the writer `tfrecord` of the plugin
 * readers. */
#include "module.h"

static const char writer_key = 0; /* its address names the metatable */
static const char who[] = "TFRecordWriter";

typedef struct record_writer {
  tfsdk_writer *w; /* NULL once closed */
} record_writer;

/* A writer that is forgotten keeps what it was given. */
static int writer_gc(lua_State *L) {
  record_writer *e = (record_writer *)lua_touserdata(L, 1);
  if (e->w != NULL) tfsdk_status_release(tfsdk_writer_finish(e->w));
  tfsdk_writer_release(e->w);
  e->w = NULL;
  return 0;
}

static tfsdk_writer *check_writer(lua_State *L, tl_state *st) {
  record_writer *e = (record_writer *)lua_touserdata(L, 1);
  int fits = e != NULL && lua_getmetatable(L, 1);
  if (fits) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &writer_key);
    fits = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
  }
  if (!fits || e->w == NULL) tl_fail(L, st, who, "the file is closed");
  return e->w;
}

/* private.records_open(path, compression_type, compression_level) */
static int records_open(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = luaL_checkstring(L, 1);
  tfsdk_attrval options[2] = {tfsdk_a_string("compression_type", luaL_checkstring(L, 2)),
                              tfsdk_a_int("compression_level", luaL_checkinteger(L, 3))};
  record_writer *e = (record_writer *)lua_newuserdatauv(L, sizeof *e, 0);
  e->w = NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &writer_key);
  lua_setmetatable(L, -2);
  tl_check_op(L, st, tfsdk_writer_create(tl_runtime(L, st), path, "tfrecord", options, 2, &e->w),
              who);
  return 1;
}

/* private.records_add(writer, bytes) */
static int records_add(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_writer *w = check_writer(L, st);
  const char *name = "data", *bytes;
  tfsdk_tensor *t = NULL;
  size_t n;
  bytes = luaL_checklstring(L, 2, &n);
  tl_check_op(L, st, tfsdk_tensor_create_strings(tl_runtime(L, st), 0, NULL, &bytes, &n, &t), who);
  tfsdk_status *s = tfsdk_writer_append(w, &name, &t, 1);
  tfsdk_tensor_release(t);
  tl_check_op(L, st, s, who);
  return 0;
}

/* private.records_flush(writer) */
static int records_flush(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_check_op(L, st, tfsdk_writer_flush(check_writer(L, st), 0), who);
  return 0;
}

/* private.records_close(writer): its file is released in any case */
static int records_close(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_writer *w = check_writer(L, st);
  ((record_writer *)lua_touserdata(L, 1))->w = NULL;
  tfsdk_status *s = tfsdk_writer_finish(w);
  tfsdk_writer_release(w);
  tl_check_op(L, st, s, who);
  return 0;
}

void tl_open_record_writer(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {{"__gc", writer_gc}, {NULL, NULL}};
  static const luaL_Reg hidden[] = {{"records_open", records_open},
                                    {"records_add", records_add},
                                    {"records_flush", records_flush},
                                    {"records_close", records_close},
                                    {NULL, NULL}};
  lua_newtable(L);
  luaL_setfuncs(L, meta, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &writer_key);
  tl_add_private(L, st, hidden);
}
