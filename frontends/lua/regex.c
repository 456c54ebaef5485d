/* regex.c - POSIX extended regular expressions for filters over names: nodes, tensors. */
#include "module.h"

#include <regex.h>

/* private.regex_filter(pattern, names): the indices of the names in which the pattern is found. */
static int regex_filter(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *pattern = luaL_checkstring(L, 1);
  regex_t *re;
  char text[200];
  int bad, n = 0;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  re = (regex_t *)lua_newuserdatauv(L, sizeof *re, 0);
  lua_newtable(L);
  bad = regcomp(re, pattern, REG_EXTENDED | REG_NOSUB);
  if (bad != 0) {
    regerror(bad, re, text, sizeof text);
    return tl_fail(L, st, NULL, "'%s' is no regular expression: %s", pattern, text);
  }
  for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, 2); i++) {
    /* no call here raises but for lack of memory in rawseti; then the expression is lost */
    lua_rawgeti(L, 2, i);
    if (lua_type(L, -1) == LUA_TSTRING && regexec(re, lua_tostring(L, -1), 0, NULL, 0) == 0) {
      lua_pushinteger(L, i);
      lua_rawseti(L, 4, ++n);
    }
    lua_pop(L, 1);
  }
  regfree(re);
  return 1;
}

void tl_open_regex(lua_State *L, tl_state *st) {
  static const luaL_Reg hidden[] = {{"regex_filter", regex_filter}, {NULL, NULL}};
  tl_add_private(L, st, hidden);
}
