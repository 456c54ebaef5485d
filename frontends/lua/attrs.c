/* attrs.c - Lua values as attributes of ops. */
#include "ops.h"

#include <stdio.h>
#include <stdlib.h>

/* A string attribute with a set of allowed values, "string{SAME,VALID}". */
static void check_allowed(lua_State *L, tl_state *st, const char *op, const tl_attrinfo *a,
                          const char *value) {
  const char *p = strchr(a->type, '{');
  const char *list[32], *near;
  size_t n = 0;
  if (p == NULL) return;
  p++;
  while (*p != 0 && *p != '}' && n < 32) {
    size_t len = strcspn(p, ",}");
    lua_pushlstring(L, p, len); /* stays on the stack while it is needed */
    list[n] = lua_tostring(L, -1);
    if (strcmp(list[n], value) == 0) {
      lua_pop(L, (int)n + 1);
      return;
    }
    n++;
    p += len;
    if (*p == ',') p++;
  }
  near = tl_nearest(value, list, n);
  tl_fail(L, st, op, "option '%s' cannot be '%s'; allowed are %s%s%s%s", a->name, value,
          strchr(a->type, '{'), near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
          near != NULL ? "'?" : "");
}

static double number_at(lua_State *L, tl_state *st, const char *op, const tl_attrinfo *a,
                        int index) {
  tfsdk_view v;
  if (lua_type(L, index) == LUA_TNUMBER) return lua_tonumber(L, index);
  if (tl_kind_of(L, st, index) == TL_TENSOR) {
    tl_check(L, st, tfsdk_tensor_view(tl_check_tensor(L, st, index), &v));
    if (v.n_elem == 1 && v.dtype != TFSDK_STRING) {
      lua_Number x;
      tl_push_element(L, &v, 0);
      x = lua_tonumber(L, -1);
      lua_pop(L, 1);
      return x;
    }
  }
  tl_fail(L, st, op, "option '%s' must be a number, not %s", a->name, tl_type_name(L, st, index));
  return 0;
}

static int64_t bool_at(lua_State *L, tl_state *st, const char *op, const tl_attrinfo *a,
                       int index) {
  if (lua_type(L, index) != LUA_TBOOLEAN)
    tl_fail(L, st, op, "option '%s' must be true or false, not %s", a->name,
            tl_type_name(L, st, index));
  return lua_toboolean(L, index);
}

static const char *string_at(lua_State *L, tl_state *st, const char *op, const tl_attrinfo *a,
                             int index) {
  if (lua_type(L, index) != LUA_TSTRING)
    tl_fail(L, st, op, "option '%s' must be a string, not %s", a->name, tl_type_name(L, st, index));
  return lua_tostring(L, index);
}

static int32_t dtype_at(lua_State *L, tl_state *st, const char *op, const tl_attrinfo *a,
                        int index) {
  int32_t dtype = tl_check_dtype(L, st, index, op, a->name);
  if (a->dtypes != 0 && (a->dtypes >> dtype & 1u) == 0)
    tl_fail(L, st, op, "option '%s' cannot be %s; allowed are %s", a->name, tfsdk_dtype_name(dtype),
            strchr(a->type, '{'));
  return dtype;
}

/* Integers of a tensor or table, as `n` int64 in a userdata that stays on the stack. */
static void read_list(lua_State *L, tl_state *st, const char *op, const tl_attrinfo *a, int index,
                      tfsdk_attrval *out) {
  int single = lua_type(L, index) != LUA_TTABLE;
  lua_Integer n = single ? 1 : (lua_Integer)lua_rawlen(L, index);
  void *block;
  if (single && tl_kind_of(L, st, index) == TL_TENSOR && a->kind == TFSDK_ATTR_LIST_INT) {
    tfsdk_shape s;
    int64_t *ints;
    tl_check_shape(L, st, index, op, a->name, &s);
    ints = (int64_t *)lua_newuserdatauv(L, sizeof s.dim, 0);
    memcpy(ints, s.dim, sizeof s.dim);
    out->n = (uint32_t)s.rank;
    out->v.ints = ints;
    return;
  }
  block = lua_newuserdatauv(
      L,
      (size_t)(n + 1) * (a->kind == TFSDK_ATTR_LIST_SHAPE ? sizeof(tfsdk_shape) : sizeof(int64_t)),
      0);
  out->n = (uint32_t)n;
  out->v.ints = (const int64_t *)block;
  if (a->kind == TFSDK_ATTR_LIST_STRING) /* the strings must stay, too */
    luaL_checkstack(L, (int)n + 4, a->name);
  for (lua_Integer i = 0; i < n; i++) {
    int at;
    if (single)
      lua_pushvalue(L, index);
    else
      lua_rawgeti(L, index, i + 1);
    at = lua_gettop(L);
    switch (a->kind) {
    case TFSDK_ATTR_LIST_INT: ((int64_t *)block)[i] = tl_check_int(L, st, at, op, a->name); break;
    case TFSDK_ATTR_LIST_FLOAT: ((double *)block)[i] = number_at(L, st, op, a, at); break;
    case TFSDK_ATTR_LIST_BOOL: ((int64_t *)block)[i] = bool_at(L, st, op, a, at); break;
    case TFSDK_ATTR_LIST_DTYPE: ((int64_t *)block)[i] = dtype_at(L, st, op, a, at); break;
    case TFSDK_ATTR_LIST_STRING: ((const char **)block)[i] = string_at(L, st, op, a, at); continue;
    default: {
      tfsdk_shape *s = (tfsdk_shape *)block + i;
      if (lua_isboolean(L, at)) {
        memset(s, 0, sizeof *s);
        s->rank = -1;
      } else {
        tl_check_shape(L, st, at, op, a->name, s);
      }
    }
    }
    lua_pop(L, 1);
  }
}

void tl_read_attr(lua_State *L, tl_state *st, const char *op, const tl_attrinfo *a, int index,
                  tfsdk_attrval *out) {
  memset(out, 0, sizeof *out);
  out->name = a->name;
  out->kind = a->kind;
  switch (a->kind) {
  case TFSDK_ATTR_INT: out->v.i = tl_check_int(L, st, index, op, a->name); break;
  case TFSDK_ATTR_FLOAT: out->v.f = number_at(L, st, op, a, index); break;
  case TFSDK_ATTR_BOOL: out->v.i = bool_at(L, st, op, a, index); break;
  case TFSDK_ATTR_STRING:
    out->v.s = string_at(L, st, op, a, index);
    check_allowed(L, st, op, a, out->v.s);
    break;
  case TFSDK_ATTR_DTYPE: out->v.i = dtype_at(L, st, op, a, index); break;
  case TFSDK_ATTR_SHAPE: {
    tfsdk_shape *s = (tfsdk_shape *)lua_newuserdatauv(L, sizeof *s, 0);
    if (lua_isboolean(L, index)) { /* false: nothing is known */
      out->n = TFSDK_UNKNOWN_RANK;
      break;
    }
    tl_check_shape(L, st, index, op, a->name, s);
    out->n = (uint32_t)s->rank;
    out->v.ints = s->dim;
    break;
  }
  case TFSDK_ATTR_TENSOR:
    if (tl_kind_of(L, st, index) == TL_TENSOR) {
      out->v.tensor = tl_check_tensor(L, st, index);
    } else {
      out->v.tensor = tl_push_literal(L, st, index, 0, op, a->name);
    }
    break;
  default: read_list(L, st, op, a, index, out); break;
  }
}
