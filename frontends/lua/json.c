/* json.c - tf.json.decode. (Encoding is in lua/json.lua.) Whole numbers become Lua integers, null
 * is tf.json.null, arrays and objects are tables. */
#include "module.h"

#include <cjson/cJSON.h>
#include <math.h>

static const char null_key = 0; /* its address is tf.json.null */

static int tree_gc(lua_State *L) {
  cJSON **tree = (cJSON **)lua_touserdata(L, 1);
  cJSON_Delete(*tree);
  *tree = NULL;
  return 0;
}

static void push_json(lua_State *L, const cJSON *item) {
  lua_Integer i = 0;
  luaL_checkstack(L, 6, "JSON");
  if (cJSON_IsNumber(item)) {
    double x = item->valuedouble;
    if (floor(x) == x && fabs(x) < 9007199254740992.0)
      lua_pushinteger(L, (lua_Integer)x);
    else
      lua_pushnumber(L, x);
  } else if (cJSON_IsString(item)) {
    lua_pushstring(L, item->valuestring);
  } else if (cJSON_IsBool(item)) {
    lua_pushboolean(L, cJSON_IsTrue(item));
  } else if (cJSON_IsArray(item)) {
    lua_newtable(L);
    for (const cJSON *m = item->child; m != NULL; m = m->next) {
      push_json(L, m);
      lua_rawseti(L, -2, ++i);
    }
  } else if (cJSON_IsObject(item)) {
    lua_newtable(L);
    for (const cJSON *m = item->child; m != NULL; m = m->next) {
      lua_pushstring(L, m->string);
      push_json(L, m);
      lua_rawset(L, -3);
    }
  } else {
    lua_pushlightuserdata(L, (void *)(uintptr_t)&null_key);
  }
}

static int decode(lua_State *L) {
  tl_state *st = tl_get(L);
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n), *end = NULL;
  cJSON **tree = (cJSON **)lua_newuserdatauv(L, sizeof *tree, 0);
  *tree = NULL;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, tree_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  *tree = cJSON_ParseWithLengthOpts(text, n + 1, &end, 1);
  if (*tree == NULL) {
    int line = 1;
    for (const char *p = text; end != NULL && p < end && *p != 0; p++) line += *p == '\n';
    return tl_fail_code(L, st, TFSDK_DATA_LOSS, "tf.json.decode",
                        "this is no JSON: the fault is at byte %lld, line %d",
                        end != NULL ? (long long)(end - text) : 0LL, line);
  }
  push_json(L, *tree);
  return 1;
}

static int json_null(lua_State *L) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)&null_key);
  return 1;
}

void tl_open_json(lua_State *L, tl_state *st) {
  static const luaL_Reg hidden[] = {
      {"json_decode", decode}, {"json_null", json_null}, {NULL, NULL}};
  tl_add_private(L, st, hidden);
}
