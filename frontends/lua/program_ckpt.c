/* program_ckpt.c - commands that are Lua functions of the module: `tfsdk ckpt`, `inspect`, `graph`.
 * Their arguments are texts; they give the exit code. */
#include "program.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *command, *space, *function;
} tools[] = {{"ckpt", "train", "checkpoint_tool"},
             {"inspect", "debug", "inspect_tool"},
             {"graph", "graph_util", "graph_tool"}};

int program_is_tool(const char *command) {
  for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
    if (strcmp(tools[i].command, command) == 0) return 1;
  return 0;
}

/* The function's place on the stack, below its arguments. */
static int call_tool(lua_State *L) {
  int n = lua_gettop(L), which = (int)lua_tointeger(L, lua_upvalueindex(1));
  luaL_requiref(L, "tfsdk", luaopen_tfsdk, 0);
  lua_getfield(L, -1, tools[which].space);
  lua_getfield(L, -1, tools[which].function);
  lua_insert(L, 1);
  lua_settop(L, n + 1);
  lua_call(L, n, 1);
  return 1;
}

int program_tool(lua_State *L, int argc, char **argv) {
  int rc, code, which = 0;
  while (strcmp(tools[which].command, argv[1]) != 0) which++;
  luaL_checkstack(L, argc + 4, NULL);
  lua_pushinteger(L, which);
  lua_pushcclosure(L, call_tool, 1);
  for (int i = 2; i < argc; i++) lua_pushstring(L, argv[i]);
  rc = program_call(L, argc > 2 ? argc - 2 : 0, 1);
  if (rc != PROGRAM_DONE) return rc;
  code = (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return code;
}

/* ---------------------------------------------------------------------------------------- profile
 */

typedef struct report {
  int show;
  const char *path, *logdir;
} report;

static int call_report(lua_State *L) {
  const report *r = (const report *)lua_touserdata(L, 1);
  tl_push_member(L, tl_find(L), "Trace", "report"); /* lua/profile.lua */
  lua_pushboolean(L, r->show);
  lua_pushstring(L, r->path);
  lua_pushstring(L, r->logdir);
  lua_call(L, 3, 0);
  return 0;
}

int program_profile_report(lua_State *L, int show, const char *path, const char *logdir) {
  report r = {show, path, logdir};
  lua_pushcfunction(L, call_report);
  lua_pushlightuserdata(L, &r);
  return program_call(L, 1, 0);
}
