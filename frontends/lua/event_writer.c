/* event_writer.c - event files for lua/summary.lua: the writer `tfevents` of the plugin
 * tensorboard. */
#include "module.h"

static const char writer_key = 0; /* its address names the metatable */

typedef struct event_writer {
  tfsdk_writer *w; /* NULL once closed */
} event_writer;

static int writer_gc(lua_State *L) {
  event_writer *e = (event_writer *)lua_touserdata(L, 1);
  tfsdk_writer_release(e->w); /* writes what is left */
  e->w = NULL;
  return 0;
}

static tfsdk_writer *check_writer(lua_State *L, tl_state *st) {
  event_writer *e = (event_writer *)lua_touserdata(L, 1);
  int fits = e != NULL && lua_getmetatable(L, 1);
  if (fits) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &writer_key);
    fits = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
  }
  if (!fits || e->w == NULL) tl_fail(L, st, "FileWriter", "the file is closed");
  return e->w;
}

/* private.events_open(folder, max_queue, flush_secs, filename_suffix) */
static int events_open(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *folder = luaL_checkstring(L, 1);
  tfsdk_attrval options[3] = {tfsdk_a_int("max_queue", luaL_checkinteger(L, 2)),
                              tfsdk_a_int("flush_secs", luaL_checkinteger(L, 3)),
                              tfsdk_a_string("filename_suffix", luaL_optstring(L, 4, ""))};
  event_writer *e = (event_writer *)lua_newuserdatauv(L, sizeof *e, 0);
  e->w = NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &writer_key);
  lua_setmetatable(L, -2);
  tl_check_op(L, st, tfsdk_writer_create(tl_runtime(L, st), folder, "tfevents", options, 3, &e->w),
              "FileWriter");
  return 1;
}

/* One scalar of a type, or a string; a value on the stack owns it. */
static tfsdk_tensor *scalar(lua_State *L, tl_state *st, int32_t dtype, const void *bytes,
                            size_t n) {
  tl_tensor *box = tl_push_box(L, st);
  tfsdk_tensor *t = NULL;
  const char *text = (const char *)bytes;
  tl_check(L, st,
           dtype == TFSDK_STRING
               ? tfsdk_tensor_create_strings(tl_runtime(L, st), 0, NULL, &text, &n, &t)
               : tfsdk_tensor_create(tl_runtime(L, st), dtype, 0, NULL, bytes, n, &t));
  tl_fill_box(L, st, box, t);
  return t;
}

/* private.events_add(writer, what, bytes, step, wall_time or nil) */
static int events_add(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_writer *w = check_writer(L, st);
  const char *names[3] = {luaL_checkstring(L, 2), "step", "wall_time"}, *bytes;
  tfsdk_tensor *tensors[3];
  size_t n, count = 2;
  int64_t step = luaL_optinteger(L, 4, 0);
  double wall_time = luaL_optnumber(L, 5, 0);
  bytes = luaL_checklstring(L, 3, &n);
  tensors[0] = scalar(L, st, TFSDK_STRING, bytes, n);
  tensors[1] = scalar(L, st, TFSDK_INT64, &step, sizeof step);
  if (!lua_isnoneornil(L, 5)) tensors[count++] = scalar(L, st, TFSDK_FLOAT64, &wall_time, 8);
  tl_check_op(L, st, tfsdk_writer_append(w, names, tensors, count),
              strcmp(names[0], "summary") == 0 ? "add_summary" : "FileWriter");
  return 0;
}

/* private.events_flush(writer) */
static int events_flush(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_check_op(L, st, tfsdk_writer_flush(check_writer(L, st), 0), "FileWriter.flush");
  return 0;
}

/* private.events_close(writer): its file is released in any case */
static int events_close(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_writer *w = check_writer(L, st);
  ((event_writer *)lua_touserdata(L, 1))->w = NULL;
  tfsdk_status *s = tfsdk_writer_finish(w);
  tfsdk_writer_release(w);
  tl_check_op(L, st, s, "FileWriter.close");
  return 0;
}

void tl_open_event_writer(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {{"__gc", writer_gc}, {NULL, NULL}};
  static const luaL_Reg hidden[] = {{"events_open", events_open},
                                    {"events_add", events_add},
                                    {"events_flush", events_flush},
                                    {"events_close", events_close},
                                    {NULL, NULL}};
  lua_newtable(L);
  luaL_setfuncs(L, meta, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &writer_key);
  tl_add_private(L, st, hidden);
}
