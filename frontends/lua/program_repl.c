/* program_repl.c - `tfsdk repl`: reads a line or a block, runs it, prints what it gives. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef TFSDK_READLINE
#include <readline/history.h>
#include <readline/readline.h>
#endif

static void history_path(char *out, size_t cap) {
  const char *home = getenv("HOME");
  out[0] = 0;
  if (home != NULL) snprintf(out, cap, "%s/.tfsdk_history", home);
}

/* Pushes a line without its end; 0 at the end of the input. */
static int push_line(lua_State *L, const char *prompt, int interactive) {
#ifdef TFSDK_READLINE
  if (interactive) {
    char *line = readline(prompt);
    if (line == NULL) return 0;
    lua_pushstring(L, line);
    free(line);
    return 1;
  }
#endif
  {
    char part[4096];
    luaL_Buffer b;
    int any = 0;
    if (interactive) {
      fputs(prompt, stdout);
      fflush(stdout);
    }
    luaL_buffinit(L, &b);
    while (fgets(part, sizeof part, stdin) != NULL) {
      size_t n = strlen(part);
      any = 1;
      if (n > 0 && part[n - 1] == '\n') {
        luaL_addlstring(&b, part, n - 1);
        break;
      }
      luaL_addlstring(&b, part, n);
    }
    luaL_pushresult(&b);
    if (!any) lua_pop(L, 1);
    return any;
  }
}

/* The chunk goes on in the next line if it ends where more is expected. */
static int incomplete(lua_State *L, int status) {
  size_t n;
  const char *text;
  if (status != LUA_ERRSYNTAX) return 0;
  text = lua_tolstring(L, -1, &n);
  return n >= 5 && strcmp(text + n - 5, "<eof>") == 0;
}

/* Replaces the source on top with the compiled chunk, reading on while it is incomplete. */
static int compile(lua_State *L, int interactive) {
  for (;;) {
    size_t n;
    const char *text;
    int status;
    lua_pushfstring(L, "return %s", lua_tostring(L, -1));
    text = lua_tolstring(L, -1, &n);
    if (luaL_loadbuffer(L, text, n, "=repl") == LUA_OK) {
      lua_replace(L, -3);
      lua_pop(L, 1);
      return LUA_OK;
    }
    lua_pop(L, 2);
    text = lua_tolstring(L, -1, &n);
    status = luaL_loadbuffer(L, text, n, "=repl");
    if (!incomplete(L, status) || !push_line(L, ">> ", interactive)) {
      lua_remove(L, -2);
      return status;
    }
    lua_remove(L, -2); /* the message */
    lua_pushliteral(L, "\n");
    lua_insert(L, -2);
    lua_concat(L, 3);
  }
}

static void print_results(lua_State *L, int first) {
  int n = lua_gettop(L) - first + 1;
  if (n <= 0) return;
  lua_getglobal(L, "print");
  lua_insert(L, first);
  program_call(L, n, 0);
}

int program_repl(lua_State *L) {
  int interactive = isatty(STDIN_FILENO), failed = 0;
  char history[1024];
  history_path(history, sizeof history);
  if (luaL_dostring(L, "tf = require 'tfsdk'") != LUA_OK) lua_pop(L, 1);
  if (interactive) {
    printf("tfsdk %s, %s. `tf` is the module; Ctrl-D ends.\n", tfsdk_version(), LUA_RELEASE);
#ifdef TFSDK_READLINE
    using_history();
    if (history[0] != 0) read_history(history);
    rl_bind_key('\t', rl_insert);
#endif
  }
  for (;;) {
    lua_settop(L, 0);
    if (!push_line(L, "> ", interactive)) break;
#ifdef TFSDK_READLINE
    if (interactive && lua_rawlen(L, 1) > 0) add_history(lua_tostring(L, 1));
#endif
    if (compile(L, interactive) != LUA_OK) {
      fprintf(stderr, "%s\n", lua_tostring(L, -1));
      failed = 1;
      continue;
    }
    if (program_call(L, 0, LUA_MULTRET) == PROGRAM_DONE)
      print_results(L, 1);
    else
      failed = 1;
  }
#ifdef TFSDK_READLINE
  if (interactive) {
    stifle_history(1000);
    if (history[0] != 0) write_history(history);
    printf("\n");
  }
#endif
  return !interactive && failed ? PROGRAM_SCRIPT_ERROR : PROGRAM_DONE;
}
