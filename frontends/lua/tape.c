/* tape.c - tf.GradientTape: records what runs at once, gives gradients of it. */
#include "ops.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct tape {
  tfsdk_tape *t;
  int recording;
} tape;

static void set_recording(tl_state *st, tape *t, int on) {
  st->recording += on - t->recording;
  t->recording = on;
}

static tape *check_tape(lua_State *L, tl_state *st) {
  tape *t = (tape *)tl_check_kind(L, st, 1, TL_TAPE);
  if (t->t == NULL) tl_fail_code(L, st, TFSDK_FAILED_PRECONDITION, NULL, "this tape was closed");
  return t;
}

/* tf.GradientTape{persistent = false, watch_accessed_variables = true} */
static int new_tape(lua_State *L) {
  tl_state *st = tl_get(L);
  tape *t;
  int persistent = 0, watch = 1;
  lua_settop(L, 1);
  if (lua_istable(L, 1)) {
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
      const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
      if (strcmp(key, "persistent") == 0)
        persistent = lua_toboolean(L, -1);
      else if (strcmp(key, "watch_accessed_variables") == 0)
        watch = lua_toboolean(L, -1);
      else
        return tl_fail(L, st, "tf.GradientTape",
                       "unknown option '%s'; there are 'persistent' and 'watch_accessed_variables'",
                       key);
      lua_pop(L, 1);
    }
  } else if (lua_isboolean(L, 1)) {
    persistent = lua_toboolean(L, 1);
  }
  t = (tape *)tl_new(L, st, TL_TAPE, sizeof *t, 0);
  tl_check_op(L, st, tfsdk_tape_create(tl_runtime(L, st), persistent, watch, &t->t),
              "tf.GradientTape");
  set_recording(st, t, 1);
  return 1;
}

/* Leaving the block stops the recording; the records stay until the tape is collected. */
static int tape_leave(lua_State *L) {
  tape *t = (tape *)lua_touserdata(L, 1);
  if (t->t != NULL) tfsdk_tape_stop(t->t);
  set_recording(tl_get(L), t, 0);
  return 0;
}

static int tape_gc(lua_State *L) {
  tape *t = (tape *)lua_touserdata(L, 1);
  tfsdk_tape *inner = t->t;
  t->t = NULL;
  set_recording((tl_state *)lua_touserdata(L, lua_upvalueindex(1)), t, 0);
  tfsdk_tape_release(inner);
  return 0;
}

static int tape_stop(lua_State *L) {
  tl_state *st = tl_get(L);
  tape *t = check_tape(L, st);
  tfsdk_tape_stop(t->t);
  set_recording(st, t, 0);
  return 0;
}

static int tape_resume(lua_State *L) {
  tl_state *st = tl_get(L);
  tape *t = check_tape(L, st);
  tfsdk_tape_resume(t->t);
  set_recording(st, t, 1);
  return 0;
}

/* The tensor that stands for a source or target: a variable's handle, or the tensor itself. */
static tfsdk_tensor *tape_tensor(lua_State *L, tl_state *st, int at, int source, const char *op) {
  switch (tl_kind_of(L, st, at)) {
  case TL_TENSOR: return tl_check_tensor(L, st, at);
  case TL_VARIABLE: {
    tl_variable *v = (tl_variable *)lua_touserdata(L, at);
    if (v->g != NULL)
      tl_fail(L, st, op, "variable '%s' belongs to a graph; use tf.gradients",
              tfsdk_variable_name(v->v));
    if (source) return tfsdk_eager_tensor(tfsdk_variable_handle(v->v));
    tl_push_value(L, st, at, 0, op);
    lua_replace(L, at);
    return tl_check_tensor(L, st, at);
  }
  case TL_NODE: tl_fail(L, st, op, "a node belongs to a graph; use tf.gradients"); break;
  default: tl_fail(L, st, op, "expected a tensor or variable, got %s", tl_type_name(L, st, at));
  }
  return NULL;
}

static int tape_watch(lua_State *L) {
  tl_state *st = tl_get(L);
  tape *t = check_tape(L, st);
  lua_settop(L, 2);
  if (lua_istable(L, 2) && tl_kind_of(L, st, 2) == TL_NONE) {
    lua_Integer n = (lua_Integer)lua_rawlen(L, 2);
    for (lua_Integer i = 1; i <= n; i++) {
      lua_rawgeti(L, 2, i);
      tl_check_op(L, st, tfsdk_tape_watch(t->t, tape_tensor(L, st, 3, 1, "watch")), "watch");
      lua_pop(L, 1);
    }
    return 0;
  }
  tl_check_op(L, st, tfsdk_tape_watch(t->t, tape_tensor(L, st, 2, 1, "watch")), "watch");
  return 0;
}

/* Spreads a value or a list of values on the stack; returns their number. */
static int spread(lua_State *L, tl_state *st, int at) {
  lua_Integer n;
  if (tl_kind_of(L, st, at) != TL_NONE || !lua_istable(L, at)) {
    lua_pushvalue(L, at);
    return 1;
  }
  n = (lua_Integer)lua_rawlen(L, at);
  luaL_checkstack(L, (int)n + 10, "gradients");
  for (lua_Integer i = 1; i <= n; i++) lua_rawgeti(L, at, i);
  return (int)n;
}

static void push_slices(lua_State *L, tl_state *st) { /* takes the table on top */
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_meta[TL_SLICES]);
  lua_setmetatable(L, -2);
}

/* tape:gradient(targets, sources, {output_gradients =}): a table with a gradient or false per
 * source. */
static int tape_gradient(lua_State *L) {
  tl_state *st = tl_get(L);
  tape *t = check_tape(L, st);
  int n_y, n_x, n_dy = 0, y, x, dy = 0, box;
  tfsdk_tensor **block;
  tfsdk_tensor **ys, **xs, **dys, **out, **indices, **values;
  tfsdk_typed_shape type;
  lua_settop(L, 4);
  if (lua_istable(L, 4)) {
    lua_pushnil(L);
    while (lua_next(L, 4) != 0) {
      if (lua_type(L, -2) != LUA_TSTRING || strcmp(lua_tostring(L, -2), "output_gradients") != 0)
        return tl_fail(L, st, "gradient", "unknown option '%s'; there is 'output_gradients'",
                       luaL_tolstring(L, -2, NULL));
      lua_pop(L, 1);
    }
    lua_getfield(L, 4, "output_gradients");
    lua_replace(L, 4);
  }
  if (lua_isnil(L, 2) || lua_isnil(L, 3))
    return tl_fail(L, st, "gradient", "expected targets and sources");
  y = lua_gettop(L) + 1;
  n_y = spread(L, st, 2);
  x = lua_gettop(L) + 1;
  n_x = spread(L, st, 3);
  if (!lua_isnil(L, 4)) {
    dy = lua_gettop(L) + 1;
    n_dy = spread(L, st, 4);
    if (n_dy != n_y)
      return tl_fail(L, st, "gradient", "%d targets, but %d output_gradients", n_y, n_dy);
  }
  luaL_checkstack(L, 3 * n_x + 12, "gradient");
  block = (tfsdk_tensor **)lua_newuserdatauv(L, (size_t)(2 * n_y + 4 * n_x + 1) * sizeof *block, 0);
  ys = block;
  dys = ys + n_y;
  xs = dys + n_y;
  out = xs + n_x;
  indices = out + n_x;
  values = indices + n_x;
  for (int i = 0; i < n_y; i++) ys[i] = tape_tensor(L, st, y + i, 0, "gradient");
  for (int i = 0; i < n_dy; i++) {
    if (tl_kind_of(L, st, dy + i) == TL_NONE && !lua_isboolean(L, dy + i)) {
      tl_push_literal(L, st, dy + i, tfsdk_tensor_dtype(ys[i]), "gradient", "output_gradients");
      lua_replace(L, dy + i);
    }
    dys[i] = lua_isboolean(L, dy + i) ? NULL : tape_tensor(L, st, dy + i, 0, "gradient");
  }
  for (int i = 0; i < n_x; i++) xs[i] = tape_tensor(L, st, x + i, 1, "gradient");
  box = lua_gettop(L) + 1;
  for (int i = 0; i < 3 * n_x; i++) tl_push_box(L, st);
  memset(out, 0, 3 * (size_t)n_x * sizeof *out);
  tl_check_gradient(L, st,
                    tfsdk_tape_gradient(t->t, ys, (size_t)n_y, xs, (size_t)n_x,
                                        n_dy > 0 ? dys : NULL, out, indices, values),
                    "gradient");
  for (int i = 0; i < 3 * n_x; i++) ((tl_tensor *)lua_touserdata(L, box + i))->t = out[i];
  for (int i = 0; i < 3 * n_x; i++)
    tl_fill_box(L, st, (tl_tensor *)lua_touserdata(L, box + i), out[i]);
  lua_createtable(L, n_x, 0);
  for (int i = 0; i < n_x; i++) {
    if (out[i] != NULL) {
      lua_pushvalue(L, box + i);
    } else if (values[i] != NULL) {
      lua_createtable(L, 0, 3);
      lua_pushvalue(L, box + n_x + i);
      lua_setfield(L, -2, "indices");
      lua_pushvalue(L, box + 2 * n_x + i);
      lua_setfield(L, -2, "values");
      tl_type_of(L, st, x + i, &type);
      tl_push_shape(L, &type.shape);
      lua_setfield(L, -2, "dense_shape");
      push_slices(L, st);
    } else {
      lua_pushboolean(L, 0);
    }
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* private.note_only(tape): it notes which variables are read, and nothing else. */
static int note_only(lua_State *L) {
  tfsdk_tape_note_only(check_tape(L, tl_get(L))->t);
  return 0;
}

typedef struct match {
  lua_State *L;
  tl_state *st;
  tfsdk_tensor *const *list;
  size_t n;
} match;

static int match_variable(void *user, tfsdk_variable *v) {
  const match *m = (const match *)user;
  const tfsdk_tensor *h = tfsdk_eager_tensor(tfsdk_variable_handle(v));
  for (size_t i = 0; i < m->n; i++)
    if (m->list[i] == h) {
      tl_push_variable(m->L, m->st, tfsdk_variable_retain(v), NULL);
      lua_rawseti(m->L, -2, (lua_Integer)lua_rawlen(m->L, -2) + 1);
      break;
    }
  return 0;
}

/* private.noted(tape): of what was read, the tensors and the variables, two lists. */
static int noted(lua_State *L) {
  tl_state *st = tl_get(L);
  match m = {L, st, NULL, 0};
  m.n = tfsdk_tape_noted(check_tape(L, st)->t, &m.list);
  luaL_checkstack(L, 8, NULL);
  lua_newtable(L);
  for (size_t i = 0; i < m.n; i++) {
    tl_tensor *box;
    if (tfsdk_tensor_dtype(m.list[i]) == TFSDK_RESOURCE) continue;
    box = tl_push_box(L, st);
    tl_fill_box(L, st, box, tfsdk_tensor_retain(m.list[i]));
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
  lua_newtable(L);
  tfsdk_variable_each(tfsdk_eager_ctx(st->rt), match_variable, &m);
  return 2;
}

/* private.tensor_id(tensor): equal for two that are the same one. */
static int tensor_id(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_pushlightuserdata(L, tl_check_tensor(L, st, 1));
  return 1;
}

static int tape_index(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_check_kind(L, st, 1, TL_TAPE);
  tl_push_method(L, st, TL_TAPE, 2);
  return 1;
}

void tl_open_tape(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {
      {"__gc", tape_gc}, {"__close", tape_leave}, {"__index", tape_index}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"watch", tape_watch},   {"gradient", tape_gradient},
                                     {"stop", tape_stop},     {"stop_recording", tape_stop},
                                     {"resume", tape_resume}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"GradientTape", new_tape}, {NULL, NULL}};
  static const luaL_Reg hidden[] = {
      {"note_only", note_only}, {"noted", noted}, {"tensor_id", tensor_id}, {NULL, NULL}};
  tl_add_private(L, st, hidden);
  tl_new_meta(L, st, TL_TAPE, meta, methods);
  lua_pop(L, 1);
  tl_add_public(L, st, functions);
}
