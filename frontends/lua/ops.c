/* ops.c - tf.raw: every op of the registry as a function, and the call that operators share.
 *
 *     tf.raw.Conv2D(x, w, {strides = {1, 2, 2, 1}, padding = "SAME", name = "conv"})
 *     tf.raw.Conv2D{input = x, filter = w, strides = {1, 1, 1, 1}, padding = "VALID"}
 *
 * Where a call goes: a node or graph variable among the inputs makes a node in its graph; concrete
 * tensors alone run at once; without either the present mode decides, or {now = true}. Literals
 * (numbers, tables, booleans, strings) take the type of the tensor that they meet under the same
 * type attribute, else the attribute's default, else their own.
 */
#include "ops.h"

#include <stdio.h>
#include <stdlib.h>

enum { ABSENT, LITERAL, TENSOR, NODE, VARIABLE, SLICES };

typedef struct flat_input {
  int what;
  int at; /* stack index */
  int arg;
  int32_t dtype;
  tfsdk_tensor *tensor; /* of a TENSOR */
} flat_input;

/* One call while it is put together. */
typedef struct call {
  lua_State *L;
  tl_state *st;
  const tl_opinfo *op;
  const char *op_name, *name;
  flat_input *in;
  uint32_t n_in, n_out;
  int attr_at[TL_MAX_ATTR];        /* stack index of a given attribute; 0: not given */
  int32_t attr_dtype[TL_MAX_ATTR]; /* the value of dtype attributes that are known so far */
  lua_Integer
      attr_count[TL_MAX_ATTR]; /* the value of N attributes, the length of list attributes */
  int now;
  tfsdk_graph *graph; /* of the first node among the inputs */
  int any_tensor;
} call;

/* ------------------------------------------------------------------------------------------
 * options */

static int unknown_option(call *c, const char *key) {
  const char *list[2 * TL_MAX_ATTR + 8], *near;
  size_t n = 0;
  for (int i = 0; i < c->op->def->n_in && n < TL_MAX_ATTR; i++) list[n++] = c->op->in[i].name;
  for (int i = 0; i < c->op->def->n_attr; i++) list[n++] = c->op->attr[i].name;
  list[n++] = "name";
  list[n++] = "now";
  near = tl_nearest(key, list, n);
  if (near != NULL)
    return tl_fail(c->L, c->st, c->op_name, "unknown option '%s'; did you mean '%s'?", key, near);
  return tl_fail(c->L, c->st, c->op_name, "unknown option '%s'", key);
}

/* The text on top as a name of nodes: what TensorFlow takes, too. ':' counts outputs, '^' marks what a node only waits for, '/'
 * parts scopes; a file in which a name has them cannot be read back. */
static const char *checked_name(call *c) {
  size_t n;
  const char *name;
  if (lua_type(c->L, -1) != LUA_TSTRING)
    tl_fail(c->L, c->st, c->op_name, "'name' must be a string, not %s",
            tl_type_name(c->L, c->st, -1));
  name = lua_tolstring(c->L, -1, &n);
  for (size_t i = 0; i < n; i++) {
    char x = name[i];
    int plain = (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') ||
                x == '.' || x == '_';
    if (plain || (i > 0 && (x == '-' || x == '>' || x == '\\' || (x == '/' && i + 1 < n))))
      continue;
    tl_fail(c->L, c->st, c->op_name,
            "'name' is '%.60s', which cannot name a node: letters, digits, '.', '_', '-' and "
            "between them '/' can",
            name);
  }
  return n > 0 ? name : NULL;
}

static void read_options(call *c, int options) {
  lua_State *L = c->L;
  lua_pushnil(L);
  while (lua_next(L, options) != 0) {
    int value = lua_gettop(L), i = 0, n = c->op->def->n_attr;
    const char *key;
    if (lua_type(L, -2) != LUA_TSTRING)
      tl_fail(L, c->st, c->op_name, "the table of options has the key [%s]; options have names",
              luaL_tolstring(L, -2, NULL));
    key = lua_tostring(L, -2);
    while (i < n && strcmp(c->op->attr[i].name, key) != 0) i++;
    if (i < n) {
      c->attr_at[i] = value;
      luaL_checkstack(L, 4, NULL);
      lua_pushvalue(L, -2); /* the value stays; lua_next goes on from a copy of the key */
      continue;
    }
    if (strcmp(key, "name") == 0) {
      if (lua_toboolean(L, -1)) c->name = checked_name(c); /* the table holds it */
    } else if (strcmp(key, "now") == 0) {
      c->now = lua_toboolean(L, -1);
    } else {
      int arg = 0;
      while (arg < c->op->def->n_in && strcmp(c->op->in[arg].name, key) != 0) arg++;
      if (arg == c->op->def->n_in) unknown_option(c, key); /* inputs by name were placed before */
    }
    lua_pop(L, 1);
  }
  for (int i = 0; i < c->op->def->n_attr; i++) {
    const tl_attrinfo *a = &c->op->attr[i];
    if (c->attr_at[i] == 0) continue;
    if (a->kind == TFSDK_ATTR_DTYPE)
      c->attr_dtype[i] = tl_check_dtype(L, c->st, c->attr_at[i], c->op_name, a->name);
    else if (a->kind == TFSDK_ATTR_INT && lua_isnumber(L, c->attr_at[i]))
      c->attr_count[i] = tl_check_int(L, c->st, c->attr_at[i], c->op_name, a->name);
    else if (lua_istable(L, c->attr_at[i]))
      c->attr_count[i] = (lua_Integer)lua_rawlen(L, c->attr_at[i]);
  }
}

/* -------------------------------------------------------------------------------------------
 * inputs */

static int st_captures(const tl_state *st) { return st->ref_capture != 0 && !tl_is_eager(st); }

void tl_push_captured(lua_State *L, tl_state *st, int variable, int as_resource) {
  luaL_checkstack(L, 6, NULL);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_capture);
  lua_pushvalue(L, variable);
  lua_pushboolean(L, as_resource);
  lua_call(L, 2, 1);
}

static void classify(call *c, flat_input *f) {
  lua_State *L = c->L;
  const tl_arginfo *arg = &c->op->in[f->arg];
  switch (lua_type(L, f->at)) {
  case LUA_TNONE:
  case LUA_TNIL:
    if (!arg->optional) tl_fail(L, c->st, c->op_name, "argument '%s' is missing", arg->name);
    f->what = ABSENT;
    return;
  case LUA_TBOOLEAN:
    if (arg->optional && !lua_toboolean(L, f->at)) { /* false says "none" */
      f->what = ABSENT;
      return;
    }
    f->what = LITERAL;
    return;
  case LUA_TNUMBER:
  case LUA_TSTRING: f->what = LITERAL; return;
  default: break;
  }
  switch (tl_kind_of(L, c->st, f->at)) {
  case TL_TENSOR:
    f->what = TENSOR;
    f->tensor = ((const tl_tensor *)lua_touserdata(L, f->at))->t;
    if (f->tensor == NULL) (void)tl_check_tensor(L, c->st, f->at); /* says what is wrong */
    f->dtype = tfsdk_tensor_dtype(f->tensor);
    c->any_tensor = 1;
    return;
  case TL_NODE: {
    const tl_node *node = (const tl_node *)lua_touserdata(L, f->at);
    tfsdk_typed_shape t;
    if (c->graph != NULL && c->graph != node->g)
      tl_fail(L, c->st, c->op_name, "argument '%s' is a node of another graph than the ones before",
              arg->name);
    c->graph = node->g;
    tl_type_of(L, c->st, f->at, &t);
    f->what = NODE;
    f->dtype = t.dtype;
    return;
  }
  case TL_VARIABLE: {
    const tl_variable *v = (const tl_variable *)lua_touserdata(L, f->at);
    f->what = VARIABLE;
    f->dtype = arg->dtype == TFSDK_RESOURCE ? TFSDK_RESOURCE : tfsdk_variable_dtype(v->v);
    if (v->g == NULL && st_captures(c->st)) {
      tl_push_captured(L, c->st, f->at, arg->dtype == TFSDK_RESOURCE);
      lua_replace(L, f->at);
      classify(c, f);
    } else if (v->g == NULL) {
      c->any_tensor = 1;
    } else {
      if (c->graph != NULL && c->graph != v->g)
        tl_fail(L, c->st, c->op_name, "variable '%s' belongs to another graph",
                tfsdk_variable_name(v->v));
      c->graph = v->g;
    }
    return;
  }
  case TL_SLICES:
    tl_push_dense(L, c->st, f->at);
    lua_replace(L, f->at);
    classify(c, f);
    return;
  case TL_NONE:
    if (lua_istable(L, f->at)) {
      if (tl_holds_values(L, c->st, f->at)) { /* {batch, -1}: a tensor among numbers */
        int top = lua_gettop(L);
        luaL_checkstack(L, 8, NULL);
        lua_pushvalue(L, f->at);
        tl_invoke(L, c->st, tl_op(L, c->st, TL_OP_PACK), top + 1, 0, NULL);
        lua_replace(L, f->at);
        lua_settop(L, top);
        classify(c, f);
        return;
      }
      f->what = LITERAL;
      return;
    }
    break;
  default: break;
  }
  tl_fail(L, c->st, c->op_name, "argument '%s' cannot be %s", arg->name,
          tl_type_name(L, c->st, f->at));
}

static int is_list(lua_State *L, tl_state *st, int at) {
  return lua_istable(L, at) && tl_kind_of(L, st, at) == TL_NONE;
}

static uint32_t count_inputs(call *c, int first) {
  uint32_t n = 0;
  for (int i = 0; i < c->op->def->n_in; i++) {
    const tl_arginfo *arg = &c->op->in[i];
    lua_Integer members = 1;
    if (arg->form != TL_ONE && is_list(c->L, c->st, first + i))
      members = (lua_Integer)lua_rawlen(c->L, first + i);
    if (arg->form == TL_SAME && arg->count_attr >= 0) c->attr_count[arg->count_attr] = members;
    if (arg->form == TL_LIST && arg->type_attr >= 0) c->attr_count[arg->type_attr] = members;
    n += (uint32_t)members;
  }
  return n;
}

static void spread_inputs(call *c, int first) {
  lua_State *L = c->L;
  uint32_t k = 0;
  for (int i = 0; i < c->op->def->n_in; i++) {
    const tl_arginfo *arg = &c->op->in[i];
    lua_Integer members = 1;
    int spread = arg->form != TL_ONE && is_list(L, c->st, first + i);
    if (spread) members = (lua_Integer)lua_rawlen(L, first + i);
    for (lua_Integer m = 0; m < members; m++) {
      flat_input *f = &c->in[k++];
      f->arg = i;
      f->dtype = 0;
      f->at = first + i;
      if (spread) {
        lua_rawgeti(L, first + i, m + 1);
        f->at = lua_gettop(L);
      }
      classify(c, f);
      if (arg->form != TL_LIST && arg->type_attr >= 0 && f->dtype != 0 &&
          c->attr_dtype[arg->type_attr] == 0)
        c->attr_dtype[arg->type_attr] = f->dtype;
    }
  }
}

/* The dtype that a literal gets. */
static int32_t literal_dtype(call *c, const flat_input *f) {
  const tl_arginfo *arg = &c->op->in[f->arg];
  const tl_attrinfo *a = arg->type_attr >= 0 ? &c->op->attr[arg->type_attr] : NULL;
  int32_t own = tl_literal_dtype(c->L, f->at);
  if (arg->dtype != 0) return arg->dtype;
  if (a == NULL || arg->form == TL_LIST) return own;
  if (c->attr_dtype[arg->type_attr] != 0) return c->attr_dtype[arg->type_attr];
  if (own == 0) own = TFSDK_FLOAT32; /* an empty table */
  if (own == TFSDK_FLOAT32) {
    if (a->dtype_default != 0)
      own = a->dtype_default;
    else if (a->dtypes != 0 && (a->dtypes >> own & 1u) == 0)
      own = (a->dtypes >> TFSDK_INT32 & 1u) != 0   ? TFSDK_INT32
            : (a->dtypes >> TFSDK_INT64 & 1u) != 0 ? TFSDK_INT64
                                                   : own;
  }
  c->attr_dtype[arg->type_attr] = own;
  return own;
}

/* Pushes the tensor of a number that was met lately. Only for ops that compute with it: a tensor
 * that is handed through to the script must be its own. */
static int push_cached_scalar(call *c, const flat_input *f, int32_t dtype) {
  lua_State *L = c->L;
  tl_state *st = c->st;
  tl_scalar key;
  uint64_t bits;
  uint32_t slot;
  if (lua_type(L, f->at) != LUA_TNUMBER || (c->op->def->flags & TFSDK_OP_ELEMENTWISE) == 0 ||
      c->n_in != 2)
    return 0;
  key.dtype = dtype;
  key.number = lua_tonumber(L, f->at);
  if (lua_isinteger(L, f->at) &&
      (key.number > 9007199254740992.0 || key.number < -9007199254740992.0))
    return 0;
  memcpy(&bits, &key.number, sizeof bits);
  slot = (uint32_t)((bits ^ (uint64_t)dtype << 7) * 0x9E3779B97F4A7C15u >> 58);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_scalars);
  if (st->scalars[slot].dtype == dtype &&
      memcmp(&st->scalars[slot].number, &key.number, sizeof key.number) == 0) {
    lua_rawgeti(L, -1, (lua_Integer)slot + 1);
    lua_remove(L, -2);
    return 1;
  }
  st->scalars[slot].dtype = 0; /* in case the conversion raises */
  tl_push_literal(L, st, f->at, dtype, c->op_name, c->op->in[f->arg].name);
  lua_pushvalue(L, -1);
  lua_rawseti(L, -3, (lua_Integer)slot + 1);
  lua_remove(L, -2);
  st->scalars[slot] = key;
  return 1;
}

static void convert_literals(call *c) {
  for (uint32_t i = 0; i < c->n_in; i++) {
    flat_input *f = &c->in[i];
    int32_t dtype;
    if (f->what != LITERAL) continue;
    dtype = literal_dtype(c, f);
    if (!push_cached_scalar(c, f, dtype))
      tl_push_literal(c->L, c->st, f->at, dtype, c->op_name, c->op->in[f->arg].name);
    f->at = lua_gettop(c->L);
    f->tensor = tl_check_tensor(c->L, c->st, f->at);
    f->what = TENSOR;
  }
}

/* -----------------------------------------------------------------------------------------
 * attributes */

static uint32_t read_attrs(call *c, tfsdk_attrval *out) {
  uint32_t n = 0;
  for (int i = 0; i < c->op->def->n_attr; i++) {
    if (c->attr_at[i] != 0) {
      luaL_checkstack(c->L, 6, NULL);
      tl_read_attr(c->L, c->st, c->op_name, &c->op->attr[i], c->attr_at[i], &out[n++]);
    } else if (!c->op->attr[i].implied && c->op->def->attr[i].dflt == NULL) {
      tl_fail(c->L, c->st, c->op_name, "option '%s' (%s) is missing", c->op->attr[i].name,
              c->op->attr[i].type);
    }
  }
  return n;
}

/* Members of output i. */
static uint32_t members(const call *c, int i) {
  const tl_arginfo *o = &c->op->out[i];
  int a = o->form == TL_SAME ? o->count_attr : o->form == TL_LIST ? o->type_attr : -1;
  const char *dflt;
  if (o->form == TL_ONE || a < 0) return 1;
  if (c->attr_count[a] != 0 || c->attr_at[a] != 0 || c->op->attr[a].implied) {
    int64_t n = c->attr_count[a]; /* what makes no sense is refused by the core, by name */
    return n < 0 || n > 65536 ? 0 : (uint32_t)n;
  }
  dflt = c->op->def->attr[a].dflt;
  if (dflt != NULL && o->form == TL_SAME) return (uint32_t)strtoul(dflt, NULL, 10);
  if (dflt != NULL) { /* "[float32,int32]" */
    uint32_t n = strlen(dflt) > 2;
    for (const char *p = dflt; *p != 0; p++) n += *p == ',';
    return n;
  }
  return 0;
}

/* ----------------------------------------------------------------------------------------------
 * eager */

static tfsdk_tensor *variable_tensor(call *c, const flat_input *f) {
  tl_variable *v = (tl_variable *)lua_touserdata(c->L, f->at);
  tl_tensor *box;
  tfsdk_val value;
  size_t mark;
  if (c->op->in[f->arg].dtype == TFSDK_RESOURCE)
    return tfsdk_eager_tensor(tfsdk_variable_handle(v->v));
  box = tl_push_box(c->L, c->st);
  mark = tfsdk_eager_mark(c->st->rt);
  tl_check_op(c->L, c->st, tfsdk_variable_value(v->v, tfsdk_eager_ctx(c->st->rt), &value),
              c->op_name);
  box->t = tfsdk_tensor_retain(tfsdk_eager_tensor(value));
  tfsdk_eager_release_vals(c->st->rt, mark);
  return box->t;
}

static int run_eager(call *c) {
  lua_State *L = c->L;
  tfsdk_tensor *local_in[TL_MAX_FLAT], **in = local_in;
  tfsdk_tensor *local_out[TL_MAX_FLAT], **out = local_out;
  tfsdk_attrval attr[TL_MAX_ATTR];
  uint32_t n_attr = read_attrs(c, attr), k = 0;
  int first_box, results = 0;
  luaL_checkstack(L, (int)(c->n_in + 2 * c->n_out) + 12, c->op_name);
  if (c->n_in > TL_MAX_FLAT) in = (tfsdk_tensor **)lua_newuserdatauv(L, c->n_in * sizeof *in, 0);
  if (c->n_out > TL_MAX_FLAT)
    out = (tfsdk_tensor **)lua_newuserdatauv(L, c->n_out * sizeof *out, 0);
  tl_runtime(L, c->st);
  for (uint32_t i = 0; i < c->n_in; i++) {
    const flat_input *f = &c->in[i];
    in[i] = f->what == ABSENT ? NULL : f->what == VARIABLE ? variable_tensor(c, f) : f->tensor;
  }
  first_box = lua_gettop(L) + 1;
  for (uint32_t i = 0; i < c->n_out; i++) {
    tl_push_box(L, c->st);
    out[i] = NULL;
  }
  tl_check_op(L, c->st,
              tfsdk_eager_run(c->st->rt, c->op_name, in, c->n_in, attr, n_attr, out, c->n_out),
              c->op_name);
  for (uint32_t i = 0; i < c->n_out; i++)
    ((tl_tensor *)lua_touserdata(L, first_box + (int)i))->t = out[i];
  for (uint32_t i = 0; i < c->n_out; i++)
    tl_fill_box(L, c->st, (tl_tensor *)lua_touserdata(L, first_box + (int)i), out[i]);
  for (int o = 0; o < c->op->def->n_out; o++) {
    uint32_t n = members(c, o);
    results++;
    if (c->op->out[o].form == TL_ONE) {
      lua_pushvalue(L, first_box + (int)k++);
      continue;
    }
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
      lua_pushvalue(L, first_box + (int)k++);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
  }
  if (results == 0) {
    lua_pushboolean(L, 1);
    results = 1;
  }
  return results;
}

/* ----------------------------------------------------------------------------------------------
 * graph */

void tl_mark_where(lua_State *L, tfsdk_graph *g) {
  char where[512];
  tl_where(L, where, sizeof where);
  tfsdk_graph_set_where(g, where);
}

tfsdk_val tl_emit_const(lua_State *L, tl_state *st, tfsdk_graph *g, const tfsdk_tensor *t) {
  tfsdk_ctx *ctx = tfsdk_graph_ctx(g);
  tfsdk_attrval attr[2];
  tfsdk_val out = tfsdk_none();
  attr[0] = tfsdk_a_tensor("value", t);
  attr[1] = tfsdk_a_dtype("dtype", tfsdk_tensor_dtype(t));
  tl_check_op(L, st, ctx->api->emit(ctx, "Const", NULL, 0, attr, 2, &out, 1), "Const");
  return out;
}

static tfsdk_val graph_value(call *c, const flat_input *f) {
  lua_State *L = c->L;
  tfsdk_val out = tfsdk_none();
  if (f->what == NODE) return ((tl_node *)lua_touserdata(L, f->at))->v;
  if (f->what == ABSENT) return out;
  if (f->what == VARIABLE) {
    tl_variable *v = (tl_variable *)lua_touserdata(L, f->at);
    if (v->g == NULL)
      tl_fail(L, c->st, c->op_name,
              "variable '%s' was made in define-by-run mode and cannot be part of a graph",
              tfsdk_variable_name(v->v));
    if (c->op->in[f->arg].dtype == TFSDK_RESOURCE) return tfsdk_variable_handle(v->v);
    tl_check_op(L, c->st, tfsdk_variable_value(v->v, tfsdk_graph_ctx(c->graph), &out), c->op_name);
    return out;
  }
  return tl_emit_const(L, c->st, c->graph, tl_check_tensor(L, c->st, f->at));
}

static int add_node(call *c) {
  lua_State *L = c->L;
  tfsdk_val local_in[TL_MAX_FLAT], *in = local_in;
  tfsdk_val local_out[TL_MAX_FLAT], *out = local_out;
  tfsdk_attrval attr[TL_MAX_ATTR];
  tfsdk_ctx *ctx;
  uint32_t n_attr = read_attrs(c, attr), k = 0;
  int results = 0;
  luaL_checkstack(L, (int)c->n_out + 12, c->op_name);
  if (c->n_in > TL_MAX_FLAT) in = (tfsdk_val *)lua_newuserdatauv(L, c->n_in * sizeof *in, 0);
  if (c->n_out > TL_MAX_FLAT) out = (tfsdk_val *)lua_newuserdatauv(L, c->n_out * sizeof *out, 0);
  memset(out, 0, c->n_out * sizeof *out);
  ctx = tfsdk_graph_ctx(c->graph);
  tl_mark_where(L, c->graph);
  for (uint32_t i = 0; i < c->n_in; i++) in[i] = graph_value(c, &c->in[i]);
  tfsdk_graph_set_name(c->graph, c->name);
  tl_check_op(L, c->st, ctx->api->emit(ctx, c->op_name, in, c->n_in, attr, n_attr, out, c->n_out),
              c->op_name);
  for (int o = 0; o < c->op->def->n_out; o++) {
    uint32_t n = members(c, o);
    results++;
    if (c->op->out[o].form == TL_ONE) {
      tl_push_node(L, c->st, c->graph, out[k++]);
      continue;
    }
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
      tl_push_node(L, c->st, c->graph, out[k++]);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
  }
  if (results == 0) {
    tl_push_operation(L, c->st, c->graph, tfsdk_graph_node_count(c->graph) - 1);
    results = 1;
  }
  return results;
}

/* ------------------------------------------------------------------------------------------- the
 * call */

int tl_invoke(lua_State *L, tl_state *st, const tl_opinfo *op, int first, int options,
              const char *name) {
  call c;
  flat_input local[TL_MAX_FLAT];
  c.L = L;
  c.st = st;
  c.op = op;
  c.op_name = op->def->name;
  c.name = name;
  c.now = st->now > 0;
  c.graph = NULL;
  c.any_tensor = 0;
  memset(c.attr_at, 0, (size_t)op->def->n_attr * sizeof c.attr_at[0]);
  memset(c.attr_dtype, 0, (size_t)op->def->n_attr * sizeof c.attr_dtype[0]);
  memset(c.attr_count, 0, (size_t)op->def->n_attr * sizeof c.attr_count[0]);
  luaL_checkstack(L, 2 * op->def->n_attr + 20, c.op_name);
  if (options != 0) read_options(&c, options);
  c.in = local;
  c.n_in = count_inputs(&c, first);
  if (c.n_in > TL_MAX_FLAT) c.in = (flat_input *)lua_newuserdatauv(L, c.n_in * sizeof *c.in, 0);
  luaL_checkstack(L, (int)(2 * c.n_in) + 12, c.op_name);
  spread_inputs(&c, first);
  convert_literals(&c);
  c.n_out = 0;
  for (int o = 0; o < op->def->n_out; o++) c.n_out += members(&c, o);
  if (c.graph != NULL) return add_node(&c);
  if (c.any_tensor || c.now || st->eager) return run_eager(&c);
  c.graph = tl_current_graph(L, st);
  return add_node(&c);
}

int tl_is_options(lua_State *L, int index) {
  int yes;
  if (lua_type(L, index) != LUA_TTABLE) return 0;
  if (lua_getmetatable(L, index)) {
    lua_pop(L, 1);
    return 0;
  }
  lua_pushnil(L);
  if (lua_next(L, index) == 0) return 0;
  yes = lua_type(L, -2) == LUA_TSTRING;
  lua_pop(L, 2);
  return yes;
}

static int raw_call(lua_State *L) {
  tl_state *st = tl_get(L);
  const tl_opinfo *op = (const tl_opinfo *)lua_touserdata(L, lua_upvalueindex(2));
  const char *name = NULL;
  int n_in = op->def->n_in, n = lua_gettop(L), options = 0, base;
  if (n > 0 && (tl_is_options(L, n) || (n == n_in + 1 && lua_istable(L, n))))
    options = n--;
  else if (n == n_in + 1 && lua_type(L, n) == LUA_TSTRING)
    name = lua_tostring(L, n--);
  if (n > n_in)
    return tl_fail(L, st, op->def->name, "takes %d inputs and a table of options; got %d values",
                   n_in, n);
  base = lua_gettop(L) + 1;
  luaL_checkstack(L, n_in + 8, op->def->name);
  for (int i = 0; i < n_in; i++) {
    if (i < n) {
      lua_pushvalue(L, i + 1);
    } else if (options != 0) {
      lua_pushstring(L, op->in[i].name);
      lua_rawget(L, options);
    } else {
      lua_pushnil(L);
    }
  }
  return tl_invoke(L, st, op, base, options, name);
}

static void push_raw(lua_State *L, tl_state *st, const char *name) {
  tl_op_find(L, st, name);
  lua_pushlightuserdata(L, st);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_ops);
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
  lua_pushcclosure(L, raw_call, 2);
}

static int raw_index(lua_State *L) {
  tl_state *st = tl_get(L);
  if (lua_type(L, 2) != LUA_TSTRING) {
    lua_pushnil(L);
    return 1;
  }
  push_raw(L, st, lua_tostring(L, 2));
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  lua_rawset(L, 1);
  return 1;
}

/* tf.acme.Square for the op "acme.Square". */
static int family_index(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_pushfstring(L, "%s.%s", lua_tostring(L, lua_upvalueindex(2)), luaL_checkstring(L, 2));
  push_raw(L, st, lua_tostring(L, -1));
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  lua_rawset(L, 1);
  return 1;
}

int tl_push_raw_or_family(lua_State *L, tl_state *st, const char *key) {
  const tfsdk_opdef *def;
  tfsdk_status *s;
  if (!tfsdk_op_known(tl_runtime(L, st), key)) return 0;
  s = tfsdk_op_find(st->rt, key, &def);
  if (s == NULL) {
    push_raw(L, st, key);
    return 1;
  }
  tfsdk_status_release(s);
  lua_newtable(L);
  lua_newtable(L);
  lua_pushlightuserdata(L, st);
  lua_pushstring(L, key);
  lua_pushcclosure(L, family_index, 2);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_tf);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, key);
  lua_pop(L, 1);
  return 1;
}

static int each_name(void *user, const char *name) {
  lua_State *L = (lua_State *)user;
  lua_pushstring(L, name);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  return 0;
}

static int op_names(lua_State *L) {
  tl_state *st = tl_get(L);
  tfsdk_runtime *rt = tl_runtime(L, st);
  lua_newtable(L);
  tfsdk_op_each(rt, each_name, L);
  return 1;
}

static int op_known(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_pushboolean(L, tfsdk_op_known(tl_runtime(L, st), luaL_checkstring(L, 1)));
  return 1;
}

/* private.op(name): names of inputs, outputs and attributes of a record. */
static int op_record(lua_State *L) {
  tl_state *st = tl_get(L);
  const tfsdk_opdef *d = tl_op_find(L, st, luaL_checkstring(L, 1))->def;
  lua_newtable(L);
  lua_createtable(L, d->n_in, 0);
  for (int i = 0; i < d->n_in; i++) {
    lua_pushstring(L, d->in[i].name);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "inputs");
  lua_createtable(L, d->n_out, 0);
  for (int i = 0; i < d->n_out; i++) {
    lua_pushstring(L, d->out[i].name);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "outputs");
  lua_createtable(L, 0, d->n_attr);
  for (int i = 0; i < d->n_attr; i++) {
    lua_pushstring(L, d->attr[i].type);
    lua_setfield(L, -2, d->attr[i].name);
  }
  lua_setfield(L, -2, "attrs");
  lua_createtable(L, d->n_in, 0);
  for (int i = 0; i < d->n_in; i++) {
    lua_pushstring(L, d->in[i].type);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "input_types");
  lua_pushboolean(L, d->grad != NULL);
  lua_setfield(L, -2, "has_gradient");
  lua_pushboolean(L, (d->flags & (TFSDK_OP_STATEFUL | TFSDK_OP_EFFECT)) != 0 &&
                         (d->flags & TFSDK_OP_RANDOM) == 0);
  lua_setfield(L, -2, "has_effect");
  return 1;
}

/* private.capturing(fn or nil): sets what stands in for define-by-run variables; returns the old
 * one. */
static int capturing(lua_State *L) {
  tl_state *st = tl_get(L);
  lua_settop(L, 1);
  if (st->ref_capture != 0) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_capture);
    luaL_unref(L, LUA_REGISTRYINDEX, st->ref_capture);
    st->ref_capture = 0;
  } else {
    lua_pushnil(L);
  }
  if (lua_isfunction(L, 1)) {
    lua_pushvalue(L, 1);
    st->ref_capture = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  return 1;
}

static int is_recording(lua_State *L) {
  lua_pushboolean(L, tl_get(L)->recording > 0);
  return 1;
}

void tl_open_ops(lua_State *L, tl_state *st) {
  static const luaL_Reg meta[] = {{"__index", raw_index}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"op_names", op_names},      {"op_known", op_known},
                                       {"op", op_record},           {"capturing", capturing},
                                       {"recording", is_recording}, {NULL, NULL}};
  lua_newtable(L);
  lua_newtable(L);
  tl_setfuncs(L, st, meta);
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  st->ref_raw = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_tf);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, "raw");
  lua_pop(L, 2);
  tl_add_private(L, st, functions);
}
