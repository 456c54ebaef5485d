/* session.c - tf.Session: running parts of a graph. Fetches are any nest of tables; the same nest
 * comes back. */
#include "ops.h"
#include "trace.h"
#include "monitor.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct session {
  tfsdk_session *s; /* NULL once closed */
  tfsdk_graph *g;   /* lent: user value 1 is the graph's userdata */
} session;

enum { FETCH_VALUE, FETCH_OPERATION };

/* Fetches of one call, in the order in which the nest is walked. */
typedef struct fetches {
  tfsdk_val *val;
  uint8_t *what;
  size_t n, cap;
  int buffer; /* stack index of the userdata that holds the arrays */
} fetches;

static session *check_session(lua_State *L, tl_state *st) {
  session *s = (session *)tl_check_kind(L, st, 1, TL_SESSION);
  if (s->s == NULL) tl_fail_code(L, st, TFSDK_FAILED_PRECONDITION, NULL, "this session was closed");
  return s;
}

/* ---------------------------------------------------------------------------------------
 * collecting */

static void grow(lua_State *L, fetches *f) {
  size_t cap = f->cap == 0 ? 32 : 2 * f->cap;
  char *block = (char *)lua_newuserdatauv(L, cap * (sizeof *f->val + 1), 0);
  if (f->n > 0) {
    memcpy(block, f->val, f->n * sizeof *f->val);
    memcpy(block + cap * sizeof *f->val, f->what, f->n);
  }
  f->val = (tfsdk_val *)(void *)block;
  f->what = (uint8_t *)block + cap * sizeof *f->val;
  f->cap = cap;
  lua_replace(L, f->buffer);
}

static void add_fetch(lua_State *L, fetches *f, tfsdk_val v, int what) {
  if (f->n == f->cap) grow(L, f);
  f->val[f->n] = v;
  f->what[f->n++] = (uint8_t)what;
}

static void same_graph(lua_State *L, tl_state *st, const session *s, const tfsdk_graph *g,
                       const char *role) {
  if (g != s->g)
    tl_fail(L, st, "run", "a %s belongs to %s, not to the session's graph", role,
            g == NULL ? "define-by-run mode" : "another graph");
}

/* Finds a fetch or feed by name. An operation's plain name means its first output. */
static tfsdk_val by_name(lua_State *L, tl_state *st, const session *s, const char *name) {
  tfsdk_val v = tfsdk_none();
  tl_check_op(L, st, tfsdk_graph_find(s->g, name, &v), "run");
  return v;
}

static void collect(lua_State *L, tl_state *st, const session *s, fetches *f, int at) {
  switch (tl_kind_of(L, st, at)) {
  case TL_NODE: {
    const tl_node *n = (const tl_node *)lua_touserdata(L, at);
    same_graph(L, st, s, n->g, "fetched node");
    add_fetch(L, f, n->v, FETCH_VALUE);
    return;
  }
  case TL_OPERATION: {
    const tl_operation *o = (const tl_operation *)lua_touserdata(L, at);
    same_graph(L, st, s, o->g, "fetched operation");
    add_fetch(L, f, tfsdk_graph_value(o->id, 0), FETCH_OPERATION);
    return;
  }
  case TL_VARIABLE: {
    const tl_variable *v = (const tl_variable *)lua_touserdata(L, at);
    tfsdk_val value;
    same_graph(L, st, s, v->g, "fetched variable");
    tl_check_op(L, st, tfsdk_variable_value(v->v, tfsdk_graph_ctx(v->g), &value), "run");
    add_fetch(L, f, value, FETCH_VALUE);
    return;
  }
  case TL_TENSOR: return; /* has its value already */
  case TL_SLICES:
  case TL_NONE: break;
  default: tl_fail(L, st, "run", "cannot fetch %s", tl_type_name(L, st, at));
  }
  if (lua_type(L, at) == LUA_TSTRING) {
    add_fetch(L, f, by_name(L, st, s, lua_tostring(L, at)), FETCH_VALUE);
    return;
  }
  if (lua_isboolean(L, at) && !lua_toboolean(L, at)) return; /* false stays false */
  if (!lua_istable(L, at)) tl_fail(L, st, "run", "cannot fetch %s", tl_type_name(L, st, at));
  if (lua_gettop(L) > TL_NEST_LIMIT) tl_fail(L, st, "run", "the nest of fetches is too deep");
  luaL_checkstack(L, 6, "fetches");
  lua_pushnil(L);
  while (lua_next(L, at) != 0) {
    collect(L, st, s, f, lua_gettop(L));
    lua_pop(L, 1);
  }
}

/* ------------------------------------------------------------------------------------------
 * returning */

typedef struct results {
  tl_tensor **box; /* of fetch i; an empty one for an operation without output */
  const fetches *f;
  size_t next;
  int raw;
} results;

/* Pushes result `next`, or the nest of results for the table at `at`: the same walk as collect's.
 */
static void push_results(lua_State *L, tl_state *st, results *r, int at) {
  tl_kind k = tl_kind_of(L, st, at);
  if (k == TL_TENSOR || (k == TL_NONE && lua_isboolean(L, at))) {
    lua_pushvalue(L, at);
    return;
  }
  if (k == TL_NODE || k == TL_OPERATION || k == TL_VARIABLE || lua_type(L, at) == LUA_TSTRING) {
    size_t i = r->next++;
    if (r->f->what[i] == FETCH_OPERATION || r->box[i] == NULL || r->box[i]->t == NULL) {
      lua_pushboolean(L, 1);
      return;
    }
    lua_rawgeti(L, r->f->buffer + 1, (lua_Integer)i + 1);
    if (!r->raw) {
      tl_push_plain(L, st, lua_gettop(L));
      lua_remove(L, -2);
    }
    return;
  }
  luaL_checkstack(L, 8, "fetches");
  lua_newtable(L);
  lua_pushnil(L);
  while (lua_next(L, at) != 0) {
    int value = lua_gettop(L);
    lua_pushvalue(L, value - 1);
    push_results(L, st, r, value);
    lua_rawset(L, value - 2); /* result[key] = ... */
    lua_pop(L, 1);
  }
  if (k == TL_SLICES && lua_getmetatable(L, at)) lua_setmetatable(L, -2);
}

/* ------------------------------------------------------------------------------------------
 * feeding */

typedef struct feeds {
  tfsdk_val *val;
  tfsdk_tensor **value;
  size_t n;
} feeds;

static tfsdk_val feed_key(lua_State *L, tl_state *st, const session *s, int at, int32_t *dtype,
                          const char **name) {
  tfsdk_ctx *ctx = tfsdk_graph_ctx(s->g);
  tfsdk_typed_shape t;
  tfsdk_node_info info;
  tfsdk_val v;
  switch (tl_kind_of(L, st, at)) {
  case TL_NODE: {
    const tl_node *n = (const tl_node *)lua_touserdata(L, at);
    same_graph(L, st, s, n->g, "fed node");
    v = n->v;
    break;
  }
  case TL_VARIABLE: {
    const tl_variable *var = (const tl_variable *)lua_touserdata(L, at);
    same_graph(L, st, s, var->g, "fed variable");
    tl_check_op(L, st, tfsdk_variable_value(var->v, ctx, &v), "run");
    break;
  }
  default:
    if (lua_type(L, at) != LUA_TSTRING)
      tl_fail(L, st, "run", "feeds are keyed by node or by name, not by %s",
              tl_type_name(L, st, at));
    v = by_name(L, st, s, lua_tostring(L, at));
  }
  tl_check_op(L, st, ctx->api->type(ctx, v, &t), "run");
  tl_check_op(L, st, tfsdk_graph_node(s->g, v, &info), "run");
  *dtype = t.dtype;
  *name = info.name;
  return v;
}

static void collect_feeds(lua_State *L, tl_state *st, const session *s, int at, feeds *f) {
  size_t cap = 0;
  lua_pushnil(L);
  while (lua_next(L, at) != 0) {
    cap++;
    lua_pop(L, 1);
  }
  if (cap == 0) return;
  luaL_checkstack(L, (int)(2 * cap) + 10, "feeds");
  f->val = (tfsdk_val *)lua_newuserdatauv(L, cap * sizeof *f->val, 0);
  f->value = (tfsdk_tensor **)lua_newuserdatauv(L, cap * sizeof *f->value, 0);
  lua_pushnil(L);
  while (lua_next(L, at) != 0) {
    int value = lua_gettop(L);
    int32_t dtype;
    const char *name;
    f->val[f->n] = feed_key(L, st, s, value - 1, &dtype, &name);
    switch (tl_kind_of(L, st, value)) {
    case TL_TENSOR: f->value[f->n] = tl_check_tensor(L, st, value); break;
    case TL_VARIABLE:
      if (((tl_variable *)lua_touserdata(L, value))->g != NULL)
        tl_fail(L, st, "run", "the value fed to '%s' is a variable of a graph", name);
      tl_push_value(L, st, value, 0, NULL);
      lua_replace(L, value);
      f->value[f->n] = tl_check_tensor(L, st, value);
      break;
    case TL_NONE:
      tl_push_literal(L, st, value, dtype, "run", name);
      lua_replace(L, value);
      f->value[f->n] = tl_check_tensor(L, st, value);
      break;
    default:
      tl_fail(L, st, "run", "the value fed to '%s' cannot be a %s", name,
              tl_type_name(L, st, value));
    }
    f->n++;
    lua_pushvalue(L, value - 1); /* key and value stay: the value is lent to the call */
  }
}

/* `tfsdk explain`: each plan is shown once, before it runs for the first time. */
static void explain_once(lua_State *L, tl_state *st, const session *s, const fetches *f,
                         const feeds *fd) {
  char *text = NULL;
  int top = lua_gettop(L);
  luaL_checkstack(L, 8, NULL);
  tl_check_op(L, st, tfsdk_session_explain(s->s, f->val, f->n, fd->val, fd->value, fd->n, &text),
              "explain");
  lua_pushstring(L, text);
  free(text);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, "tfsdk.explained");
  lua_pushvalue(L, top + 1);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    fprintf(stdout, "%s\n", lua_tostring(L, top + 1));
    fflush(stdout);
    lua_pushvalue(L, top + 1);
    lua_pushboolean(L, 1);
    lua_rawset(L, top + 2);
  }
  lua_settop(L, top);
}

/* ---------------------------------------------------------------------------------------- running
 */

enum {
  RUN_SELF = 1,
  RUN_FETCHES,
  RUN_FEEDS,
  RUN_OPTIONS,
  RUN_BUFFER,
  RUN_BOXES,
  RUN_TRACE,
  RUN_MORE
};

typedef struct run_options {
  int raw, trace, break_on_nan;
  int metadata, watch; /* asked for */
} run_options;

/* TensorFlow's RunOptions: a table whose trace_level is 0 (none) to 3 (FULL_TRACE). */
static int wants_trace(lua_State *L, tl_state *st, int at) {
  int level;
  if (!lua_istable(L, at)) tl_fail(L, st, "run", "options is a tf.RunOptions");
  lua_getfield(L, at, "trace_level");
  level = (int)luaL_optinteger(L, -1, 0);
  lua_pop(L, 1);
  return level > 0;
}

static void read_run_options(lua_State *L, tl_state *st, run_options *o) {
  static const char *const names[] = {"raw",          "trace",   "watch",
                                      "break_on_nan", "options", "run_metadata"};
  memset(o, 0, sizeof *o);
  if (!lua_istable(L, RUN_OPTIONS)) return;
  lua_pushnil(L);
  while (lua_next(L, RUN_OPTIONS) != 0) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
    int value = lua_gettop(L);
    if (strcmp(key, "raw") == 0) {
      o->raw = lua_toboolean(L, value);
    } else if (strcmp(key, "trace") == 0) {
      o->trace = lua_toboolean(L, value);
    } else if (strcmp(key, "break_on_nan") == 0) {
      o->break_on_nan = lua_toboolean(L, value);
    } else if (strcmp(key, "watch") == 0) {
      if (lua_type(L, value) != LUA_TSTRING)
        tl_fail(L, st, "run", "watch is a regular expression for names of nodes");
      o->watch = 1;
    } else if (strcmp(key, "options") == 0) {
      o->metadata |= wants_trace(L, st, value) ? 1 : 0;
    } else if (strcmp(key, "run_metadata") == 0) {
      if (!lua_istable(L, value)) tl_fail(L, st, "run", "run_metadata is a tf.RunMetadata()");
      o->metadata |= 2;
    } else {
      const char *near = tl_nearest(key, names, sizeof names / sizeof names[0]);
      luaL_tolstring(L, value - 1, NULL);
      if (near != NULL)
        tl_fail(L, st, "run", "unknown option '%s'; did you mean '%s'?", lua_tostring(L, -1), near);
      tl_fail(L, st, "run",
              "unknown option '%s'; there are raw, trace, watch, break_on_nan, options, "
              "run_metadata",
              lua_tostring(L, -1));
    }
    lua_settop(L, value - 1);
  }
}

/* Values between feeds and fetches become fetches as well; RUN_MORE gets their nodes. */
static void add_watched(lua_State *L, tl_state *st, fetches *f, const run_options *o) {
  tl_push_member(L, st, "Debug", "between"); /* lua/debug.lua */
  lua_pushvalue(L, RUN_SELF);
  lua_pushvalue(L, RUN_FETCHES);
  lua_pushvalue(L, RUN_FEEDS);
  if (o->watch)
    lua_getfield(L, RUN_OPTIONS, "watch");
  else
    lua_pushnil(L);
  lua_pushboolean(L, o->break_on_nan);
  lua_call(L, 5, 1);
  lua_replace(L, RUN_MORE);
  for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, RUN_MORE); i++) {
    lua_rawgeti(L, RUN_MORE, i);
    add_fetch(L, f, ((const tl_node *)tl_check_kind(L, st, lua_gettop(L), TL_NODE))->v,
              FETCH_VALUE);
    lua_pop(L, 1);
  }
}

/* {name = tensor} of what was watched: the fetches from `first` on. */
static void push_watched(lua_State *L, tl_state *st, size_t first, size_t n) {
  tl_push_member(L, st, "Debug", "watched");
  lua_pushvalue(L, RUN_MORE);
  lua_createtable(L, (int)(n - first), 0);
  for (size_t i = first; i < n; i++) {
    lua_rawgeti(L, RUN_BOXES, (lua_Integer)i + 1);
    lua_rawseti(L, -2, (lua_Integer)(i - first) + 1);
  }
  lua_getfield(L, RUN_OPTIONS, "watch");
  lua_call(L, 3, 1);
}

/* The error of {break_on_nan = true}: where it began, and what went in. Does not return. */
static void report_broken(lua_State *L, tl_state *st) {
  tl_push_member(L, st, "Debug", "report");
  lua_pushvalue(L, RUN_SELF);
  lua_pushvalue(L, RUN_TRACE);
  lua_pushvalue(L, RUN_FEEDS);
  lua_call(L, 3, 0);
}

static void fill_metadata(lua_State *L, tl_state *st) {
  tl_push_member(L, st, "Trace", "fill");
  lua_pushvalue(L, RUN_TRACE);
  lua_getfield(L, RUN_OPTIONS, "run_metadata");
  lua_call(L, 2, 0);
}

/* sess:run(fetches, feeds, {raw =, trace =, watch =, break_on_nan =, options =, run_metadata =}):
 * gives the nest of results, then the trace if it was asked for, then what was watched. */
static int session_run(lua_State *L) {
  tl_state *st = tl_get(L);
  session *s = check_session(L, st);
  fetches f;
  feeds fd;
  results r;
  run_options o;
  tfsdk_tensor **out;
  tfsdk_status *status = NULL;
  tl_trace *trace = NULL;
  size_t n_own;
  int n_results = 1;
  memset(&f, 0, sizeof f);
  memset(&fd, 0, sizeof fd);
  memset(&r, 0, sizeof r);
  lua_settop(L, RUN_OPTIONS);
  if (lua_isnil(L, RUN_FETCHES)) return tl_fail(L, st, "run", "there is nothing to fetch");
  read_run_options(L, st, &o);
  r.raw = o.raw;
  lua_pushnil(L);
  lua_newtable(L);
  lua_pushnil(L);
  lua_pushnil(L);
  f.buffer = RUN_BUFFER;
  collect(L, st, s, &f, RUN_FETCHES);
  n_own = f.n;
  if (o.trace || o.break_on_nan || o.metadata == 3) {
    trace = tl_push_trace(L, st, 1 << 20);
    trace->check = o.break_on_nan;
    lua_replace(L, RUN_TRACE);
  }
  if (o.watch || o.break_on_nan) add_watched(L, st, &f, &o);
  if (!lua_isnil(L, RUN_FEEDS)) {
    if (!lua_istable(L, RUN_FEEDS))
      return tl_fail(L, st, "run", "feeds are a table {[node] = value}, not %s",
                     tl_type_name(L, st, RUN_FEEDS));
    collect_feeds(L, st, s, RUN_FEEDS, &fd);
  }
  out = (tfsdk_tensor **)lua_newuserdatauv(L, (f.n + 1) * sizeof *out, 0);
  r.box = (tl_tensor **)lua_newuserdatauv(L, (f.n + 1) * sizeof *r.box, 0);
  luaL_checkstack(L, 12, NULL);
  for (size_t i = 0; i < f.n; i++) {
    r.box[i] = tl_push_box(L, st);
    lua_rawseti(L, RUN_BOXES, (lua_Integer)i + 1);
    out[i] = NULL;
  }
  if (st->options.explain && f.n > 0) explain_once(L, st, s, &f, &fd);
  if (trace == NULL && st->options.profile) trace = tl_profile(L, st);
  int monitored = trace == NULL && f.n > 0 && tl_monitor_wants_trace(st->monitor);
  if (monitored) {
    trace = tl_push_trace(L, st, 1 << 16);
    lua_replace(L, RUN_TRACE);
  }
  if (f.n > 0)
    status = trace == NULL ? tfsdk_session_run(s->s, f.val, f.n, fd.val, fd.value, fd.n, out)
                           : tl_trace_run(trace, tl_runtime(L, st), s->g, s->s, f.val, f.n, fd.val,
                                          fd.value, fd.n, out);
  if (status != NULL && trace != NULL && trace->broken) {
    tfsdk_status_release(status);
    report_broken(L, st);
  }
  tl_monitor_ran(st->monitor);
  tl_check_op(L, st, status, "run");
  for (size_t i = 0; i < f.n; i++) r.box[i]->t = out[i];
  for (size_t i = 0; i < f.n; i++) tl_fill_box(L, st, r.box[i], out[i]);
  r.f = &f;
  if (o.metadata == 3) fill_metadata(L, st);
  if (monitored) tl_monitor_traced(L, st, RUN_TRACE);
  push_results(L, st, &r, RUN_FETCHES);
  if (o.trace) {
    lua_pushvalue(L, RUN_TRACE);
    n_results++;
  }
  if (o.watch) {
    push_watched(L, st, n_own, f.n);
    n_results++;
  }
  return n_results;
}

/* sess:explain(fetches, feeds): the plan as text. */
static int session_explain(lua_State *L) {
  tl_state *st = tl_get(L);
  session *s = check_session(L, st);
  fetches f;
  feeds fd;
  char *text = NULL;
  memset(&f, 0, sizeof f);
  memset(&fd, 0, sizeof fd);
  lua_settop(L, 3);
  lua_pushnil(L);
  f.buffer = 4;
  collect(L, st, s, &f, 2);
  if (lua_istable(L, 3)) collect_feeds(L, st, s, 3, &fd);
  tl_check_op(L, st, tfsdk_session_explain(s->s, f.val, f.n, fd.val, fd.value, fd.n, &text),
              "explain");
  lua_pushstring(L, text);
  free(text);
  return 1;
}

/* sess:read(name): the value of a variable. */
static int session_read(lua_State *L) {
  tl_state *st = tl_get(L);
  session *s = check_session(L, st);
  tfsdk_tensor *t = NULL;
  const char *name = luaL_checkstring(L, 2);
  tl_tensor *box = tl_push_box(L, st);
  tl_check_op(L, st, tfsdk_session_read(s->s, name, &t), "read");
  tl_fill_box(L, st, box, t);
  return 1;
}

static int session_close(lua_State *L) {
  session *s = (session *)lua_touserdata(L, 1);
  tfsdk_session *inner = s != NULL ? s->s : NULL;
  if (inner != NULL) {
    s->s = NULL;
    tfsdk_session_close(inner);
    tfsdk_session_release(inner);
  }
  return 0;
}

static int session_close_checked(lua_State *L) {
  tl_check_kind(L, tl_get(L), 1, TL_SESSION);
  return session_close(L);
}

/* sess:release_memory(): gives back what plans keep between runs, and the plans. */
static int session_release_memory(lua_State *L) {
  tfsdk_session_release_memory(check_session(L, tl_get(L))->s);
  return 0;
}

static int session_index(lua_State *L) {
  tl_state *st = tl_get(L);
  session *s = (session *)tl_check_kind(L, st, 1, TL_SESSION);
  const char *key = luaL_checkstring(L, 2);
  if (strcmp(key, "graph") == 0)
    tl_push_graph(L, st, s->g);
  else if (strcmp(key, "closed") == 0)
    lua_pushboolean(L, s->s == NULL);
  else
    tl_push_method(L, st, TL_SESSION, 2);
  return 1;
}

/* private.session{graph=, device=, allow_soft_placement=, log_device_placement=, seed=, passes=} */
static int new_session(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_session_options o;
  session *s;
  tfsdk_session *inner = NULL;
  tfsdk_graph *g;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  memset(&o, 0, sizeof o);
  o.struct_size = (uint32_t)sizeof o;
  if (lua_getfield(L, 1, "graph") == LUA_TNIL) {
    g = tl_current_graph(L, st);
    tl_push_graph(L, st, g);
    lua_replace(L, 2);
  } else {
    g = ((tl_graph *)tl_check_kind(L, st, 2, TL_GRAPH))->g;
  }
  lua_getfield(L, 1, "device");
  o.device = luaL_optstring(L, 3, st->options.device);
  lua_getfield(L, 1, "allow_soft_placement");
  o.no_soft_placement = lua_isboolean(L, 4) && !lua_toboolean(L, 4);
  lua_getfield(L, 1, "log_device_placement");
  o.log_placement = lua_toboolean(L, 5);
  lua_getfield(L, 1, "threads");
  if (!lua_isnil(L, -1) && st->options.threads != (uint32_t)luaL_checkinteger(L, -1))
    tfsdk_runtime_log(tl_runtime(L, st), TFSDK_LOG_WARNING,
                      "tf.Session: threads were chosen when the first value was made; say "
                      "--threads N or TFSDK_THREADS=N before");
  lua_pop(L, 1);
  if (lua_getfield(L, 1, "memory_limit") != LUA_TNIL) /* bytes, of the session's device */
    tl_check_op(L, st,
                tfsdk_runtime_set_memory_limit(tl_runtime(L, st), o.device ? o.device : "cpu:0",
                                               (uint64_t)luaL_checkinteger(L, -1)),
                "tf.Session");
  lua_pop(L, 1);
  lua_getfield(L, 1, "seed");
  o.seed = luaL_optinteger(L, 6, 0);
  lua_getfield(L, 1, "passes");
  o.passes = luaL_optstring(L, 7, NULL);
  s = (session *)tl_new(L, st, TL_SESSION, sizeof *s, 1);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, 1);
  s->g = g;
  tl_check_op(L, st, tfsdk_session_create(g, &o, &inner), "tf.Session");
  s->s = inner;
  return 1;
}

void tl_open_session(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {{"__gc", session_close},
                                  {"__close", session_close},
                                  {"__index", session_index},
                                  {NULL, NULL}};
  static const luaL_Reg methods[] = {{"run", session_run},
                                     {"explain", session_explain},
                                     {"read", session_read},
                                     {"release_memory", session_release_memory},
                                     {"close", session_close_checked},
                                     {NULL, NULL}};
  static const luaL_Reg hidden[] = {{"session", new_session}, {NULL, NULL}};
  tl_new_meta(L, st, TL_SESSION, meta, methods);
  lua_pop(L, 1);
  tl_add_private(L, st, hidden);
}
