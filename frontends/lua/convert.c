/* convert.c - between Lua values and tensors: numbers, booleans, strings, nested tables, shapes,
 * dtypes. */
#include "module.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* "tf.tensor: argument 'data'" or one part of it, for messages. */
static int complain(lua_State *L, tl_state *st, const char *op, const char *what, const char *text,
                    int index) {
  return tl_fail(L, st, op, "%s%s%s %s, not %s", what != NULL ? "'" : "",
                 what != NULL ? what : "value", what != NULL ? "'" : "", text,
                 tl_type_name(L, st, index));
}

int32_t tl_check_dtype(lua_State *L, tl_state *st, int index, const char *op, const char *what) {
  static const char *const names[] = {
#define NAME(id, number, name, bytes, kind) name,
      TFSDK_DTYPES(NAME)
#undef NAME
  };
  const char *text, *near;
  int32_t dtype;
  if (lua_type(L, index) != LUA_TSTRING) {
    complain(L, st, op, what, "must be a type like \"float32\"", index);
    return 0;
  }
  text = lua_tostring(L, index);
  dtype = tfsdk_dtype_find(text);
  if (dtype != 0) return dtype;
  near = tl_nearest(text, names, sizeof names / sizeof names[0]);
  tl_fail(L, st, op, "'%s': there is no type '%s'%s%s%s", what, text,
          near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
          near != NULL ? "'?" : "");
  return 0;
}

int64_t tl_check_int(lua_State *L, tl_state *st, int index, const char *op, const char *what) {
  int ok = 0;
  lua_Integer i;
  tfsdk_view v;
  if (lua_type(L, index) == LUA_TNUMBER) {
    i = lua_tointegerx(L, index, &ok);
    if (!ok)
      tl_fail(L, st, op, "'%s' must be a whole number, not %.14g", what, lua_tonumber(L, index));
    return i;
  }
  if (tl_kind_of(L, st, index) == TL_TENSOR) {
    tl_check_op(L, st, tfsdk_tensor_view(tl_check_tensor(L, st, index), &v), op);
    if (v.n_elem == 1 && v.dtype != TFSDK_STRING) {
      tl_push_element(L, &v, 0);
      i = lua_tointegerx(L, -1, &ok);
      lua_pop(L, 1);
      if (ok) return i;
    }
  }
  complain(L, st, op, what, "must be a whole number", index);
  return 0;
}

void tl_check_shape(lua_State *L, tl_state *st, int index, const char *op, const char *what,
                    tfsdk_shape *out) {
  memset(out, 0, sizeof *out);
  if (lua_istable(L, index) && tl_kind_of(L, st, index) == TL_NONE) {
    lua_Integer n = (lua_Integer)lua_rawlen(L, index);
    if (n > TFSDK_MAX_RANK)
      tl_fail(L, st, op, "'%s' has %d extents; tensors have at most rank %d", what, (int)n,
              TFSDK_MAX_RANK);
    out->rank = (int32_t)n;
    for (lua_Integer i = 0; i < n; i++) {
      lua_rawgeti(L, index, i + 1);
      if (lua_isnil(L, -1)) /* {nil, 3}: Python's None */
        tl_fail(L, st, op, "extent %d of '%s' is nil; -1 stands for one that is open", (int)i + 1,
                what);
      if (lua_isboolean(L, -1))
        out->dim[i] = -1; /* false: unknown */
      else
        out->dim[i] = tl_check_int(L, st, lua_gettop(L), op, what);
      if (out->dim[i] < -1)
        tl_fail(L, st, op, "'%s': extent %lld is negative", what, (long long)out->dim[i]);
      lua_pop(L, 1);
    }
    return;
  }
  if (tl_kind_of(L, st, index) == TL_TENSOR) {
    tfsdk_view v;
    tl_check_op(L, st, tfsdk_tensor_view(tl_check_tensor(L, st, index), &v), op);
    if (v.rank <= 1 && v.n_elem <= TFSDK_MAX_RANK && v.dtype != TFSDK_STRING) {
      out->rank = v.rank == 0 ? 1 : (int32_t)v.n_elem;
      for (int64_t i = 0; i < v.n_elem; i++) {
        tl_push_element(L, &v, i);
        out->dim[i] = lua_tointeger(L, -1);
        lua_pop(L, 1);
      }
      return;
    }
  }
  if (lua_type(L, index) == LUA_TNUMBER) {
    out->rank = 1;
    out->dim[0] = tl_check_int(L, st, index, op, what);
    return;
  }
  complain(L, st, op, what, "must be a shape like {2, 3}", index);
}

/* --------------------------------------------------------------------------------- tables to
 * tensors */

int32_t tl_literal_dtype(lua_State *L, int index) {
  int32_t dtype = 0;
  switch (lua_type(L, index)) {
  case LUA_TNUMBER: return TFSDK_FLOAT32;
  case LUA_TBOOLEAN: return TFSDK_BOOL;
  case LUA_TSTRING: return TFSDK_STRING;
  case LUA_TTABLE:
    if (lua_gettop(L) > TL_NEST_LIMIT) return 0; /* too deep for a tensor: who reads it says so */
    luaL_checkstack(L, 4, NULL);
    for (lua_Integer i = 1, n = (lua_Integer)lua_rawlen(L, index); i <= n && dtype == 0; i++) {
      lua_rawgeti(L, index, i);
      dtype = tl_literal_dtype(L, lua_gettop(L));
      lua_pop(L, 1);
    }
    return dtype;
  default: return 0;
  }
}

/* Tables nested deeper than a tensor's rank (cyclic ones, too) hold no values: who reads them says so. */
static int holds_values(lua_State *L, tl_state *st, int index, int depth) {
  int found = 0;
  lua_Integer n = (lua_Integer)lua_rawlen(L, index);
  luaL_checkstack(L, 4, NULL);
  for (lua_Integer i = 1; i <= n && !found; i++) {
    int type = lua_rawgeti(L, index, i);
    if (type == LUA_TNUMBER) { /* a row of numbers is looked at to its end: {-1, n} */
      lua_pop(L, 1);
      continue;
    }
    if (type == LUA_TUSERDATA) {
      tl_kind k = tl_kind_of(L, st, lua_gettop(L));
      found = k == TL_TENSOR || k == TL_NODE || k == TL_VARIABLE;
    } else if (type == LUA_TTABLE) {
      found = tl_kind_of(L, st, lua_gettop(L)) == TL_SLICES ||
              (depth < TFSDK_MAX_RANK && holds_values(L, st, lua_gettop(L), depth + 1));
    }
    lua_pop(L, 1);
  }
  return found;
}

int tl_holds_values(lua_State *L, tl_state *st, int index) { return holds_values(L, st, index, 0); }

typedef struct filler {
  lua_State *L;
  tl_state *st;
  const char *op, *what;
  int32_t dtype;
  tfsdk_shape shape;
  char *data;
  const char **strings;
  size_t *lengths;
  int64_t at;
} filler;

/* The shape, told by the first members; leaves the stack longer. */
static void measure(filler *f, int index) {
  lua_State *L = f->L;
  luaL_checkstack(L, TFSDK_MAX_RANK + 4, NULL);
  lua_pushvalue(L, index);
  while (lua_istable(L, -1)) {
    lua_Integer n = (lua_Integer)lua_rawlen(L, -1);
    if (f->shape.rank == TFSDK_MAX_RANK)
      tl_fail(L, f->st, f->op, "'%s' is nested deeper than %d tables", f->what, TFSDK_MAX_RANK);
    f->shape.dim[f->shape.rank++] = n;
    if (n == 0) {
      lua_pushnil(L);
      if (lua_next(L, -2) != 0)
        tl_fail(L, f->st, f->op, "'%s' has keys that are no numbers; data is a list", f->what);
      break;
    }
    lua_rawgeti(L, -1, 1);
  }
}

static void bad_number(filler *f, double x, const char *why) {
  tl_fail(f->L, f->st, f->op, "'%s': %.14g %s %s", f->what, x, why, tfsdk_dtype_name(f->dtype));
}

static void store_int(filler *f, int64_t i) {
  static const struct {
    int32_t dtype;
    int64_t lo, hi;
  } range[] = {{TFSDK_INT8, -128, 127},
               {TFSDK_UINT8, 0, 255},
               {TFSDK_INT16, -32768, 32767},
               {TFSDK_UINT16, 0, 65535},
               {TFSDK_INT32, INT32_MIN, INT32_MAX},
               {TFSDK_UINT32, 0, UINT32_MAX}};
  for (size_t k = 0; k < sizeof range / sizeof range[0]; k++)
    if (range[k].dtype == f->dtype && (i < range[k].lo || i > range[k].hi))
      bad_number(f, (double)i, "does not fit into");
  switch (f->dtype) {
  case TFSDK_INT8: ((int8_t *)(void *)f->data)[f->at] = (int8_t)i; break;
  case TFSDK_UINT8: ((uint8_t *)(void *)f->data)[f->at] = (uint8_t)i; break;
  case TFSDK_INT16: ((int16_t *)(void *)f->data)[f->at] = (int16_t)i; break;
  case TFSDK_UINT16: ((uint16_t *)(void *)f->data)[f->at] = (uint16_t)i; break;
  case TFSDK_INT32: ((int32_t *)(void *)f->data)[f->at] = (int32_t)i; break;
  case TFSDK_UINT32: ((uint32_t *)(void *)f->data)[f->at] = (uint32_t)i; break;
  case TFSDK_INT64: ((int64_t *)(void *)f->data)[f->at] = i; break;
  default: ((uint64_t *)(void *)f->data)[f->at] = (uint64_t)i; break;
  }
}

static void store_number(filler *f) {
  lua_State *L = f->L;
  double x = lua_tonumber(L, -1);
  int ok;
  lua_Integer i;
  switch (f->dtype) {
  case TFSDK_FLOAT32: ((float *)(void *)f->data)[f->at] = (float)x; return;
  case TFSDK_FLOAT64: ((double *)(void *)f->data)[f->at] = x; return;
  case TFSDK_FLOAT16:
    ((uint16_t *)(void *)f->data)[f->at] = tfsdk_to_half(tfsdk_round_to_odd(x));
    return;
  case TFSDK_BFLOAT16:
    ((uint16_t *)(void *)f->data)[f->at] = tfsdk_to_bfloat16(tfsdk_round_to_odd(x));
    return;
  case TFSDK_COMPLEX64:
    ((float *)(void *)f->data)[2 * f->at] = (float)x;
    ((float *)(void *)f->data)[2 * f->at + 1] = 0;
    return;
  case TFSDK_COMPLEX128:
    ((double *)(void *)f->data)[2 * f->at] = x;
    ((double *)(void *)f->data)[2 * f->at + 1] = 0;
    return;
  default: break;
  }
  i = lua_tointegerx(L, -1, &ok);
  if (!ok && f->dtype == TFSDK_UINT64 && x >= 9223372036854775808.0 && x < 18446744073709551616.0)
    i = (lua_Integer)(uint64_t)x;
  else if (!ok)
    bad_number(f, x, "is no whole number, as it must be for");
  store_int(f, i);
}

/* Nothing of the table on top is dropped: its keys are 1..n. A long list is looked at behind its last member
 * only, where keys of other kinds stand. */
static void check_keys(filler *f, lua_Integer n) {
  lua_State *L = f->L;
  if (n > 16) {
    lua_pushinteger(L, n);
    if (lua_next(L, -2) == 0) return;
    lua_pop(L, 2);
  }
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TNUMBER && lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 1 &&
        lua_tointeger(L, -1) <= n)
      continue;
    lua_pushvalue(L, -1); /* lua_next must not see the key turned into text */
    tl_fail(L, f->st, f->op, "'%s' has the key %s beside its list of %lld; data is a list", f->what,
            luaL_tolstring(L, -1, NULL), (long long)n);
  }
}

/* Stores the value on top of the stack, or the members of the table there. */
static void fill(filler *f, int depth) {
  lua_State *L = f->L;
  if (depth < f->shape.rank) {
    lua_Integer n = (lua_Integer)f->shape.dim[depth];
    if (!lua_istable(L, -1))
      tl_fail(L, f->st, f->op, "'%s' is uneven: there is %s where a table of %lld is expected",
              f->what, tl_type_name(L, f->st, lua_gettop(L)), (long long)n);
    if ((lua_Integer)lua_rawlen(L, -1) != n)
      tl_fail(L, f->st, f->op, "'%s' is uneven: a table has %lld members where the first has %lld",
              f->what, (long long)lua_rawlen(L, -1), (long long)n);
    check_keys(f, n);
    for (lua_Integer i = 1; i <= n; i++) {
      lua_rawgeti(L, -1, i);
      fill(f, depth + 1);
      lua_pop(L, 1);
    }
    return;
  }
  switch (lua_type(L, -1)) {
  case LUA_TNUMBER:
    if (f->dtype != TFSDK_STRING && f->dtype != TFSDK_BOOL) {
      store_number(f);
      f->at++;
      return;
    }
    break;
  case LUA_TBOOLEAN:
    if (f->dtype == TFSDK_BOOL) {
      ((uint8_t *)(void *)f->data)[f->at++] = (uint8_t)lua_toboolean(L, -1);
      return;
    }
    break;
  case LUA_TSTRING:
    if (f->dtype == TFSDK_STRING) { /* the tables hold the string while it is needed */
      f->strings[f->at] = lua_tolstring(L, -1, &f->lengths[f->at]);
      f->at++;
      return;
    }
    break;
  case LUA_TTABLE:
    tl_fail(L, f->st, f->op, "'%s' is uneven: there is a table where a single value is expected",
            f->what);
    return;
  default: break;
  }
  tl_fail(L, f->st, f->op, "'%s': %s cannot become %s", f->what,
          tl_type_name(L, f->st, lua_gettop(L)), tfsdk_dtype_name(f->dtype));
}

tfsdk_tensor *tl_push_literal(lua_State *L, tl_state *st, int index, int32_t dtype, const char *op,
                              const char *what) {
  filler f;
  tl_tensor *box;
  int64_t n;
  int top = lua_gettop(L);
  memset(&f, 0, sizeof f);
  f.L = L;
  f.st = st;
  f.op = op;
  f.what = what != NULL ? what : "value";
  f.dtype = dtype != 0 ? dtype : tl_literal_dtype(L, index);
  if (f.dtype == 0) f.dtype = TFSDK_FLOAT32;
  if (f.dtype == TFSDK_RESOURCE) complain(L, st, op, f.what, "must be a variable", index);
  measure(&f, index);
  lua_settop(L, top);
  n = tfsdk_shape_elements(&f.shape);
  box = tl_push_box(L, st);
  tl_runtime(L, st);
  luaL_checkstack(L, TFSDK_MAX_RANK + 8, NULL);
  if (f.dtype == TFSDK_STRING) {
    tfsdk_tensor *t = NULL;
    f.strings = (const char **)lua_newuserdatauv(L, (size_t)(n + 1) * sizeof *f.strings, 0);
    f.lengths = (size_t *)lua_newuserdatauv(L, (size_t)(n + 1) * sizeof *f.lengths, 0);
    lua_pushvalue(L, index);
    fill(&f, 0);
    tl_check_op(L, st,
                tfsdk_tensor_create_strings(st->rt, (uint32_t)f.shape.rank, f.shape.dim, f.strings,
                                            f.lengths, &t),
                op);
    tl_fill_box(L, st, box, t);
  } else {
    void *data;
    tfsdk_tensor *t = NULL;
    tl_check_op(
        L, st,
        tfsdk_tensor_create_empty(st->rt, f.dtype, (uint32_t)f.shape.rank, f.shape.dim, &data, &t),
        op);
    tl_fill_box(L, st, box, t);
    f.data = (char *)data;
    lua_pushvalue(L, index);
    fill(&f, 0);
  }
  lua_settop(L, top + 1);
  return box->t;
}

/* --------------------------------------------------------------------------------- tensors to Lua
 */

void tl_push_dims(lua_State *L, int32_t rank, const int64_t *dim) {
  lua_createtable(L, rank, 0);
  for (int32_t i = 0; i < rank; i++) {
    lua_pushinteger(L, dim[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

void tl_push_shape(lua_State *L, const tfsdk_shape *s) {
  if (s->rank < 0)
    lua_pushnil(L);
  else
    tl_push_dims(L, s->rank, s->dim);
}

void tl_push_element(lua_State *L, const tfsdk_view *v, int64_t i) {
  switch (tfsdk_dtype_kind(v->dtype)) {
  case 's': {
    uint64_t n;
    const char *s;
    const uint64_t *off = (const uint64_t *)v->data;
    n = off[i + 1] - off[i];
    s = (const char *)(off + v->n_elem + 1) + off[i];
    lua_pushlstring(L, s, (size_t)n);
    return;
  }
  case 'b': lua_pushboolean(L, ((const uint8_t *)v->data)[i]); return;
  case 'c': { /* a complex number is a table {real, imaginary} */
    double re, im;
    if (v->dtype == TFSDK_COMPLEX64) {
      re = (double)((const float *)v->data)[2 * i];
      im = (double)((const float *)v->data)[2 * i + 1];
    } else {
      re = ((const double *)v->data)[2 * i];
      im = ((const double *)v->data)[2 * i + 1];
    }
    lua_createtable(L, 2, 0);
    lua_pushnumber(L, re);
    lua_rawseti(L, -2, 1);
    lua_pushnumber(L, im);
    lua_rawseti(L, -2, 2);
    return;
  }
  default: break;
  }
  switch (v->dtype) {
  case TFSDK_FLOAT32: lua_pushnumber(L, (double)((const float *)v->data)[i]); return;
  case TFSDK_FLOAT64: lua_pushnumber(L, ((const double *)v->data)[i]); return;
  case TFSDK_FLOAT16:
    lua_pushnumber(L, (double)tfsdk_from_half(((const uint16_t *)v->data)[i]));
    return;
  case TFSDK_BFLOAT16:
    lua_pushnumber(L, (double)tfsdk_from_bfloat16(((const uint16_t *)v->data)[i]));
    return;
  case TFSDK_INT8: lua_pushinteger(L, ((const int8_t *)v->data)[i]); return;
  case TFSDK_UINT8: lua_pushinteger(L, ((const uint8_t *)v->data)[i]); return;
  case TFSDK_INT16: lua_pushinteger(L, ((const int16_t *)v->data)[i]); return;
  case TFSDK_UINT16: lua_pushinteger(L, ((const uint16_t *)v->data)[i]); return;
  case TFSDK_INT32: lua_pushinteger(L, ((const int32_t *)v->data)[i]); return;
  case TFSDK_UINT32: lua_pushinteger(L, ((const uint32_t *)v->data)[i]); return;
  case TFSDK_INT64: lua_pushinteger(L, ((const int64_t *)v->data)[i]); return;
  case TFSDK_UINT64: lua_pushinteger(L, (lua_Integer)((const uint64_t *)v->data)[i]); return;
  default: lua_pushnil(L); return;
  }
}
