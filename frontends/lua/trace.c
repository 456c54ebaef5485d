/* trace.c - recording watched runs, and reading the records as Lua tables. See trace.h. */
#include "trace.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

int64_t tl_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* -------------------------------------------------------------------------------------- recording */

static int grow(void *array, size_t n, size_t *cap, size_t size) {
  void **block = (void **)array, *more;
  size_t want = *cap == 0 ? 64 : 2 * *cap;
  if (n < *cap) return 1;
  more = realloc(*block, want * size);
  if (more == NULL) return 0;
  *block = more;
  *cap = want;
  return 1;
}
#define GROW(t, what) grow(&(t)->what, (t)->n_##what##s, &(t)->cap_##what##s, sizeof *(t)->what)

static int describe(tl_trace *t, tl_trace_step *s, const tfsdk_step_info *info) {
  memset(s, 0, sizeof *s);
  s->plan = (uint32_t)(t->n_plans - 1);
  s->kind = strdup(info->kind);
  s->device = strdup(info->device);
  s->kernel = strdup(info->kernel);
  s->plugin = strdup(info->plugin);
  s->node = calloc(info->n_nodes + 1u, sizeof *s->node);
  s->out = calloc(info->n_out + 1u, sizeof *s->out);
  if (!s->kind || !s->device || !s->kernel || !s->plugin || !s->node || !s->out) return 0;
  memcpy(s->node, info->node, info->n_nodes * sizeof *s->node);
  s->n_nodes = info->n_nodes;
  for (uint32_t i = 0; i < info->n_out; i++) {
    const tfsdk_step_value *v =
        (const tfsdk_step_value *)(const void *)((const char *)info->out +
                                                 (size_t)i * info->value_size);
    tl_trace_value *o = &s->out[i];
    o->name = strdup(v->name);
    if (o->name == NULL) return 0;
    s->n_out++;
    o->index = v->index;
    o->last = v->last;
    o->offset = v->offset;
    o->bytes = v->bytes;
    o->type = v->type;
  }
  return 1;
}

/* The plan's place in the record; its steps come as they are told of. */
static tl_trace_plan *plan_of(tl_trace *t, const tfsdk_step_info *info) {
  for (size_t i = t->n_plans; i > 0; i--)
    if (t->plan[i - 1].serial == info->plan) return &t->plan[i - 1];
  if (!GROW(t, plan)) return NULL;
  while (t->n_steps + info->n_steps > t->cap_steps) {
    size_t n = t->n_steps;
    t->n_steps = t->cap_steps;
    int ok = GROW(t, step);
    t->n_steps = n;
    if (!ok) return NULL;
  }
  tl_trace_plan *p = &t->plan[t->n_plans++];
  p->serial = info->plan;
  p->g = tfsdk_graph_retain(t->g);
  p->first = (uint32_t)t->n_steps;
  p->n_steps = info->n_steps;
  memset(&t->step[t->n_steps], 0, info->n_steps * sizeof *t->step);
  t->n_steps += info->n_steps;
  return p;
}

static double element(const tfsdk_view *v, int64_t i) {
  switch (v->dtype) {
  case TFSDK_FLOAT64: return ((const double *)v->data)[i];
  case TFSDK_FLOAT16: return tfsdk_from_half(((const uint16_t *)v->data)[i]);
  case TFSDK_BFLOAT16: return tfsdk_from_bfloat16(((const uint16_t *)v->data)[i]);
  case TFSDK_COMPLEX64: return ((const float *)v->data)[i];
  case TFSDK_COMPLEX128: return ((const double *)v->data)[i];
  default: return ((const float *)v->data)[i];
  }
}

static int is_floating(int32_t dtype) {
  return dtype == TFSDK_FLOAT32 || dtype == TFSDK_FLOAT64 || dtype == TFSDK_FLOAT16 ||
         dtype == TFSDK_BFLOAT16 || dtype == TFSDK_COMPLEX64 || dtype == TFSDK_COMPLEX128;
}

static void look(const tfsdk_view *v, tl_trace_finding *f) {
  int64_t parts =
      v->dtype == TFSDK_COMPLEX64 || v->dtype == TFSDK_COMPLEX128 ? 2 * v->n_elem : v->n_elem;
  f->n = parts;
  f->min = HUGE_VAL;
  f->max = -HUGE_VAL;
  for (int64_t i = 0; i < parts; i++) {
    double x = element(v, i);
    if (isnan(x))
      f->n_nan++;
    else if (isinf(x))
      f->n_inf++;
    else {
      if (x < f->min) f->min = x;
      if (x > f->max) f->max = x;
    }
  }
}

static tfsdk_status *check(tl_trace *t, const tfsdk_step_info *info) {
  for (uint32_t i = 0; i < info->n_out; i++) {
    const tfsdk_step_value *o =
        (const tfsdk_step_value *)(const void *)((const char *)info->out +
                                                 (size_t)i * info->value_size);
    tfsdk_view v;
    if (o->fetched.id == 0 || o->tensor == NULL || !is_floating(tfsdk_tensor_dtype(o->tensor)))
      continue;
    tfsdk_status *s = tfsdk_tensor_view(o->tensor, &v);
    if (s != NULL) return s;
    if (!GROW(t, finding)) {
      t->failed = 1;
      continue;
    }
    tl_trace_finding *f = &t->finding[t->n_findings++];
    memset(f, 0, sizeof *f);
    f->val = o->fetched;
    look(&v, f);
    if (f->n_nan + f->n_inf == 0) continue;
    t->broken = 1;
    tfsdk_ctx *ctx = tfsdk_eager_ctx(t->rt);
    return TFSDK_FAIL(ctx, INVALID_ARGUMENT, "%s has values that are not finite", o->name);
  }
  return NULL;
}

static tfsdk_status *note(void *user, const tfsdk_step_info *info) {
  tl_trace *t = (tl_trace *)user;
  tl_trace_plan *p = t->failed ? NULL : plan_of(t, info);
  if (p == NULL) {
    t->failed = 1;
  } else {
    uint32_t at = p->first + info->index;
    tl_trace_step *s = &t->step[at];
    int64_t ns = info->end - info->begin;
    if (s->kind == NULL && !describe(t, s, info)) t->failed = 1;
    s->plan = (uint32_t)(p - t->plan);
    if (s->count == 0 || ns < s->min) s->min = ns;
    if (ns > s->max) s->max = ns;
    s->sum += ns;
    s->count++;
    if (info->device_bytes > s->device_bytes) s->device_bytes = info->device_bytes;
    if (t->n_events >= t->event_limit || !GROW(t, event)) {
      t->n_dropped++;
    } else {
      tl_trace_event *e = &t->event[t->n_events++];
      e->step = at;
      e->begin = info->begin;
      e->end = info->end;
      e->device_bytes = info->device_bytes;
    }
  }
  return t->check ? check(t, info) : NULL;
}

tfsdk_status *tl_trace_run(tl_trace *t, tfsdk_runtime *rt, tfsdk_graph *g, tfsdk_session *s,
                           const tfsdk_val *fetches, size_t n_fetches, const tfsdk_val *feeds,
                           tfsdk_tensor *const *feed_values, size_t n_feeds, tfsdk_tensor **out) {
  tfsdk_run_options o;
  memset(&o, 0, sizeof o);
  o.struct_size = (uint32_t)sizeof o;
  o.step = note;
  o.user = t;
  t->g = g;
  t->rt = rt;
  int64_t begin = tl_nanoseconds();
  if (t->n_runs++ == 0) t->began = begin;
  tfsdk_status *st =
      tfsdk_session_run_watched(s, fetches, n_fetches, feeds, feed_values, n_feeds, &o, out);
  t->ended = tl_nanoseconds();
  t->run_ns += t->ended - begin;
  return st;
}

/* ---------------------------------------------------------------------------------------- reading */

static void integer(lua_State *L, const char *key, int64_t v) {
  lua_pushinteger(L, (lua_Integer)v);
  lua_setfield(L, -2, key);
}
static void text(lua_State *L, const char *key, const char *v) {
  lua_pushstring(L, v);
  lua_setfield(L, -2, key);
}

static void push_nodes(lua_State *L, tl_state *st, const tl_trace *t, const tl_trace_step *s) {
  tfsdk_graph *g = t->plan[s->plan].g;
  lua_createtable(L, (int)s->n_nodes, 0);
  for (uint32_t i = 0; i < s->n_nodes; i++) {
    tfsdk_node_info info;
    tl_check(L, st, tfsdk_graph_node(g, tfsdk_graph_value(s->node[i], 0), &info));
    lua_createtable(L, 0, 3);
    text(L, "name", info.name);
    text(L, "op", info.op);
    if (info.where != NULL) text(L, "where", info.where);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_values(lua_State *L, const tl_trace_step *s) {
  lua_createtable(L, (int)s->n_out, 0);
  for (uint32_t i = 0; i < s->n_out; i++) {
    const tl_trace_value *v = &s->out[i];
    lua_createtable(L, 0, 7);
    text(L, "name", v->name);
    integer(L, "index", v->index);
    integer(L, "last", (int64_t)v->last + 1);
    integer(L, "offset", v->offset);
    integer(L, "bytes", (int64_t)v->bytes);
    text(L, "dtype", tfsdk_dtype_name(v->type.dtype));
    tl_push_shape(L, &v->type.shape);
    lua_setfield(L, -2, "shape");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_steps(lua_State *L, tl_state *st, const tl_trace *t) {
  lua_createtable(L, (int)t->n_steps, 0);
  for (size_t i = 0; i < t->n_steps; i++) {
    const tl_trace_step *s = &t->step[i];
    lua_createtable(L, 0, 13);
    if (s->kind != NULL) {
      text(L, "kind", s->kind);
      text(L, "device", s->device);
      text(L, "kernel", s->kernel);
      text(L, "plugin", s->plugin);
    }
    integer(L, "plan", (int64_t)s->plan + 1);
    integer(L, "count", (int64_t)s->count);
    integer(L, "ns", s->sum);
    integer(L, "min", s->min);
    integer(L, "max", s->max);
    integer(L, "device_bytes", (int64_t)s->device_bytes);
    push_nodes(L, st, t, s);
    lua_setfield(L, -2, "nodes");
    push_values(L, s);
    lua_setfield(L, -2, "outputs");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_plans(lua_State *L, tl_state *st, const tl_trace *t) {
  lua_createtable(L, (int)t->n_plans, 0);
  for (size_t i = 0; i < t->n_plans; i++) {
    lua_createtable(L, 0, 3);
    integer(L, "first", (int64_t)t->plan[i].first + 1);
    integer(L, "n_steps", t->plan[i].n_steps);
    tl_push_graph(L, st, t->plan[i].g);
    lua_setfield(L, -2, "graph");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_events(lua_State *L, const tl_trace *t) {
  lua_createtable(L, (int)t->n_events, 0);
  for (size_t i = 0; i < t->n_events; i++) {
    const tl_trace_event *e = &t->event[i];
    lua_createtable(L, 4, 0);
    const int64_t v[4] = {(int64_t)e->step + 1, e->begin, e->end, (int64_t)e->device_bytes};
    for (int k = 0; k < 4; k++) {
      lua_pushinteger(L, (lua_Integer)v[k]);
      lua_rawseti(L, -2, k + 1);
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* private.trace_read(trace): {plans, steps, events = {{step, begin, end, bytes}...}, runs, ns, ...};
 * counts from 1, times in nanoseconds. */
static int trace_read(lua_State *L) {
  tl_state *st = tl_get(L);
  const tl_trace *t = (const tl_trace *)tl_check_kind(L, st, 1, TL_TRACE);
  lua_createtable(L, 0, 12);
  push_plans(L, st, t);
  lua_setfield(L, -2, "plans");
  push_steps(L, st, t);
  lua_setfield(L, -2, "steps");
  push_events(L, t);
  lua_setfield(L, -2, "events");
  integer(L, "runs", (int64_t)t->n_runs);
  integer(L, "ns", t->run_ns);
  integer(L, "began", t->began);
  integer(L, "ended", t->ended);
  integer(L, "input_ns", t->input_ns);
  integer(L, "dropped", (int64_t)t->n_dropped);
  lua_pushboolean(L, t->failed);
  lua_setfield(L, -2, "incomplete");
  return 1;
}

/* private.trace_findings(trace): {["node:0"] = {n =, nan =, inf =, min =, max =}}, the broken one's name. */
static int trace_findings(lua_State *L) {
  tl_state *st = tl_get(L);
  const tl_trace *t = (const tl_trace *)tl_check_kind(L, st, 1, TL_TRACE);
  lua_createtable(L, 0, (int)t->n_findings);
  lua_pushnil(L);
  for (size_t i = 0; i < t->n_findings; i++) {
    const tl_trace_finding *f = &t->finding[i];
    tfsdk_node_info info;
    tl_check(L, st, tfsdk_graph_node(t->g, f->val, &info));
    lua_pushfstring(L, "%s:%d", info.name, (int)info.index);
    lua_createtable(L, 0, 5);
    integer(L, "n", f->n);
    integer(L, "nan", f->n_nan);
    integer(L, "inf", f->n_inf);
    if (f->min <= f->max) {
      lua_pushnumber(L, f->min);
      lua_setfield(L, -2, "min");
      lua_pushnumber(L, f->max);
      lua_setfield(L, -2, "max");
    }
    if (t->broken && i + 1 == t->n_findings) {
      lua_pushvalue(L, -2);
      lua_replace(L, -4);
    }
    lua_rawset(L, -4);
  }
  return 2;
}

/* ----------------------------------------------------------------------------------------- objects */

static int trace_gc(lua_State *L) {
  tl_trace *t = (tl_trace *)lua_touserdata(L, 1);
  for (size_t i = 0; i < t->n_steps; i++) {
    tl_trace_step *s = &t->step[i];
    for (uint32_t k = 0; k < s->n_out; k++) free(s->out[k].name);
    free(s->kind);
    free(s->device);
    free(s->kernel);
    free(s->plugin);
    free(s->node);
    free(s->out);
  }
  for (size_t i = 0; i < t->n_plans; i++) tfsdk_graph_release(t->plan[i].g);
  free(t->plan);
  free(t->step);
  free(t->event);
  free(t->finding);
  memset(t, 0, sizeof *t);
  return 0;
}

static int trace_index(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_check_kind(L, st, 1, TL_TRACE);
  tl_push_method(L, st, TL_TRACE, 2);
  return 1;
}

static int trace_tostring(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_check_kind(L, st, 1, TL_TRACE);
  lua_settop(L, 1);
  if (tl_push_member(L, st, "Trace", "table") == LUA_TNIL) return 0;
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

tl_trace *tl_push_trace(lua_State *L, tl_state *st, size_t events) {
  tl_trace *t = (tl_trace *)tl_new(L, st, TL_TRACE, sizeof *t, 0);
  t->event_limit = events;
  return t;
}

static const char profile_key = 0; /* its address names the recorder of all runs in the registry */

tl_trace *tl_profile(lua_State *L, tl_state *st) {
  tl_trace *t;
  if (!st->options.profile) return NULL;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &profile_key) != LUA_TUSERDATA) {
    lua_pop(L, 1);
    tl_push_trace(L, st, st->options.profile_events);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &profile_key);
  }
  t = (tl_trace *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return t;
}

/* private.profile(): the recorder of all runs, or nil. */
static int profile(lua_State *L) {
  if (tl_profile(L, tl_get(L)) == NULL) return 0;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &profile_key);
  return 1;
}

void tl_open_trace(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {
      {"__gc", trace_gc}, {"__index", trace_index}, {"__tostring", trace_tostring}, {NULL, NULL}};
  static const luaL_Reg hidden[] = {{"trace_read", trace_read},
                                    {"trace_findings", trace_findings},
                                    {"profile", profile},
                                    {NULL, NULL}};
  tl_new_meta(L, st, TL_TRACE, meta, NULL);
  lua_pop(L, 1);
  tl_add_private(L, st, hidden);
}
