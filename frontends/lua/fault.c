/* fault.c - wrong uses of functions that are written in Lua, told as faults of the call.
 *
 * Lua's own errors about a line of the facade ("attempt to index a nil value (local 'y')") say nothing to a caller. The
 * values of the call are known, and mostly one of them alone is of the kind that the text complains of: it is named,
 * with what was expected, at the script's line. Errors of the script's own functions pass as they are.
 */
#include "ops.h"

#include <stdio.h>
#include <stdlib.h>

/* The kind of a value as Lua's texts have it: "function", "Tensor". */
static const char *kind_in_texts(lua_State *L, int index) {
  const char *name = luaL_typename(L, index);
  if (luaL_getmetafield(L, index, "__name") != LUA_TNIL) {
    if (lua_type(L, -1) == LUA_TSTRING) name = lua_tostring(L, -1); /* the metatable holds it */
    lua_pop(L, 1);
  }
  return name;
}

/* What the text complains of: kind of the value, the name Lua knows it by and of which sort that is, what would be
 * right. Parts that are not there are "". */
typedef struct complaint {
  char kind[48], sort[16], name[64];
  const char *wanted;
} complaint;

static void read_word(const char *from, char end, char *to, size_t cap) {
  size_t n = 0;
  while (from[n] != 0 && from[n] != end && n + 1 < cap) n++;
  memcpy(to, from, n);
  to[n] = 0;
}

static complaint read_complaint(const char *text) {
  static const struct {
    const char *begins, *wanted;
  } known[] = {{"attempt to index a ", NULL},
               {"attempt to call a ", "a function"},
               {"attempt to get length of a ", "a list"},
               {"attempt to perform arithmetic on a ", "a number or a tensor"},
               {"attempt to perform bitwise operation on a ", "a whole number"},
               {"attempt to concatenate a ", "a string"},
               {"attempt to compare ", "a number"}};
  complaint c = {"", "", "", NULL};
  if (strncmp(text, "attempt to ", 11) == 0 && strstr(text, " with a 'string'") != NULL) {
    strcpy(c.kind, "string"); /* attempt to sub a 'number' with a 'string' */
    c.wanted = "a number or a tensor";
    return c;
  }
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const char *rest = text + strlen(known[i].begins), *sort, *name;
    if (strncmp(text, known[i].begins, strlen(known[i].begins)) != 0) continue;
    c.wanted = known[i].wanted;
    if (strncmp(rest, "two ", 4) == 0) rest += 4;
    read_word(rest, ' ', c.kind, sizeof c.kind);
    sort = strchr(rest, '(');
    name = sort != NULL ? strchr(sort, '\'') : NULL;
    if (name == NULL) return c;
    read_word(sort + 1, ' ', c.sort, sizeof c.sort);
    read_word(name + 1, '\'', c.name, sizeof c.name);
    return c;
  }
  if (strstr(text, "expected, got ") !=
      NULL) { /* bad argument #1 to 'f' (number expected, got nil) */
    read_word(strstr(text, "expected, got ") + 14, ')', c.kind, sizeof c.kind);
    if (strncmp(text, "bad argument", 12) == 0) {
      static const char *const words[][2] = {{"(number expected", "a number"},
                                             {"(string expected", "a string"},
                                             {"(table expected", "a table"},
                                             {"(function expected", "a function"}};
      for (size_t i = 0; i < 4; i++)
        if (strstr(text, words[i][0]) != NULL) c.wanted = words[i][1];
    }
  } else if (strncmp(text, "table index is nil", 18) == 0) {
    strcpy(c.kind, "nil");
  }
  return c;
}

/* Which of the n values (lists of names and values at the indices) is meant; 0 if that is not sure. */
static int guilty(lua_State *L, const complaint *c, int names, int values, int n) {
  int found = 0, given = 0, last = 0;
  for (int i = 1; i <= n; i++) { /* the parameter itself */
    lua_rawgeti(L, names, i);
    int same = strcmp(c->sort, "local") == 0 && strcmp(lua_tostring(L, -1), c->name) == 0;
    lua_rawgeti(L, values, i);
    same = same && strcmp(kind_in_texts(L, -1), c->kind) == 0;
    lua_pop(L, 2);
    if (same) return i;
  }
  for (int i = 1; i <= n;
       i++) { /* the only value of that kind; the only one that is no object of ours */
    lua_rawgeti(L, names, i);
    int self = strcmp(lua_tostring(L, -1), "self") == 0;
    lua_rawgeti(L, values, i);
    if (!lua_isnil(L, -1) && !lua_isuserdata(L, -1) && !self) {
      given++;
      last = i;
    }
    if (strcmp(kind_in_texts(L, -1), c->kind) == 0) found = found == 0 ? i : -1;
    lua_pop(L, 2);
  }
  if (strcmp(c->kind, "nil") != 0) return found > 0 ? found : 0;
  /* something that the value should have is missing */
  if (strcmp(c->sort, "field") == 0 || strcmp(c->sort, "method") == 0) return given == 1 ? last : 0;
  for (int i = 1; i <= n && strcmp(c->sort, "local") != 0; i++) { /* a value that was left out */
    lua_rawgeti(L, values, i);
    int absent = lua_isnil(L, -1);
    lua_pop(L, 1);
    if (absent) return i;
  }
  return 0;
}

/* Errors of ours that say no function, or one that scripts did not call (a value's conversion), raised at this very call:
 * they are told of this function, and of the argument if it is sure which. */
static int give_name(lua_State *L, const char *function, int names, int values, int n) {
  int error = lua_gettop(L);
  char here[512], kind[32] = "", text[512];
  const char *op, *message, *rest = NULL;
  if (lua_type(L, error) != LUA_TTABLE || luaL_getmetafield(L, error, "__name") == LUA_TNIL)
    return 0;
  if (lua_type(L, -1) != LUA_TSTRING || strcmp(lua_tostring(L, -1), "tfsdk.Error") != 0) return 0;
  tl_where(L, here, sizeof here);
  if (lua_getfield(L, error, "where") != LUA_TSTRING || strcmp(lua_tostring(L, -1), here) != 0)
    return 0;
  op = lua_getfield(L, error, "op") == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  if (op != NULL && strcmp(op, "tf.tensor") != 0 && strcmp(op, "input") != 0) return 0;
  if (lua_getfield(L, error, "message") != LUA_TSTRING) return 0;
  lua_pushstring(L, function);
  lua_setfield(L, error, "op");
  message = lua_tostring(L, -1);
  /* "'data': a string cannot become int64", "a function is no tensor": which argument? */
  if (strncmp(message, "'data'", 6) == 0) rest = message + 6;
  if (strncmp(message, "'value'", 7) == 0) rest = message + 7;
  if (strncmp(message, "a function is no tensor", 24) == 0) {
    rest = " must be a tensor, not a function";
    strcpy(kind, "function");
  } else if (rest != NULL && strncmp(rest, ": a ", 4) == 0) {
    read_word(rest + 4, ' ', kind, sizeof kind);
  } else if (rest != NULL && strncmp(rest, " has keys", 9) == 0) {
    strcpy(kind, "table");
  }
  if (kind[0] != 0) {
    complaint c = {"", "", "", NULL};
    strcpy(c.kind, kind);
    int i = guilty(L, &c, names, values, n);
    if (i > 0) {
      lua_rawgeti(L, names, i);
      snprintf(text, sizeof text, "'%s'%s", lua_tostring(L, -1), rest);
      lua_pushstring(L, text);
      lua_setfield(L, error, "message");
    }
  }
  return 1;
}

/* Whether the text is about a line of a function that the call was given: then it is not this call's fault. */
static int of_callback(lua_State *L, const char *text, int values, int n) {
  lua_Debug ar;
  int yes = 0;
  for (int i = 1; i <= n && !yes; i++) {
    if (lua_rawgeti(L, values, i) == LUA_TFUNCTION && !lua_iscfunction(L, -1)) {
      lua_pushvalue(L, -1);
      lua_getinfo(L, ">S", &ar);
      size_t at = strlen(ar.short_src);
      yes = strncmp(text, ar.short_src, at) == 0 && text[at] == ':';
    }
    lua_pop(L, 1);
  }
  return yes;
}

int tl_fault(lua_State *L, tl_state *st, const char *function, int names, int values, int n) {
  const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL, *rest, *name;
  int error = lua_gettop(L), i;
  complaint c;
  luaL_checkstack(L, 16, NULL);
  if (text == NULL) {
    (void)give_name(L, function, names, values, n);
    lua_settop(L, error);
    return lua_error(L);
  }
  if (strncmp(text, "tfsdk:", 6) == 0) {
    if (of_callback(L, text, values, n)) return lua_error(L);
    rest = strstr(text, ": ");
    text = rest != NULL ? rest + 2 : text;
  } else if (strncmp(text, "attempt to ", 11) != 0 && strncmp(text, "bad argument ", 13) != 0) {
    return lua_error(L);
  }
  c = read_complaint(text);
  i = c.kind[0] != 0 ? guilty(L, &c, names, values, n) : 0;
  if (i == 0) return tl_fail(L, st, function, "an argument is of the wrong kind (%s)", text);
  lua_rawgeti(L, names, i);
  name = lua_tostring(L, -1);
  lua_rawgeti(L, values, i);
  if (lua_isnil(L, -1)) return tl_fail(L, st, function, "argument '%s' is missing", name);
  if (c.wanted == NULL || strcmp(kind_in_texts(L, -1), c.kind) != 0)
    return tl_fail(L, st, function, "argument '%s' cannot be %s", name, tl_type_name(L, st, -1));
  return tl_fail(L, st, function, "argument '%s' must be %s, not %s", name, c.wanted,
                 tl_type_name(L, st, -1));
}

/* ------------------------------------------------------------------- functions without signature */

/* Upvalues of a guarded function: 1 state, 2 function, 3 its name. After the call: the arguments, then results. */
static int guard_end(lua_State *L, int status, lua_KContext n_args) {
  int n = (int)n_args, error = lua_gettop(L), methods = 0;
  if (status == LUA_OK || status == LUA_YIELD) return error - n;
  lua_newtable(L);
  lua_newtable(L);
  for (int i = 1; i <= n; i++) {
    const char *name;
    lua_pushvalue(L, lua_upvalueindex(2));
    name = lua_getlocal(L, NULL, i); /* pops the function */
    if (i == 1) methods = name != NULL && strcmp(name, "self") == 0;
    if (name == NULL || name[0] == '(')
      lua_pushfstring(L, "argument %d", i - methods);
    else
      lua_pushstring(L, name);
    lua_rawseti(L, error + 1, i);
    lua_pushvalue(L, i);
    lua_rawseti(L, error + 2, i);
  }
  lua_pushvalue(L, error);
  return tl_fault(L, tl_get(L), lua_tostring(L, lua_upvalueindex(3)), error + 1, error + 2, n);
}
static int guarded(lua_State *L) {
  int n = lua_gettop(L);
  luaL_checkstack(L, n + 8, NULL);
  lua_pushvalue(L, lua_upvalueindex(2));
  for (int i = 1; i <= n; i++) lua_pushvalue(L, i);
  return guard_end(L, lua_pcallk(L, n, LUA_MULTRET, 0, n, guard_end), n);
}

void tl_guard(lua_State *L, int state, const char *name) {
  int fn = lua_gettop(L);
  lua_pushvalue(L, state);
  lua_pushvalue(L, fn);
  lua_pushstring(L, name);
  lua_pushcclosure(L, guarded, 3);
  lua_replace(L, fn);
}

/* private.guard(path, function): the function, whose faults are told at the script's line. */
static int guard(lua_State *L) {
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  tl_guard(L, lua_upvalueindex(1), luaL_checkstring(L, 1));
  return 1;
}

/* private.guard_all(path, table, [but]): the same for all functions of a table that are written in Lua, but those for
 * which but(function) is true. Names that begin with "_" are metamethods: left alone. */
static int guard_all(lua_State *L) {
  char path[256];
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 3);
  lua_pushnil(L);
  while (lua_next(L, 2) != 0) {
    int plain = lua_type(L, -2) == LUA_TSTRING && lua_tostring(L, -2)[0] != '_' &&
                lua_isfunction(L, -1) && !lua_iscfunction(L, -1);
    if (plain && !lua_isnil(L, 3)) {
      lua_pushvalue(L, 3);
      lua_pushvalue(L, -2);
      lua_call(L, 1, 1);
      plain = !lua_toboolean(L, -1);
      lua_pop(L, 1);
    }
    if (plain) {
      snprintf(path, sizeof path, "%s%s", luaL_checkstring(L, 1), lua_tostring(L, -2));
      tl_guard(L, lua_upvalueindex(1), path);
      lua_pushvalue(L, -2);
      lua_insert(L, -2);
      lua_rawset(L, 2); /* the key exists: the walk may go on */
    } else {
      lua_pop(L, 1);
    }
  }
  return 0;
}

/* private.shown(value): as messages show it: 2.5, 'abc', true, nil, "a function", "Tensor". */
static int shown(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_settop(L, 1);
  switch (lua_type(L, 1)) {
  case LUA_TNUMBER:
  case LUA_TBOOLEAN: luaL_tolstring(L, 1, NULL); break;
  case LUA_TSTRING: lua_pushfstring(L, "'%s'", lua_tostring(L, 1)); break;
  default: lua_pushstring(L, tl_type_name(L, st, 1)); break;
  }
  return 1;
}

/* private.options(function, table or nil, "words"): the table ({} for nil), which has no other names than the words. */
static int options(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *function = luaL_checkstring(L, 1), *words = luaL_checkstring(L, 3), *list[64], *near;
  char buffer[1024];
  size_t n = 0;
  lua_settop(L, 3);
  if (lua_isnil(L, 2)) {
    lua_newtable(L);
    return 1;
  }
  if (!lua_istable(L, 2) || tl_kind_of(L, st, 2) != TL_NONE)
    return tl_fail(L, st, function, "the options must be a table, not %s", tl_type_name(L, st, 2));
  snprintf(buffer, sizeof buffer, "%s", words);
  for (char *at = NULL, *p = strtok_r(buffer, " ", &at); p != NULL && n < 64;
       p = strtok_r(NULL, " ", &at))
    list[n++] = p;
  lua_pushnil(L);
  while (lua_next(L, 2) != 0) {
    size_t i = 0;
    lua_pop(L, 1);
    if (lua_type(L, -1) != LUA_TSTRING)
      return tl_fail(L, st, function, "the table of options has the key [%s]; options have names",
                     luaL_tolstring(L, -1, NULL));
    while (i < n && strcmp(list[i], lua_tostring(L, -1)) != 0) i++;
    if (i < n) continue;
    near = tl_nearest(lua_tostring(L, -1), list, n);
    if (near != NULL)
      return tl_fail(L, st, function, "unknown option '%s'; did you mean '%s'?",
                     lua_tostring(L, -1), near);
    return tl_fail(L, st, function, "unknown option '%s'; there %s %s", lua_tostring(L, -1),
                   n == 1 ? "is" : "are", n == 0 ? "none" : words);
  }
  lua_settop(L, 2);
  return 1;
}

void tl_open_fault(lua_State *L, tl_state *st) {
  static const luaL_Reg hidden[] = {{"guard", guard},
                                    {"guard_all", guard_all},
                                    {"shown", shown},
                                    {"options", options},
                                    {NULL, NULL}};
  tl_add_private(L, st, hidden);
}
