/* program.h - the parts of the program `tfsdk`. */
#ifndef TFSDK_LUA_PROGRAM_H
#define TFSDK_LUA_PROGRAM_H

#include "module.h"

/* Exit codes; `tfsdk help` says them. */
enum {
  PROGRAM_DONE = 0,
  PROGRAM_SCRIPT_ERROR = 1,
  PROGRAM_USAGE = 2,
  PROGRAM_UNAVAILABLE = 3,
  PROGRAM_SIGINT = 130,
  PROGRAM_SIGTERM = 143
};

/* A Lua state with the standard libraries and the module, which is in package.loaded. NULL: no
 * memory. */
lua_State *program_new_state(const tl_options *options);
/* Calls the function below its n arguments; prints the error. While it runs, SIGINT and SIGTERM end
 * the script. Returns an exit code. */
int program_call(lua_State *L, int n_args, int n_results);
/* Makes the runtime, so that a missing plugin or device is told at once. */
int program_need_runtime(lua_State *L, tfsdk_runtime **out);
int program_repl(lua_State *L);

int program_ops(lua_State *L, const char *name);
int program_plugins(lua_State *L, int why);
int program_devices(lua_State *L);
int program_index(lua_State *L, const char *folder);
/* Commands that a function of the module carries out. */
int program_is_tool(const char *command);
int program_tool(lua_State *L, int argc, char **argv);
/* After a script whose runs were recorded: prints the table, writes Chrome's trace, an event file.
 */
int program_profile_report(lua_State *L, int show, const char *path, const char *logdir);
int program_watch(int argc, char **argv);
/* Becomes the program tfsdk-COMMAND, if there is one beside this; -1: there is none. */
int program_other(char **argv);

#endif
