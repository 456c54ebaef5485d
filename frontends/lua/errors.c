/* errors.c - errors as tables {code, message, op, node, where} that print as one line and a half:
 *
 *     train.lua:7: MatMul 'dense/MatMul': inner dimensions differ: (8, 4) x (5, 3)
 *       run at train.lua:31
 *
 * The first place is where the failing node was made, the second where it was run.
 */
#include "module.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void tl_where(lua_State *L, char *out, size_t cap) {
  lua_Debug ar;
  out[0] = 0;
  for (int level = 0; lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "S", &ar);
    if (ar.what[0] == 'C' || strncmp(ar.source, TL_INTERNAL_CHUNK, strlen(TL_INTERNAL_CHUNK)) == 0)
      continue;
    lua_getinfo(L, "l", &ar);
    if (ar.currentline <= 0) continue;
    if (ar.source[0] == '@' || ar.source[0] == '=')
      snprintf(out, cap, "%s:%d", ar.source + 1, ar.currentline);
    else
      snprintf(out, cap, "%s:%d", ar.short_src, ar.currentline);
    return;
  }
}

static int error_tostring(lua_State *L) {
  luaL_Buffer b;
  lua_settop(L, 1);
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_getfield(L, 1, "where");
  lua_getfield(L, 1, "op");
  lua_getfield(L, 1, "node");
  lua_getfield(L, 1, "message");
  lua_getfield(L, 1, "run_at");
  luaL_buffinit(L, &b);
  if (lua_isstring(L, 2)) {
    lua_pushvalue(L, 2);
    luaL_addvalue(&b);
    luaL_addstring(&b, ": ");
  }
  if (lua_isstring(L, 3)) {
    lua_pushvalue(L, 3);
    luaL_addvalue(&b);
    if (lua_isstring(L, 4)) {
      luaL_addstring(&b, " '");
      lua_pushvalue(L, 4);
      luaL_addvalue(&b);
      luaL_addchar(&b, '\'');
    }
    luaL_addstring(&b, ": ");
  }
  luaL_tolstring(L, 5, NULL);
  luaL_addvalue(&b);
  if (lua_isstring(L, 6)) {
    luaL_addstring(&b, "\n  run at ");
    lua_pushvalue(L, 6);
    luaL_addvalue(&b);
  }
  luaL_pushresult(&b);
  return 1;
}

static const char meta_key = 0; /* its address names the metatable of errors in the registry */

void tl_open_errors(lua_State *L, tl_state *st) {
  (void)st;
  lua_newtable(L);
  lua_pushcfunction(L, error_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pushliteral(L, "tfsdk.Error");
  lua_setfield(L, -2, "__name");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &meta_key);
}

static void set_field(lua_State *L, const char *key, const char *value) {
  if (value == NULL || value[0] == 0) return;
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

static int raise(lua_State *L, const char *code, const char *message, const char *op,
                 const char *node, const char *where) {
  char here[512];
  luaL_checkstack(L, 8, NULL);
  tl_where(L, here, sizeof here);
  lua_createtable(L, 0, 6);
  set_field(L, "code", code);
  lua_pushstring(L, message);
  lua_setfield(L, -2, "message");
  set_field(L, "op", op);
  set_field(L, "node", node);
  if (where != NULL && where[0] != 0) {
    set_field(L, "where", where);
    if (strcmp(where, here) != 0) set_field(L, "run_at", here);
  } else {
    set_field(L, "where", here);
  }
  lua_rawgetp(L, LUA_REGISTRYINDEX, &meta_key);
  lua_setmetatable(L, -2);
  return lua_error(L);
}

/* Holds a status while its texts are copied, in case that raises. */
static int status_gc(lua_State *L) {
  tfsdk_status **s = (tfsdk_status **)lua_touserdata(L, 1);
  tfsdk_status_release(*s);
  *s = NULL;
  return 0;
}

void tl_check_op(lua_State *L, tl_state *st, tfsdk_status *s, const char *op) {
  tfsdk_status **box;
  const char *own_op, *node;
  (void)st;
  if (s == NULL) return;
  box = (tfsdk_status **)lua_newuserdatauv(L, sizeof *box, 0);
  *box = s;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, status_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  own_op = tfsdk_status_get(s, "op");
  node = tfsdk_status_get(s, "node");
  if (own_op == NULL || own_op[0] == 0) own_op = op;
  if (node != NULL && own_op != NULL && strcmp(node, own_op) == 0) node = NULL;
  raise(L, tfsdk_status_code_name(tfsdk_status_code(s)), tfsdk_status_message(s), own_op, node,
        tfsdk_status_get(s, "where"));
}

void tl_check(lua_State *L, tl_state *st, tfsdk_status *s) { tl_check_op(L, st, s, NULL); }

static int vfail(lua_State *L, int32_t code, const char *op, const char *format, va_list args) {
  char text[1024];
  vsnprintf(text, sizeof text, format, args);
  return raise(L, tfsdk_status_code_name(code), text, op, NULL, NULL);
}

int tl_fail(lua_State *L, tl_state *st, const char *op, const char *format, ...) {
  va_list args;
  (void)st;
  va_start(args, format);
  vfail(L, TFSDK_INVALID_ARGUMENT, op, format, args); /* raises; va_end has no work to do here */
  va_end(args);
  return 0;
}

int tl_fail_code(lua_State *L, tl_state *st, int32_t code, const char *op, const char *format,
                 ...) {
  va_list args;
  (void)st;
  va_start(args, format);
  vfail(L, code, op, format, args);
  va_end(args);
  return 0;
}

/* Edits (insert, delete, replace, swap neighbours) between two short words; `limit` and more count
 * as limit. */
static size_t distance(const char *a, const char *b, size_t limit) {
  size_t n = strlen(a), m = strlen(b), row[3][64];
  if (n > 63 || m > 63 || (n > m ? n - m : m - n) >= limit) return limit;
  for (size_t j = 0; j <= m; j++) row[1][j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t *now = row[(i + 1) % 3], *one = row[i % 3], *two = row[(i + 2) % 3];
    now[0] = i;
    for (size_t j = 1; j <= m; j++) {
      size_t d = one[j - 1] + (a[i - 1] != b[j - 1]);
      if (one[j] + 1 < d) d = one[j] + 1;
      if (now[j - 1] + 1 < d) d = now[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two[j - 2] + 1 < d)
        d = two[j - 2] + 1;
      now[j] = d;
    }
  }
  return row[(n + 1) % 3][m];
}

const char *tl_nearest(const char *word, const char *const *list, size_t n) {
  size_t best = strlen(word) / 3 + 2;
  const char *found = NULL;
  for (size_t i = 0; i < n; i++) {
    size_t d = distance(word, list[i], best);
    if (d < best) {
      best = d;
      found = list[i];
    }
  }
  if (found != NULL) return found;
  for (size_t i = 0; i < n; i++) /* "stride" of "strides", "pad" of "padding" */
    if (strlen(word) >= 3 && (strncmp(list[i], word, strlen(word)) == 0)) return list[i];
  return NULL;
}

const char *tl_type_name(lua_State *L, tl_state *st, int index) {
  (void)st;
  switch (lua_type(L, index)) {
  case LUA_TNONE: return "nothing";
  case LUA_TNIL: return "nil";
  case LUA_TBOOLEAN: return "a boolean";
  case LUA_TNUMBER: return "a number";
  case LUA_TSTRING: return "a string";
  case LUA_TFUNCTION: return "a function";
  default: break;
  }
  if (luaL_getmetafield(L, index, "__name") == LUA_TSTRING) {
    const char *name = lua_tostring(L, -1); /* the metatable holds it */
    lua_pop(L, 1);
    return name;
  }
  return lua_type(L, index) == LUA_TTABLE ? "a table" : "a userdata";
}
