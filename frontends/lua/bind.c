/* bind.c - functions of the facade: arguments by position, by name, or the rest in one table.
 *
 *     private.def("tf.nn.conv2d", "input filter|filters strides=1 padding name?", function(input,
 * ...) end)
 *
 * The signature lists the parameters in TensorFlow's order: `name` is required, `name?` may be left
 * out (nil), `name=value` has a default (number, true, false, or a word as a string), `a|b` is also
 * known as b. The function gets one value per parameter. Every function takes {now = true}: ops
 * without inputs run at once in it. In place of a function there may be the name of an op, whose
 * inputs the parameters are but for the last, the node's name.
 */
#include "ops.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_PARAMS 48

typedef struct spec {
  int n;
  uint64_t required;
  uint64_t tables;               /* parameters that take a table: an empty one is theirs */
  uint64_t checked;              /* parameters whose kind follows from their name: `kinds` */
  const tl_opinfo *op;           /* of a bound op, once it was called */
  const char *function;          /* "tf.nn.conv2d" */
  const char *names[MAX_PARAMS]; /* in a buffer behind the struct */
} spec;

/* Whether the last argument is the table of options. An empty table may be a shape or a list: it is
 * if the parameter at its place must be given or takes tables. */
static int last_is_options(lua_State *L, const spec *s, int n) {
  if (tl_is_options(L, n)) return 1;
  if (lua_type(L, n) != LUA_TTABLE) return 0;
  if (n > s->n) return 1;
  if (((s->required | s->tables) >> (n - 1) & 1u) != 0 || lua_rawlen(L, n) > 0) return 0;
  if (lua_getmetatable(L, n)) {
    lua_pop(L, 1);
    return 0;
  }
  lua_pushnil(L);
  if (lua_next(L, n) == 0) return 1;
  lua_pop(L, 2);
  return 0;
}

/* Parameters of these names take values of these kinds in all functions; a function that is more generous has another
 * name for it. */
#define KIND(type) (1u << (type))
static const struct kind {
  const char *name;
  unsigned types; /* of Lua's types */
  int yes, no;    /* whether true, false */
  const char *words;
} kinds[] = {
    {"name", KIND(LUA_TSTRING), 0, 1, "a string"},
    {"scope", KIND(LUA_TSTRING) | KIND(LUA_TTABLE), 0, 1, "a string or a scope"},
    {"seed", KIND(LUA_TNUMBER) | KIND(LUA_TTABLE) | KIND(LUA_TUSERDATA), 0, 1, "a number"},
    {"learning_rate",
     KIND(LUA_TNUMBER) | KIND(LUA_TTABLE) | KIND(LUA_TUSERDATA) | KIND(LUA_TFUNCTION), 0, 1,
     "a number, a tensor or a schedule"},
    {"is_training", KIND(LUA_TUSERDATA) | KIND(LUA_TTABLE), 1, 1,
     "true, false or a boolean tensor"},
    {"num_outputs", KIND(LUA_TNUMBER), 0, 1, "a whole number"},
    {"kernel_size", KIND(LUA_TNUMBER) | KIND(LUA_TTABLE), 0, 0, "a whole number or a list of them"},
    {"keep_prob", KIND(LUA_TNUMBER) | KIND(LUA_TUSERDATA), 0, 0, "a number or a tensor"},
    {"trainable", 0, 1, 1, "true or false"},
    {"func_", KIND(LUA_TFUNCTION) | KIND(LUA_TTABLE), 0, 0, "a function"},
    {"fn", KIND(LUA_TFUNCTION) | KIND(LUA_TTABLE), 0, 0, "a function"},
    {"true_fn", KIND(LUA_TFUNCTION) | KIND(LUA_TTABLE), 0, 0, "a function"},
    {"false_fn", KIND(LUA_TFUNCTION) | KIND(LUA_TTABLE), 0, 0, "a function"},
    {"activation_fn", KIND(LUA_TFUNCTION) | KIND(LUA_TTABLE) | KIND(LUA_TSTRING), 0, 1,
     "a function, or false for none"},
    {"normalizer_fn", KIND(LUA_TFUNCTION) | KIND(LUA_TTABLE), 0, 1,
     "a function, or false for none"},
    {"custom_getter", KIND(LUA_TFUNCTION) | KIND(LUA_TTABLE), 0, 1, "a function"}};

/* The kind of the parameter at the stack index is looked at; raises if it is wrong. */
static void check_kind(lua_State *L, tl_state *st, const spec *s, int i, int index) {
  int type = lua_type(L, index);
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    if (strcmp(kinds[k].name, s->names[i]) != 0) continue;
    if (type == LUA_TBOOLEAN && (lua_toboolean(L, index) ? kinds[k].yes : kinds[k].no)) return;
    if (type == LUA_TNIL) return;
    if ((kinds[k].types & KIND(type)) != 0) {
      if (type != LUA_TTABLE || (kinds[k].types & KIND(LUA_TFUNCTION)) == 0) return;
      if (luaL_getmetafield(L, index, "__call") != LUA_TNIL) { /* a table that can be called */
        lua_pop(L, 1);
        return;
      }
      if ((kinds[k].types & KIND(LUA_TNUMBER)) != 0) return;
    }
    tl_fail(L, st, s->function, "argument '%s' must be %s, not %s", s->names[i], kinds[k].words,
            tl_type_name(L, st, index));
  }
}

/* Upvalues of a bound function: 1 state, 2 spec, 3 function or op, 4 name -> position, 5 defaults.
 */

static int unknown_option(lua_State *L, tl_state *st, const spec *s, const char *key) {
  const char *list[MAX_PARAMS + 1], *near;
  size_t n = 0;
  for (int i = 0; i < s->n; i++) list[n++] = s->names[i];
  list[n++] = "now";
  near = tl_nearest(key, list, n);
  if (near != NULL)
    return tl_fail(L, st, s->function, "unknown option '%s'; did you mean '%s'?", key, near);
  return tl_fail(L, st, s->function, "unknown option '%s'", key);
}

/* The op of a bound op; its record is looked up at the first call. */
static const tl_opinfo *bound_op(lua_State *L, tl_state *st, spec *s) {
  if (s->op == NULL) {
    const tl_opinfo *op = tl_op_find(L, st, lua_tostring(L, lua_upvalueindex(3)));
    if (op->def->n_in != s->n - 1)
      luaL_error(L, "%s: the signature has %d inputs, the op %d", s->function, s->n - 1,
                 (int)op->def->n_in);
    s->op = op;
  }
  return s->op;
}

/* Raises the error on top again, which came out of the function. The arguments still lie at 1 .. n, the table of
 * options at `options`. */
static int raise_for(lua_State *L, tl_state *st, const spec *s, int n, int options) {
  int error = lua_gettop(L);
  luaL_checkstack(L, 8, NULL);
  lua_createtable(L, s->n, 0);
  lua_createtable(L, s->n, 0);
  for (int i = 0; i < s->n; i++) {
    lua_pushstring(L, s->names[i]);
    lua_rawseti(L, error + 1, i + 1);
    if (i >= n) continue;
    lua_pushvalue(L, i + 1);
    lua_rawseti(L, error + 2, i + 1);
  }
  if (options != 0) {
    lua_pushnil(L);
    while (lua_next(L, options) != 0) {
      lua_pushvalue(L, -2);
      if (lua_rawget(L, lua_upvalueindex(4)) == LUA_TNUMBER) {
        lua_Integer at = lua_tointeger(L, -1);
        lua_pop(L, 1);
        lua_rawseti(L, error + 2, at + 1);
      } else {
        lua_pop(L, 2);
      }
    }
  }
  lua_pushvalue(L, error);
  return tl_fault(L, st, s->function, error + 1, error + 2, s->n);
}

/* Whether the arguments hold a concrete tensor and nothing of a graph: such a call runs at once. */
static int only_tensors(lua_State *L, tl_state *st, int first, int n) {
  int any = 0;
  for (int i = first; i < first + n; i++) {
    tl_kind k;
    if (lua_type(L, i) != LUA_TUSERDATA) continue;
    k = tl_kind_of(L, st, i);
    if (k == TL_NODE || k == TL_OPERATION ||
        (k == TL_VARIABLE && ((const tl_variable *)lua_touserdata(L, i))->g != NULL))
      return 0;
    any |= k == TL_TENSOR || k == TL_VARIABLE;
  }
  return any;
}

static int bound_call(lua_State *L) {
  tl_state *st = tl_get(L);
  spec *s = (spec *)lua_touserdata(L, lua_upvalueindex(2));
  int n = lua_gettop(L), options = 0, base, now = 0, outer, status;
  if (n > 0 && last_is_options(L, s, n)) options = n--;
  if (n > s->n) return tl_fail(L, st, s->function, "takes at most %d values, got %d", s->n, n);
  luaL_checkstack(L, s->n + 12, s->function);
  lua_pushvalue(L, lua_upvalueindex(3));
  base = lua_gettop(L); /* parameter i goes to base + 1 + i */
  for (int i = 0; i < s->n; i++) {
    if (i < n)
      lua_pushvalue(L, i + 1);
    else
      lua_pushnil(L);
  }
  if (options != 0) {
    lua_pushnil(L);
    while (lua_next(L, options) != 0) {
      lua_Integer at;
      if (lua_type(L, -2) != LUA_TSTRING)
        return tl_fail(L, st, s->function,
                       "the table of options has the key [%s]; options have names",
                       luaL_tolstring(L, -2, NULL));
      lua_pushvalue(L, -2);
      if (lua_rawget(L, lua_upvalueindex(4)) == LUA_TNIL) {
        const char *key = lua_tostring(L, -3);
        if (strcmp(key, "now") != 0) return unknown_option(L, st, s, key);
        now = lua_toboolean(L, -2);
        lua_pop(L, 2);
        continue;
      }
      at = lua_tointeger(L, -1);
      lua_pop(L, 1);
      if (!lua_isnil(L, base + 1 + (int)at))
        return tl_fail(L, st, s->function, "'%s' is given twice", s->names[at]);
      lua_replace(L, base + 1 + (int)at);
    }
  }
  for (int i = 0; i < s->n; i++) {
    if (!lua_isnil(L, base + 1 + i)) continue;
    if ((s->required >> i & 1u) != 0)
      return tl_fail(L, st, s->function, "argument '%s' is missing", s->names[i]);
    lua_rawgeti(L, lua_upvalueindex(5), i + 1);
    lua_replace(L, base + 1 + i);
  }
  for (uint64_t left = s->checked; left != 0; left &= left - 1) {
    int i = __builtin_ctzll(left);
    check_kind(L, st, s, i, base + 1 + i);
  }
  if (lua_type(L, lua_upvalueindex(3)) == LUA_TSTRING) {
    const tl_opinfo *op = bound_op(L, st, s);
    return tl_invoke(L, st, op, base + 1, 0, lua_tostring(L, base + s->n));
  }
  outer = st->concrete;
  st->concrete = only_tensors(L, st, base + 1, s->n);
  st->now += now;
  status = lua_pcall(L, s->n, LUA_MULTRET, 0);
  st->now -= now;
  st->concrete = outer;
  if (status != LUA_OK) return raise_for(L, st, s, n, options);
  return lua_gettop(L) - base + 1;
}

/* Pushes the default value that a word says. */
static void push_default(lua_State *L, const char *text, size_t n) {
  lua_pushlstring(L, text, n);
  text = lua_tostring(L, -1);
  if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
    lua_pushboolean(L, text[0] == 't');
    lua_remove(L, -2);
  } else if (lua_stringtonumber(L, text) != 0) {
    lua_remove(L, -2);
  }
}

/* One parameter of the signature: names into the spec and the index table, default into the
 * defaults. */
static void read_param(lua_State *L, spec *s, char **buffer, const char *word, size_t n, int index,
                       int defaults) {
  static const char *const tables[] = {
      "shape",    "axis",   "axes",          "perm",        "values",      "inputs",
      "var_list", "scopes", "padded_shapes", "noise_shape", "batch_shape", "collections"};
  size_t end = 0, from = 0;
  while (end < n && word[end] != '=' && word[end] != '?') end++;
  for (size_t i = 0; i <= end; i++) {
    if (i < end && word[i] != '|') continue;
    if (from == 0) {
      s->names[s->n] = *buffer;
      memcpy(*buffer, word, i);
      (*buffer)[i] = 0;
      *buffer += i + 1;
    }
    lua_pushlstring(L, word + from, i - from);
    lua_pushinteger(L, s->n);
    lua_rawset(L, index);
    from = i + 1;
  }
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
    if (strcmp(s->names[s->n], tables[i]) == 0) s->tables |= (uint64_t)1 << s->n;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (strcmp(s->names[s->n], kinds[i].name) == 0) s->checked |= (uint64_t)1 << s->n;
  if (end == n) {
    s->required |= (uint64_t)1 << s->n;
  } else if (word[end] == '=') {
    push_default(L, word + end + 1, n - end - 1);
    if (lua_isnumber(L, -1)) s->tables &= ~((uint64_t)1 << s->n); /* one axis, not a list of them */
    lua_rawseti(L, defaults, s->n + 1);
  }
  s->n++;
}

/* private.bind(name, signature, fn or op): the bound function. */
static int bind(lua_State *L) {
  size_t n_name, n_sig;
  const char *name = luaL_checklstring(L, 1, &n_name), *p = luaL_checklstring(L, 2, &n_sig);
  spec *s;
  char *buffer;
  if (lua_type(L, 3) != LUA_TSTRING) luaL_checktype(L, 3, LUA_TFUNCTION);
  lua_settop(L, 3);
  lua_newtable(L);                                                     /* 4 */
  lua_newtable(L);                                                     /* 5 */
  s = (spec *)lua_newuserdatauv(L, sizeof *s + n_name + n_sig + 2, 0); /* 6 */
  memset(s, 0, sizeof *s);
  buffer = (char *)(s + 1);
  memcpy(buffer, name, n_name + 1);
  s->function = buffer;
  buffer += n_name + 1;
  while (*p != 0) {
    size_t n;
    p += strspn(p, " \n");
    n = strcspn(p, " \n");
    if (n == 0) break;
    if (s->n == MAX_PARAMS) return luaL_error(L, "%s: too many parameters", name);
    read_param(L, s, &buffer, p, n, 4, 5);
    p += n;
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, 6);
  lua_pushvalue(L, 3);
  lua_pushvalue(L, 4);
  lua_pushvalue(L, 5);
  lua_pushcclosure(L, bound_call, 5);
  return 1;
}

/* private.def(path, signature, fn): binds and stores under the path; returns the bound function. */
static int def(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = luaL_checkstring(L, 1), *dot = strrchr(path, '.');
  lua_settop(L, 3);
  if (dot == NULL) return luaL_error(L, "def: '%s' has no namespace", path);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushcclosure(L, bind, 1);
  for (int i = 1; i <= 3; i++) lua_pushvalue(L, i);
  lua_call(L, 3, 1);
  lua_pushlstring(L, path, (size_t)(dot - path));
  tl_push_namespace(L, st, lua_tostring(L, -1));
  lua_pushstring(L, dot + 1);
  lua_pushvalue(L, 4);
  lua_rawset(L, -3);
  lua_settop(L, 4);
  return 1;
}

/* private.fail(function or false, format, ...): raises INVALID_ARGUMENT at the script's line. */
static int fail(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *function = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : NULL;
  for (int i = 3, n = lua_gettop(L); i <= n; i++) { /* no addresses in messages */
    int plain = lua_isfunction(L, i) || lua_istable(L, i);
    if (plain && luaL_getmetafield(L, i, "__tostring") != LUA_TNIL) {
      lua_pop(L, 1);
      plain = 0;
    }
    if (!plain) continue;
    lua_pushstring(L, tl_type_name(L, st, i));
    lua_replace(L, i);
  }
  lua_getglobal(L, "string");
  lua_getfield(L, -1, "format");
  lua_replace(L, 1);
  lua_pop(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return tl_fail(L, st, function, "%s", lua_tostring(L, -1));
}

/* private.fail_code(code number, function, message) */
static int fail_code(lua_State *L) {
  tl_state *st = tl_get(L);
  return tl_fail_code(L, st, (int32_t)luaL_checkinteger(L, 1), luaL_optstring(L, 2, NULL), "%s",
                      luaL_checkstring(L, 3));
}

/* private.nearest(word, list): the nearest string, or nil. */
static int nearest(lua_State *L) {
  const char *list[256], *near;
  size_t n = 0;
  luaL_checktype(L, 2, LUA_TTABLE);
  for (lua_Integer i = 1; n < 256 && lua_rawgeti(L, 2, i) == LUA_TSTRING; i++) {
    list[n++] = lua_tostring(L, -1); /* the table holds it */
    lua_pop(L, 1);
  }
  near = tl_nearest(luaL_checkstring(L, 1), list, n);
  if (near == NULL)
    lua_pushnil(L);
  else
    lua_pushstring(L, near);
  return 1;
}

/* private.type(v): dtype and static shape (nil: unknown rank) of a value; nil for anything else. */
static int type_of(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_typed_shape t;
  if (tl_kind_of(L, st, 1) == TL_NONE) {
    lua_pushnil(L);
    return 1;
  }
  tl_type_of(L, st, 1, &t);
  lua_pushstring(L, tfsdk_dtype_name(t.dtype));
  tl_push_shape(L, &t.shape);
  return 2;
}

/* private.value(v, dtype): the tensor or node to compute with. */
static int value(lua_State *L) {
  tl_state *st = tl_get(L);
  int32_t dtype = 0;
  if (!lua_isnoneornil(L, 2)) dtype = tl_check_dtype(L, st, 2, luaL_optstring(L, 3, NULL), "dtype");
  tl_push_value(L, st, 1, dtype, luaL_optstring(L, 3, NULL));
  return 1;
}

/* private.known(v): the tensor of a value that is known while the graph is built, or nil. */
static int known(lua_State *L) {
  tl_state *st = tl_get(L);
  tl_kind k = tl_kind_of(L, st, 1);
  lua_settop(L, 1);
  if (k == TL_NONE) {
    if (lua_isnil(L, 1) || lua_isfunction(L, 1) ||
        (lua_istable(L, 1) && tl_holds_values(L, st, 1))) {
      lua_pushnil(L);
      return 1;
    }
    tl_push_literal(L, st, 1, 0, NULL, NULL);
    return 1;
  }
  if (k == TL_TENSOR) return 1;
  if (k == TL_NODE) {
    const tl_node *n = (const tl_node *)lua_touserdata(L, 1);
    tfsdk_ctx *ctx = tfsdk_graph_ctx(n->g);
    tfsdk_view v;
    if (ctx->api->known(ctx, n->v, &v) && v.dtype != TFSDK_STRING) {
      tl_tensor *box = tl_push_box(L, st);
      tfsdk_tensor *t = NULL;
      tl_check(L, st,
               tfsdk_tensor_create(st->rt, v.dtype, v.rank, v.dim, v.data,
                                   (size_t)v.n_elem * tfsdk_dtype_size(v.dtype), &t));
      tl_fill_box(L, st, box, t);
      return 1;
    }
  }
  lua_pushnil(L);
  return 1;
}

static int is_options(lua_State *L) {
  lua_settop(L, 1);
  lua_pushboolean(L, tl_is_options(L, 1));
  return 1;
}

/* list(value, function, argument): the value, which must be a plain table: walking a single node as if it were
 * a list would never end when its length is unknown. */
static int list_of(lua_State *L) {
  tl_state *st = tl_get(L);
  if (!lua_istable(L, 1) || tl_kind_of(L, st, 1) != TL_NONE)
    return tl_fail(L, st, luaL_checkstring(L, 2), "'%s' must be a list of tensors, not %s",
                   luaL_checkstring(L, 3), tl_type_name(L, st, 1));
  lua_settop(L, 1);
  return 1;
}

void tl_open_bind(lua_State *L, tl_state *st) {
  static const luaL_Reg hidden[] = {
      {"bind", bind},           {"list", list_of},          {"def", def},      {"fail", fail},
      {"fail_code", fail_code}, {"nearest", nearest},       {"type", type_of}, {"value", value},
      {"known", known},         {"is_options", is_options}, {NULL, NULL}};
  tl_add_private(L, st, hidden);
}
