/* dataset.c - datasets and their iterators. An element is a tensor, or a table by component names.
 */
#include "trace.h"
#include "monitor.h"
#include "ops.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct dataset {
  tfsdk_dataset *d;
  int lua; /* a Lua function makes its elements: it must be pulled on the script's thread */
} dataset;

typedef struct iterator {
  tfsdk_iterator *it; /* NULL once it is at its end or closed */
  tfsdk_dataset *d;
} iterator;

#define MAX_COMPONENTS 256

static tfsdk_dataset *check_dataset(lua_State *L, tl_state *st, int at) {
  return ((dataset *)tl_check_kind(L, st, at, TL_DATASET))->d;
}

/* A new dataset over the one at `from` (0: none). */
static dataset *push_dataset(lua_State *L, tl_state *st, int from) {
  dataset *d = (dataset *)tl_new(L, st, TL_DATASET, sizeof(dataset), 0);
  if (from != 0) d->lua = ((dataset *)lua_touserdata(L, from))->lua;
  return d;
}

static int dataset_gc(lua_State *L) {
  dataset *d = (dataset *)lua_touserdata(L, 1);
  tfsdk_dataset *inner = d->d;
  d->d = NULL;
  tfsdk_dataset_release(inner);
  return 0;
}

static int dataset_index(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_dataset *d = check_dataset(L, st, 1);
  if (lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "components") == 0) {
    uint32_t n = tfsdk_dataset_components(d);
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
      lua_pushstring(L, tfsdk_dataset_name(d, i));
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
  }
  tl_push_method(L, st, TL_DATASET, 2);
  return 1;
}

/* private.dataset_from_tensors(names or false, tensors) */
static int from_tensors(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *names[MAX_COMPONENTS];
  tfsdk_tensor *tensors[MAX_COMPONENTS];
  lua_Integer n;
  dataset *d;
  luaL_checktype(L, 2, LUA_TTABLE);
  n = (lua_Integer)lua_rawlen(L, 2);
  if (n > MAX_COMPONENTS) return tl_fail(L, st, "tf.data", "at most %d components", MAX_COMPONENTS);
  for (lua_Integer i = 0; i < n; i++) {
    lua_rawgeti(L, 2, i + 1);
    tensors[i] = tl_check_tensor(L, st, lua_gettop(L));
    lua_pop(L, 1); /* the table holds it */
    if (lua_istable(L, 1)) {
      lua_rawgeti(L, 1, i + 1);
      names[i] = lua_tostring(L, -1);
      lua_pop(L, 1);
    }
  }
  d = push_dataset(L, st, 0);
  tl_check_op(L, st,
              tfsdk_dataset_from_tensors(tl_runtime(L, st), lua_istable(L, 1) ? names : NULL,
                                         tensors, (size_t)n, &d->d),
              "tf.data.from_tensor_slices");
  return 1;
}

/* private.dataset_from_file(path, reader or nil, options) */
static int from_file(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_attrval attr[TL_MAX_ATTR];
  size_t n = 0;
  const char *path = luaL_checkstring(L, 1), *reader = luaL_optstring(L, 2, NULL);
  dataset *d;
  lua_settop(L, 3);
  if (lua_istable(L, 3)) {
    luaL_checkstack(L, 4 * TL_MAX_ATTR, NULL);
    lua_pushnil(L);
    while (lua_next(L, 3) != 0) { /* the reader's record checks kinds; here Lua's types decide */
      int value = lua_gettop(L);
      tfsdk_attrval *a = &attr[n];
      if (n == TL_MAX_ATTR) return tl_fail(L, st, path, "too many options");
      memset(a, 0, sizeof *a);
      a->name = luaL_checkstring(L, value - 1);
      switch (lua_type(L, value)) {
      case LUA_TBOOLEAN:
        a->kind = TFSDK_ATTR_BOOL;
        a->v.i = lua_toboolean(L, value);
        break;
      case LUA_TNUMBER:
        a->kind = lua_isinteger(L, value) ? TFSDK_ATTR_INT : TFSDK_ATTR_FLOAT;
        if (a->kind == TFSDK_ATTR_INT)
          a->v.i = lua_tointeger(L, value);
        else
          a->v.f = lua_tonumber(L, value);
        break;
      case LUA_TSTRING:
        a->kind = TFSDK_ATTR_STRING;
        a->v.s = lua_tostring(L, value);
        break;
      case LUA_TTABLE: {
        static const tl_attrinfo strings = {"", "list(string)", TFSDK_ATTR_LIST_STRING, 0, 0, 0};
        static const tl_attrinfo ints = {"", "list(int)", TFSDK_ATTR_LIST_INT, 0, 0, 0};
        tl_attrinfo info;
        int text = lua_rawgeti(L, value, 1) == LUA_TSTRING;
        lua_pop(L, 1);
        info = text ? strings : ints;
        info.name = a->name;
        tl_read_attr(L, st, "tf.data.from_file", &info, value, a);
        break;
      }
      default:
        return tl_fail(L, st, "tf.data.from_file", "option '%s' cannot be %s", a->name,
                       tl_type_name(L, st, value));
      }
      n++;
      lua_pushvalue(L, value - 1);
    }
  }
  d = push_dataset(L, st, 0);
  tl_check_op(L, st, tfsdk_dataset_from_file(tl_runtime(L, st), path, reader, attr, n, &d->d),
              "tf.data.from_file");
  return 1;
}

/* ------------------------------------------------------------------------------------
 * transformations */

static int dataset_batch(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_dataset *in = check_dataset(L, st, 1);
  int64_t n = tl_check_int(L, st, 2, "batch", "batch_size");
  dataset *d = push_dataset(L, st, 1);
  tl_check_op(L, st, tfsdk_dataset_batch(in, n, lua_toboolean(L, 3), &d->d), "batch");
  return 1;
}

static int dataset_shuffle(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_dataset *in = check_dataset(L, st, 1);
  int64_t n = tl_check_int(L, st, 2, "shuffle", "buffer_size");
  int64_t seed = lua_isnoneornil(L, 3) ? -1 : tl_check_int(L, st, 3, "shuffle", "seed");
  dataset *d = push_dataset(L, st, 1);
  tl_check_op(
      L, st,
      tfsdk_dataset_shuffle(in, n, seed, lua_isnoneornil(L, 4) || lua_toboolean(L, 4), &d->d),
      "shuffle");
  return 1;
}

typedef tfsdk_status *count_fn(tfsdk_dataset *d, int64_t count, tfsdk_dataset **out);

static int by_count(lua_State *L, count_fn *fn, int64_t dflt, const char *name) {
  tl_state *st = tl_get(L);
  tfsdk_dataset *in = check_dataset(L, st, 1);
  int64_t n = lua_isnoneornil(L, 2) ? dflt : tl_check_int(L, st, 2, name, "count");
  dataset *d = push_dataset(L, st, 1);
  tl_check_op(L, st, fn(in, n, &d->d), name);
  return 1;
}

static int dataset_repeat(lua_State *L) { return by_count(L, tfsdk_dataset_repeat, -1, "repeat"); }
static int dataset_take(lua_State *L) { return by_count(L, tfsdk_dataset_take, -1, "take"); }
static int dataset_skip(lua_State *L) { return by_count(L, tfsdk_dataset_skip, 0, "skip"); }
static int dataset_prefetch(lua_State *L) {
  tl_state *st = tl_get(L);
  check_dataset(L, st, 1);
  if (((dataset *)lua_touserdata(L, 1))->lua) { /* no thread may call into Lua */
    lua_settop(L, 1);
    return 1;
  }
  return by_count(L, tfsdk_dataset_prefetch, 1, "prefetch");
}

/* ------------------------------------------------------------------------------------------
 * iterators */

static void forget_error(lua_State *L);
static void check_pull(lua_State *L, tl_state *st, tfsdk_status *s);

static int dataset_iterator(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_dataset *d = check_dataset(L, st, 1);
  iterator *it = (iterator *)tl_new(L, st, TL_ITERATOR, sizeof *it, 1);
  it->d = tfsdk_dataset_retain(d);
  lua_pushvalue(L, 1); /* a generator's Lua functions stay with the dataset */
  lua_setiuservalue(L, -2, 1);
  forget_error(L);
  check_pull(L, st, tfsdk_iterator_create(d, &it->it));
  return 1;
}

static int iterator_gc(lua_State *L) {
  iterator *it = (iterator *)lua_touserdata(L, 1);
  tfsdk_iterator *inner = it->it;
  tfsdk_dataset *d = it->d;
  it->it = NULL;
  it->d = NULL;
  tfsdk_iterator_release(inner);
  tfsdk_dataset_release(d);
  return 0;
}

/* it:next(): the next element, or nothing at the end. */
static int iterator_next(lua_State *L) {
  tl_state *st = tl_get(L);
  iterator *it = (iterator *)tl_check_kind(L, st, 1, TL_ITERATOR);
  tfsdk_tensor *out[MAX_COMPONENTS];
  uint32_t n;
  int32_t end = 0;
  int first, named;
  lua_settop(L, 1);
  if (it->it == NULL) return 0;
  n = tfsdk_dataset_components(it->d);
  if (n > MAX_COMPONENTS) return tl_fail(L, st, "next", "at most %d components", MAX_COMPONENTS);
  luaL_checkstack(L, (int)n + 8, NULL);
  first = 2;
  for (uint32_t i = 0; i < n; i++) {
    tl_push_box(L, st);
    out[i] = NULL;
  }
  tl_trace *profile = st->options.profile ? tl_profile(L, st) : NULL;
  int timed = profile != NULL || st->monitor != NULL;
  int64_t began = timed ? tl_nanoseconds() : 0;
  forget_error(L);
  tfsdk_status *status = tfsdk_iterator_next(it->it, out, &end);
  int64_t waited = timed ? tl_nanoseconds() - began : 0;
  if (profile != NULL) profile->input_ns += waited;
  tl_monitor_waited(st->monitor, waited);
  check_pull(L, st, status);
  if (end) return 0;
  for (uint32_t i = 0; i < n; i++) ((tl_tensor *)lua_touserdata(L, first + (int)i))->t = out[i];
  for (uint32_t i = 0; i < n; i++)
    tl_fill_box(L, st, (tl_tensor *)lua_touserdata(L, first + (int)i), out[i]);
  named = n > 0 && tfsdk_dataset_name(it->d, 0)[0] != 0;
  if (!named && n == 1) return 1;
  lua_createtable(L, named ? 0 : (int)n, named ? (int)n : 0);
  for (uint32_t i = 0; i < n; i++) {
    lua_pushvalue(L, first + (int)i);
    if (named)
      lua_setfield(L, -2, tfsdk_dataset_name(it->d, i));
    else
      lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

static int iterator_index(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_check_kind(L, st, 1, TL_ITERATOR);
  tl_push_method(L, st, TL_ITERATOR, 2);
  return 1;
}

/* ds:iter(): for the generic for; the iterator closes with the loop. */
static int dataset_iter(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_settop(L, 1);
  dataset_iterator(L);
  tl_push_member(L, st, "Iterator", "next");
  lua_insert(L, 2);    /* next, iterator */
  lua_pushnil(L);      /* control value */
  lua_pushvalue(L, 3); /* closing value */
  return 4;
}

/* ------------------------------------------------------------------------------------------
 * generators */

typedef struct generator {
  tl_state *st;
  int ref; /* the table {start = function} */
  lua_Integer n;
} generator;

static int text_of(lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  return 1;
}

/* The error value on top as a status, for the core to hand up; the value itself waits in the registry for the iterator
 * that the script called, which raises it as it is: with its code, its place and what else a script put into it. */
static const char pending_key = 0;
static tfsdk_status *status_of_error(lua_State *L, tl_state *st) {
  tfsdk_ctx *ctx = tfsdk_eager_ctx(st->rt);
  const char *text;
  tfsdk_status *s;
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &pending_key);
  lua_pushcfunction(L, text_of);
  lua_insert(L, -2);
  text = lua_pcall(L, 1, 1, 0) == LUA_OK ? lua_tostring(L, -1) : NULL;
  s = ctx->host->fail(ctx->host, TFSDK_ABORTED, __FILE__, __LINE__, "%s",
                      text != NULL ? text : "a function of the script failed");
  lua_pop(L, 1);
  return s;
}
static tfsdk_status *no_room(const generator *g) {
  tfsdk_ctx *ctx = tfsdk_eager_ctx(g->st->rt);
  return ctx->host->fail(ctx->host, TFSDK_RESOURCE_EXHAUSTED, __FILE__, __LINE__,
                         "Lua's stack is too small for one more generator");
}

static void forget_error(lua_State *L) {
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &pending_key);
}

/* Raises what a status says, or the script's own error that led to it. */
static void check_pull(lua_State *L, tl_state *st, tfsdk_status *s) {
  if (tfsdk_status_code(s) == TFSDK_ABORTED &&
      lua_rawgetp(L, LUA_REGISTRYINDEX, &pending_key) != LUA_TNIL) {
    tfsdk_status_release(s);
    forget_error(L);
    lua_error(L);
  }
  tl_check(L, st, s);
}

static tfsdk_status *generator_start(void *user, void **out_state) {
  generator *g = (generator *)user;
  lua_State *L = g->st->L;
  *out_state = NULL;
  if (!lua_checkstack(L, 12)) return no_room(g);
  lua_rawgeti(L, LUA_REGISTRYINDEX, g->ref);
  lua_getfield(L, -1, "start");
  if (lua_pcall(L, 0, 1, 0) != LUA_OK) {
    tfsdk_status *s = status_of_error(L, g->st);
    lua_pop(L, 1);
    return s;
  }
  *out_state = (void *)(intptr_t)luaL_ref(L, LUA_REGISTRYINDEX); /* the state: a function */
  lua_pop(L, 1);
  return NULL;
}

static tfsdk_status *generator_next(void *user, void *state, tfsdk_tensor **out, int32_t *out_end) {
  generator *g = (generator *)user;
  lua_State *L = g->st->L;
  int top = lua_gettop(L);
  lua_Integer i;
  *out_end = 0;
  if (!lua_checkstack(L, 12)) return no_room(g);
  lua_rawgeti(L, LUA_REGISTRYINDEX, (int)(intptr_t)state);
  if (lua_pcall(L, 0, 1, 0) != LUA_OK) {
    tfsdk_status *s = status_of_error(L, g->st);
    lua_settop(L, top);
    return s;
  }
  if (lua_isnil(L, -1)) {
    *out_end = 1;
    lua_settop(L, top);
    return NULL;
  }
  for (i = 0; i < g->n; i++) { /* a table, made by the facade, of what a script's function gave */
    const tl_tensor *t;
    lua_rawgeti(L, -1, i + 1);
    t = (const tl_tensor *)lua_touserdata(L, -1);
    if (tl_kind_of(L, g->st, lua_gettop(L)) != TL_TENSOR || t->t == NULL) break;
    out[i] = tfsdk_tensor_retain(t->t);
    lua_pop(L, 1);
  }
  if (i < g->n) {
    tfsdk_ctx *ctx = tfsdk_eager_ctx(g->st->rt);
    const char *kind = tl_kind_of(L, g->st, lua_gettop(L)) == TL_TENSOR
                           ? "a closed tensor"
                           : tl_type_name(L, g->st, lua_gettop(L));
    tfsdk_status *s = ctx->host->fail(
        ctx->host, TFSDK_INVALID_ARGUMENT, __FILE__, __LINE__,
        "what a dataset's function gives must be tensors, but component %d of %d is %s", (int)i + 1,
        (int)g->n, kind);
    while (i-- > 0) {
      tfsdk_tensor_release(out[i]);
      out[i] = NULL;
    }
    lua_settop(L, top);
    return s;
  }
  lua_settop(L, top);
  return NULL;
}

static void generator_finish(void *user, void *state) {
  generator *g = (generator *)user;
  luaL_unref(g->st->main, LUA_REGISTRYINDEX, (int)(intptr_t)state);
}

static void generator_release(void *user) {
  generator *g = (generator *)user;
  luaL_unref(g->st->main, LUA_REGISTRYINDEX, g->ref);
  free(g);
}

/* private.dataset_from_generator(names or false, n, start): start() gives a function that gives a
 * list of n tensors at each call, and nil at the end. */
static int from_generator(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *names[MAX_COMPONENTS];
  tfsdk_generator g;
  lua_Integer n = luaL_checkinteger(L, 2);
  generator *own;
  dataset *d;
  tfsdk_status *s;
  luaL_checktype(L, 3, LUA_TFUNCTION);
  if (n < 1 || n > MAX_COMPONENTS)
    return tl_fail(L, st, "tf.data", "1 to %d components", MAX_COMPONENTS);
  for (lua_Integer i = 0; lua_istable(L, 1) && i < n; i++) {
    lua_rawgeti(L, 1, i + 1);
    names[i] = luaL_checkstring(L, -1);
    lua_pop(L, 1);
  }
  tl_runtime(L, st);
  d = push_dataset(L, st, 0);
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, 3);
  lua_setfield(L, -2, "start");
  memset(&g, 0, sizeof g);
  g.struct_size = (uint32_t)sizeof g;
  g.n = (uint32_t)n;
  g.names = lua_istable(L, 1) ? names : NULL;
  g.start = generator_start;
  g.next = generator_next;
  g.finish = generator_finish;
  g.release = generator_release;
  own = (generator *)malloc(sizeof *own);
  if (own == NULL) return luaL_error(L, "not enough memory");
  own->st = st;
  own->n = n;
  d->lua = 1;
  own->ref = luaL_ref(L, LUA_REGISTRYINDEX);
  g.user = own;
  s = tfsdk_dataset_from_generator(st->rt, &g, &d->d);
  if (s != NULL) generator_release(own);
  tl_check_op(L, st, s, "tf.data");
  return 1;
}

void tl_open_dataset(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {{"__gc", dataset_gc}, {"__index", dataset_index}, {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"iter", dataset_iter}, {"iterator", dataset_iterator}, {NULL, NULL}};
  static const luaL_Reg iterator_meta[] = {
      {"__gc", iterator_gc}, {"__close", iterator_gc}, {"__index", iterator_index}, {NULL, NULL}};
  static const luaL_Reg iterator_methods[] = {
      {"next", iterator_next}, {"close", iterator_gc}, {NULL, NULL}};
  static const luaL_Reg hidden[] = {{"dataset_from_tensors", from_tensors},
                                    {"dataset_from_file", from_file},
                                    {"dataset_from_generator", from_generator},
                                    {"dataset_batch", dataset_batch},
                                    {"dataset_shuffle", dataset_shuffle},
                                    {"dataset_repeat", dataset_repeat},
                                    {"dataset_take", dataset_take},
                                    {"dataset_skip", dataset_skip},
                                    {"dataset_prefetch", dataset_prefetch},
                                    {NULL, NULL}};
  tl_new_meta(L, st, TL_DATASET, meta, methods);
  lua_pop(L, 1);
  tl_new_meta(L, st, TL_ITERATOR, iterator_meta, iterator_methods);
  lua_pop(L, 1);
  tl_add_private(L, st, hidden);
}
