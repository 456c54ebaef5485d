/* program.c - the program `tfsdk`: the command line, and running a script. */
#include "program.h"
#include "monitor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: tfsdk COMMAND ...\n"
    "\n"
    "  run [OPTIONS] FILE [ARGS...]   run a script; `arg` as in stock Lua; FILE may be - (standard "
    "input)\n"
    "  repl [OPTIONS]                 read, run and print, line by line\n"
    "  ops [NAME]                     list the ops, or describe one\n"
    "  plugins [--why]                list the plugins; --why opens each and says what it brings\n"
    "  devices                        list the devices\n"
    "  explain [OPTIONS] FILE         run a script and print each plan that its sessions make\n"
    "  profile [OPTIONS] FILE [ARGS]  run a script; then where the time of its sessions went\n"
    "  inspect FILE [NAME...]         tensors of a dump or a weight file: ranges, NaN, values\n"
    "  graph show|dot|json|pb ...     a graph of a file or a script, in several forms\n"
    "  ckpt ls|show|diff|convert ...  look into checkpoints and weight files, compare, convert\n"
    "  watch [--once] LOGDIR          the latest scalars of all runs below a folder, as they come\n"
    "  board [--port N] LOGDIR        all of that and more as a page for the browser\n"
    "  plugin index FOLDER            write the index of a folder of plugins\n"
    "  version | help\n"
    "\n"
    "options of run, repl, explain and profile:\n"
    "  --device D      where nodes without a device go: cpu:0, cuda:0\n"
    "  --threads N     threads of host devices\n"
    "  --plugin FILE   load one more plugin; may be repeated\n"
    "  --log-level L   debug, info, warning, error or none\n"
    "  --seed S        seed of define-by-run and of the default graph\n"
    "  --trace FILE    record the sessions' runs; FILE is for chrome://tracing or Perfetto\n"
    "  --monitor DIR   write steps a second, memory and waiting for data there, every second\n"
    "  --logdir DIR    of profile: the run metadata as an event file for TensorBoard\n"
    "\n"
    "exit codes: 0 done; 1 the script raised an error; 2 wrong use of the command line; 3 a plugin "
    "or\n"
    "device that was asked for cannot be had; 130, 143 stopped by SIGINT, SIGTERM\n"
    "Results go to standard output, logs and errors to standard error.\n";

static lua_State *running; /* for the signal handlers: the program runs one script */
static volatile sig_atomic_t stopped;

/* Raises, and goes on raising: a pcall of the script cannot swallow the signal. The first time leaves room for
 * what is being closed on the way out. */
static void stop_script(lua_State *L, lua_Debug *ar) {
  static int again;
  (void)ar;
  lua_sethook(L, stop_script, LUA_MASKCOUNT, again ? 1 : 100000);
  again = 1;
  luaL_error(L, stopped == SIGTERM ? "terminated" : "interrupted");
}

static void on_signal(int number) {
  signal(number, SIG_DFL); /* a second one ends the process at once */
  stopped = number;
  if (running != NULL)
    lua_sethook(running, stop_script, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

/* Lua's "not enough memory" says no line: the allocator notes where the script was when it failed.
 */
static char no_memory_at[512];

static void *allocate(void *user, void *block, size_t old_n, size_t new_n) {
  void *p;
  (void)user;
  (void)old_n;
  if (new_n == 0) {
    free(block);
    return NULL;
  }
  p = realloc(block, new_n);
  if (p == NULL && running != NULL) tl_where(running, no_memory_at, sizeof no_memory_at);
  return p;
}

/* Makes a text of the error value: errors of the module say all themselves, plain ones get a
 * traceback. */
static int message_handler(lua_State *L) {
  if (lua_type(L, 1) == LUA_TSTRING) {
    luaL_traceback(L, L, lua_tostring(L, 1), 1);
    return 1;
  }
  if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return 1;
  lua_pushfstring(L, "(the error is a %s value)", luaL_typename(L, 1));
  return 1;
}

/* Frames of the module's own files say nothing to a user. */
static void print_error(const char *text) {
  fprintf(stderr, "tfsdk: ");
  while (*text != 0) {
    size_t n = strcspn(text, "\n");
    if (strncmp(text, "\ttfsdk:", 7) != 0 && strncmp(text, "\t[C]: in ?", 10) != 0)
      fprintf(stderr, "%.*s\n", (int)n, text);
    text += n;
    if (*text == '\n') text++;
  }
}

int program_call(lua_State *L, int n_args, int n_results) {
  int base = lua_gettop(L) - n_args, status;
  struct sigaction action, old_int, old_term;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  lua_pushcfunction(L, message_handler);
  lua_insert(L, base);
  stopped = 0;
  running = L;
  sigaction(SIGINT, &action, &old_int);
  sigaction(SIGTERM, &action, &old_term);
  status = lua_pcall(L, n_args, n_results, base);
  sigaction(SIGINT, &old_int, NULL);
  sigaction(SIGTERM, &old_term, NULL);
  running = NULL;
  lua_sethook(L, NULL, 0, 0);
  lua_remove(L, base);
  fflush(stdout);
  if (status == LUA_OK) return PROGRAM_DONE;
  if (stopped != 0) {
    fprintf(stderr, "tfsdk: %s\n", stopped == SIGTERM ? "terminated" : "interrupted");
    lua_pop(L, 1);
    return stopped == SIGTERM ? PROGRAM_SIGTERM : PROGRAM_SIGINT;
  }
  if (status == LUA_ERRMEM && no_memory_at[0] != 0) fprintf(stderr, "tfsdk: %s: ", no_memory_at);
  print_error(lua_tostring(L, -1) != NULL ? lua_tostring(L, -1) : "unknown error");
  lua_pop(L, 1);
  return PROGRAM_SCRIPT_ERROR;
}

/* ---------------------------------------------------------------------------------------------
 * set-up */

static int open_state(lua_State *L) {
  const tl_options *options = (const tl_options *)lua_touserdata(L, 1);
  luaL_openlibs(L);
  luaL_requiref(L, "tfsdk", luaopen_tfsdk, 0);
  lua_pop(L, 1);
  tl_set_options(L, options);
  return 0;
}

lua_State *program_new_state(const tl_options *options) {
  lua_State *L = lua_newstate(allocate, NULL);
  if (L == NULL) {
    fprintf(stderr, "tfsdk: there is no memory for a Lua state\n");
    return NULL;
  }
  lua_pushcfunction(L, open_state);
  lua_pushlightuserdata(L, (void *)(uintptr_t)options);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
    fprintf(stderr, "tfsdk: %s\n", lua_tostring(L, -1));
    lua_close(L);
    return NULL;
  }
  return L;
}

static int make_runtime(lua_State *L) {
  lua_pushlightuserdata(L, tl_runtime(L, tl_find(L)));
  return 1;
}

int program_need_runtime(lua_State *L, tfsdk_runtime **out) {
  lua_pushcfunction(L, make_runtime);
  if (program_call(L, 0, 1) != PROGRAM_DONE) return PROGRAM_UNAVAILABLE;
  if (out != NULL) *out = (tfsdk_runtime *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return PROGRAM_DONE;
}

/* -------------------------------------------------------------------------------------------
 * options */

#define MAX_PLUGINS 64

typedef struct command {
  tl_options options;
  const char *trace, *logdir, *monitor;
  const char *plugins[MAX_PLUGINS + 1];
} command;

static int wrong(const char *format, const char *what) {
  fprintf(stderr, "tfsdk: ");
  fprintf(stderr, format, what);
  fprintf(stderr, "\n");
  return -1;
}

static int read_level(const char *text, int32_t *out) {
  static const char *const names[] = {"debug", "info", "warning", "error", "none"};
  for (int i = 0; i < 5; i++) {
    if (strcmp(names[i], text) != 0) continue;
    *out = i;
    return 0;
  }
  return wrong("'%s' is no log level; there are debug, info, warning, error, none", text);
}

static int read_number(const char *text, long long *out) {
  char *end;
  *out = strtoll(text, &end, 10);
  return *text == 0 || *end != 0 ? wrong("'%s' is no whole number", text) : 0;
}

/* Reads options from argv[i] on; returns the index of the first other word, or -1. */
static int read_options(int argc, char **argv, int i, command *c) {
  size_t n_plugins = 0;
  for (; i < argc && argv[i][0] == '-' && argv[i][1] != 0; i++) {
    static const char *const names[] = {"--device", "--threads", "--plugin", "--log-level",
                                        "--seed",   "--trace",   "--logdir", "--monitor"};
    const char *word = argv[i], *value = NULL;
    int which = -1;
    long long number = 0;
    if (strcmp(word, "--") == 0) return i + 1;
    for (int k = 0; k < 8; k++) {
      size_t n = strlen(names[k]);
      if (strncmp(word, names[k], n) != 0 || (word[n] != 0 && word[n] != '=')) continue;
      which = k;
      value = word[n] == '=' ? word + n + 1 : NULL;
    }
    if (which < 0) return wrong("unknown option '%s'; see tfsdk help", word);
    if (value == NULL) {
      if (i + 1 >= argc) return wrong("option '%s' needs a value", word);
      value = argv[++i];
    }
    switch (which) {
    case 0: c->options.device = value; break;
    case 1:
      if (read_number(value, &number) != 0) return -1;
      if (number < 1 || number > 4096) return wrong("'%s' is no number of threads", value);
      c->options.threads = (uint32_t)number;
      break;
    case 2:
      if (n_plugins == MAX_PLUGINS) return wrong("too many plugins%s", "");
      c->plugins[n_plugins++] = value;
      break;
    case 3:
      if (read_level(value, &c->options.log_level) != 0) return -1;
      c->options.has_log_level = 1;
      break;
    case 4:
      if (read_number(value, &number) != 0) return -1;
      c->options.seed = number;
      c->options.has_seed = 1;
      break;
    case 5: c->trace = value; break;
    case 6: c->logdir = value; break;
    default: c->monitor = value; break;
    }
  }
  if (n_plugins > 0) c->options.plugins = c->plugins;
  return i;
}

/* ------------------------------------------------------------------------------------------------
 * run */

#define TRACE_EVENTS 500000 /* single steps that --trace keeps */

enum { RUN_PLAIN, RUN_EXPLAIN, RUN_PROFILE };

/* --monitor FOLDER: from before the script until the state is closed. */
static int monitor(lua_State *L) { return tl_monitor_start(L, tl_find(L), lua_tostring(L, 1), 1); }
static int start_monitor(lua_State *L, const char *logdir) {
  static const char key = 0;
  lua_pushcfunction(L, monitor);
  lua_pushstring(L, logdir);
  if (program_call(L, 1, 1) != PROGRAM_DONE) return PROGRAM_UNAVAILABLE;
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
  return PROGRAM_DONE;
}

static int run_file(int argc, char **argv, int how) {
  command c;
  lua_State *L;
  int at, rc = PROGRAM_DONE;
  const char *file;
  memset(&c, 0, sizeof c);
  at = read_options(argc, argv, 2, &c);
  if (at < 0) return PROGRAM_USAGE;
  if (at >= argc) {
    wrong("%s needs a file; see tfsdk help", argv[1]);
    return PROGRAM_USAGE;
  }
  c.options.explain = how == RUN_EXPLAIN;
  c.options.profile = how == RUN_PROFILE || c.trace != NULL || c.logdir != NULL;
  c.options.profile_events = c.trace != NULL    ? TRACE_EVENTS
                             : c.logdir != NULL ? TRACE_EVENTS / 10
                                                : 0;
  L = program_new_state(&c.options);
  if (L == NULL) return PROGRAM_SCRIPT_ERROR;
  if (c.options.device != NULL || c.options.plugins != NULL) rc = program_need_runtime(L, NULL);
  if (rc == PROGRAM_DONE && c.monitor != NULL) rc = start_monitor(L, c.monitor);
  file = strcmp(argv[at], "-") == 0 ? NULL : argv[at];
  if (rc == PROGRAM_DONE && luaL_loadfile(L, file) != LUA_OK) {
    print_error(lua_tostring(L, -1));
    rc = PROGRAM_SCRIPT_ERROR;
  } else if (rc == PROGRAM_DONE) {
    lua_createtable(L, argc - at - 1, at + 1);
    for (int i = 0; i < argc; i++) {
      lua_pushstring(L, argv[i]);
      lua_rawseti(L, -2, i - at);
    }
    lua_setglobal(L, "arg");
    luaL_checkstack(L, argc, "arguments");
    for (int i = at + 1; i < argc; i++) lua_pushstring(L, argv[i]);
    rc = program_call(L, argc - at - 1, 0);
    if (c.options.profile) { /* also after an error: what ran until then */
      int bad = program_profile_report(L, how == RUN_PROFILE, c.trace, c.logdir);
      if (rc == PROGRAM_DONE) rc = bad;
    }
  }
  lua_close(L);
  return rc;
}

static int simple_command(int argc, char **argv) {
  command c;
  lua_State *L;
  int rc;
  memset(&c, 0, sizeof c);
  if (strcmp(argv[1], "repl") == 0) {
    int at = read_options(argc, argv, 2, &c);
    if (at < 0) return PROGRAM_USAGE;
    if (at < argc) {
      wrong("repl takes options only, not '%s'", argv[at]);
      return PROGRAM_USAGE;
    }
  }
  L = program_new_state(&c.options);
  if (L == NULL) return PROGRAM_SCRIPT_ERROR;
  if (strcmp(argv[1], "repl") == 0) {
    rc = c.options.device != NULL || c.options.plugins != NULL ? program_need_runtime(L, NULL)
                                                               : PROGRAM_DONE;
    if (rc == PROGRAM_DONE) rc = program_repl(L);
  } else if (strcmp(argv[1], "ops") == 0) {
    rc = program_ops(L, argc > 2 ? argv[2] : NULL);
  } else if (strcmp(argv[1], "plugins") == 0) {
    rc = program_plugins(L, argc > 2 && strcmp(argv[2], "--why") == 0);
  } else if (strcmp(argv[1], "devices") == 0) {
    rc = program_devices(L);
  } else if (program_is_tool(argv[1])) {
    rc = program_tool(L, argc, argv);
  } else {
    rc = program_index(L, argv[3]);
  }
  lua_close(L);
  return rc;
}

static int command_of(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  static const char *const simple[] = {"repl", "ops", "plugins", "devices"};
  if (strcmp(name, "run") == 0) return run_file(argc, argv, RUN_PLAIN);
  if (strcmp(name, "explain") == 0) return run_file(argc, argv, RUN_EXPLAIN);
  if (strcmp(name, "profile") == 0) return run_file(argc, argv, RUN_PROFILE);
  if (strcmp(name, "watch") == 0) return program_watch(argc, argv);
  if (strcmp(name, "version") == 0 || strcmp(name, "--version") == 0) {
    printf("tfsdk %s (ABI %d.%d, %s)\n", tfsdk_version(), TFSDK_ABI_MAJOR, TFSDK_ABI_MINOR,
           LUA_RELEASE);
    return PROGRAM_DONE;
  }
  if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
    fputs(usage, stdout);
    return PROGRAM_DONE;
  }
  for (size_t i = 0; i < sizeof simple / sizeof simple[0]; i++)
    if (strcmp(name, simple[i]) == 0) return simple_command(argc, argv);
  if (program_is_tool(name)) return simple_command(argc, argv);
  if (strcmp(name, "plugin") == 0 && argc == 4 && strcmp(argv[2], "index") == 0)
    return simple_command(argc, argv);
  if (argc > 1) {
    int rc = program_other(argv);
    if (rc >= 0) return rc;
    fprintf(stderr, "tfsdk: unknown command '%s'\n", name);
  }
  fputs(usage, stderr);
  return PROGRAM_USAGE;
}

/* Results that do not arrive are no success: a full disk behind `> file`. */
int main(int argc, char **argv) {
  int rc = command_of(argc, argv), error = 0;
  if (fflush(stdout) != 0) error = errno;
  if (error == 0 && !ferror(stdout)) return rc;
  fprintf(stderr, "tfsdk: standard output could not be written%s%s\n", error != 0 ? ": " : "",
          error != 0 ? strerror(error) : "");
  return rc == PROGRAM_DONE ? PROGRAM_SCRIPT_ERROR : rc;
}
