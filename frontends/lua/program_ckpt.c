/* program_ckpt.c - `tfsdk ckpt`: looks into checkpoints and weight files. lua/ckpt.lua does it. */
#include "program.h"

/* checkpoint_tool(arguments...) on the stack's n strings. */
static int call_tool(lua_State *L) {
  int n = lua_gettop(L);
  luaL_requiref(L, "tfsdk", luaopen_tfsdk, 0);
  lua_getfield(L, -1, "train");
  lua_getfield(L, -1, "checkpoint_tool");
  lua_insert(L, 1);
  lua_settop(L, n + 1);
  lua_call(L, n, 1);
  return 1;
}

int program_ckpt(lua_State *L, int argc, char **argv) {
  int rc, code = PROGRAM_SCRIPT_ERROR;
  luaL_checkstack(L, argc + 4, NULL);
  lua_pushcfunction(L, call_tool);
  for (int i = 2; i < argc; i++) lua_pushstring(L, argv[i]);
  rc = program_call(L, argc > 2 ? argc - 2 : 0, 1);
  if (rc != PROGRAM_DONE) return rc;
  code = (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return code;
}
