/* Variables of both modes, and the rules of sharing them by name.
 *
 * In a graph a variable is three nodes: NAME (the handle), NAME/Assign (its initializer) and
 * NAME/Read; its value lives in each session. In eager mode it owns a cell. */
#include "internal.h"

static tfsdk_status *initial_value(tfsdk_ctx *c, const tfsdk_varspec *spec, const char *name,
                                   tfsdk_val *out) {
  tfsdk_val in[1];
  tfsdk_attrval attr[16];
  uint32_t n = 0;
  if (spec->init.id != 0) {
    tfsdk_typed_shape t;
    TFSDK_TRY(c->api->type(c, spec->init, &t));
    bool fits = t.shape.rank < 0 || spec->shape.rank < 0 || t.shape.rank == spec->shape.rank;
    for (int32_t i = 0; fits && t.shape.rank >= 0 && spec->shape.rank >= 0 && i < t.shape.rank; i++)
      fits = t.shape.dim[i] < 0 || spec->shape.dim[i] < 0 || t.shape.dim[i] == spec->shape.dim[i];
    if (t.dtype != spec->dtype || !fits)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                                "variable '%s' is %s %s, its initial value %s %s", name,
                                tfsdk_dtype_name(spec->dtype), tfsdk_shape_text(&spec->shape).s,
                                tfsdk_dtype_name(t.dtype), tfsdk_shape_text(&t.shape).s);
    *out = spec->init;
    return NULL;
  }
  if (!tfsdk_shape_whole(&spec->shape))
    return tfsdk__status_make(
        TFSDK_INVALID_ARGUMENT,
        "variable '%s' of shape %s needs an initial value: its initializer needs a whole shape",
        name, tfsdk_shape_text(&spec->shape).s);
  in[0] = tfsdk_int_vector(c, spec->shape.dim, (uint32_t)spec->shape.rank);
  if (spec->initializer != NULL) {
    for (; n < spec->n_init_attrs && n < 15; n++) attr[n] = spec->init_attrs[n];
    *out = tfsdk_emit(c, spec->initializer, in, 1, attr, n);
  } else if (tfsdk_dtype_kind(spec->dtype) != 'f') {
    *out = tfsdk_emit2(c, "Fill", in[0], tfsdk_scalar(c, spec->dtype, 0));
  } else { /* Glorot and Bengio 2010: uniform in +-sqrt(6 / (fan_in + fan_out)) */
    int64_t field = 1, fan_in = 1, fan_out = 1;
    int32_t r = spec->shape.rank;
    for (int32_t i = 0; i + 2 < r; i++) field *= spec->shape.dim[i];
    if (r == 1) fan_in = fan_out = spec->shape.dim[0];
    if (r >= 2) {
      fan_in = spec->shape.dim[r - 2] * field;
      fan_out = spec->shape.dim[r - 1] * field;
    }
    double limit = __builtin_sqrt(6.0 / (double)(fan_in + fan_out > 0 ? fan_in + fan_out : 1));
    attr[0] = tfsdk_a_dtype("dtype", spec->dtype);
    tfsdk_val u = tfsdk_emit(c, "RandomUniform", in, 1, attr, 1);
    tfsdk_val scaled = tfsdk_emit2(c, "Mul", u, tfsdk_scalar(c, spec->dtype, 2 * limit));
    *out = tfsdk_emit2(c, "Sub", scaled, tfsdk_scalar(c, spec->dtype, limit));
  }
  return tfsdk__context_take_error(c);
}

static tfsdk_status *create_in_graph(tfsdk_graph *g, tfsdk_variable *v, const char *node_name,
                                     const tfsdk_varspec *spec) {
  tfsdk_ctx *c = &g->ctx.base;
  tfsdk_attrval attr[4];
  char shared[560], scope[600];
  tfsdk_val in[2];
  if (spec->init.id == 0) {
    snprintf(scope, sizeof scope, "%s/Initializer/", node_name);
    TFSDK_TRY(tfsdk_ctx_push_name_scope(c, scope));
    tfsdk_status *s = initial_value(c, spec, v->name, &v->initial);
    tfsdk_ctx_pop_name_scope(c);
    if (s != NULL) return s;
  } else {
    TFSDK_TRY(initial_value(c, spec, v->name, &v->initial));
  }
  TFSDK_TRY(tfsdk_ctx_push_name_scope(c, "")); /* variable names are absolute */
  tfsdk_graph_set_name(g, node_name);
  snprintf(shared, sizeof shared, "%s", v->name);
  attr[0] = tfsdk_a_string("shared_name", shared);
  attr[1] = tfsdk_a_dtype("dtype", v->dtype);
  attr[2] = tfsdk_a_shape("shape", v->shape.dim,
                          v->shape.rank < 0 ? TFSDK_UNKNOWN_RANK : (uint32_t)v->shape.rank);
  tfsdk_status *s = c->api->emit(c, TFSDK__OP_VAR_HANDLE, NULL, 0, attr, 3, &v->handle, 1);
  if (s == NULL) {
    snprintf(scope, sizeof scope, "%s/Assign", node_name);
    tfsdk_graph_set_name(g, scope);
    in[0] = v->handle;
    in[1] = v->initial;
    s = c->api->emit(c, TFSDK__OP_VAR_ASSIGN, in, 2, NULL, 0, &v->assign, 1);
  }
  if (s == NULL) {
    snprintf(scope, sizeof scope, "%s/Read", node_name);
    tfsdk_graph_set_name(g, scope);
    attr[0] = tfsdk_a_dtype("dtype", v->dtype);
    s = c->api->emit(c, TFSDK__OP_VAR_READ, &v->handle, 1, attr, 1, &v->read, 1);
  }
  tfsdk_ctx_pop_name_scope(c);
  return s;
}

static tfsdk_status *create_eager(tfsdk_ctx *c, tfsdk_variable *v, const tfsdk_varspec *spec) {
  tfsdk_runtime *rt = v->rt;
  tfsdk_val init;
  tfsdk__device *d;
  tfsdk_tensor *value = NULL;
  size_t mark = tfsdk_eager_mark(rt);
  tfsdk_status *s = initial_value(c, spec, v->name, &init);
  if (s == NULL) s = tfsdk__eager_device(rt, &d);
  if (s == NULL)
    s = tfsdk__tensor_on(tfsdk_eager_tensor(init), d, &value); /* it lives where it was made */
  if (s == NULL) s = tfsdk__cell_create(rt, v->name, v->dtype, &v->shape, &v->cell);
  if (s == NULL) {
    v->cell->trainable = v->trainable;
    s = tfsdk__cell_assign(v->cell, value);
  }
  tfsdk_tensor_release(value);
  if (s == NULL) s = tfsdk__tensor_resource(v->cell, &v->resource);
  tfsdk_eager_release_vals(rt, mark);
  return s;
}

/* `name` is the whole path. The context holds graph variables and those that are shared by name;
 * others live as long as somebody has them. In a graph the variables' nodes take a name that is
 * free. */
static tfsdk_status *create(tfsdk_ctx *c, const char *name, const tfsdk_varspec *spec, bool shared,
                            tfsdk_variable **out) {
  tfsdk__context *x = tfsdk__context_of(c);
  tfsdk_runtime *rt = x->rt;
  bool eager = x->kind == TFSDK__CTX_EAGER;
  if (!TFSDK__GROW(rt, &x->variables, 1)) return TFSDK__NOMEM(rt);
  tfsdk_variable *v = tfsdk__zalloc(rt, sizeof *v);
  if (v == NULL) return TFSDK__NOMEM(rt);
  const char *unique = name;
  if (!eager) { /* absolute: no name scope in front */
    tfsdk_status *s = tfsdk_ctx_push_name_scope(c, "");
    char free_name[512];
    if (s == NULL) {
      s = tfsdk_graph_unique_name(tfsdk__graph_of(c), name, free_name, sizeof free_name);
      tfsdk_ctx_pop_name_scope(c);
    }
    if (s != NULL) {
      tfsdk__free(rt, v);
      return s;
    }
    v->name = tfsdk__strdup(rt, free_name);
    if (tfsdk__graph_of(c)->where != NULL) v->where = tfsdk__strdup(rt, tfsdk__graph_of(c)->where);
    unique = v->name;
  } else {
    unique = tfsdk__map_get(&x->variable_by_name, name) ? NULL : name;
    char numbered[512];
    while (unique == NULL) {
      size_t i = tfsdk__scopes_next_number(rt, &x->scopes, name);
      snprintf(numbered, sizeof numbered, "%s_%zu", name, i);
      if (i == 0 || tfsdk__map_get(&x->variable_by_name, numbered) == NULL) unique = numbered;
    }
    v->name = tfsdk__strdup(rt, unique);
  }
  atomic_init(&v->refs, 1);
  v->rt = rt;
  v->ctx = c;
  v->dtype = spec->dtype;
  v->shape = spec->shape;
  v->trainable = !spec->not_trainable && tfsdk_dtype_kind(spec->dtype) == 'f';
  v->eager = eager;
  tfsdk_status *s = v->name == NULL ? TFSDK__NOMEM(rt)
                    : eager         ? create_eager(c, v, spec)
                                    : create_in_graph(tfsdk__graph_of(c), v, v->name, spec);
  if (s == NULL && !tfsdk__map_put(rt, &x->variable_by_name, v->name, v)) s = TFSDK__NOMEM(rt);
  if (s != NULL) {
    tfsdk__status_prefix(s, "variable '%s'", name);
    tfsdk_variable_release(v);
    return s;
  }
  x->variables.data[x->variables.n++] = v;
  if (!eager || shared) v->kept = true;
  if (v->kept) tfsdk_variable_retain(v);
  *out = v;
  return NULL;
}

/* An eager variable that nobody but the context's list knows leaves it. */
static void forget(tfsdk_variable *v) {
  tfsdk__context *x = tfsdk__context_of(v->ctx);
  for (size_t i = x->variables.n; i-- > 0;)
    if (x->variables.data[i] == v) {
      memmove(&x->variables.data[i], &x->variables.data[i + 1],
              (x->variables.n - i - 1) * sizeof *x->variables.data);
      x->variables.n--;
      break;
    }
  if (tfsdk__map_get(&x->variable_by_name, v->name) == v)
    tfsdk__map_remove(&x->variable_by_name, v->name);
}

tfsdk_status *tfsdk_variable_create(tfsdk_ctx *c, const char *name, const tfsdk_varspec *spec,
                                    tfsdk_variable **out) {
  const char *scope = tfsdk_ctx_name_scope(c);
  char path[512];
  *out = NULL;
  if (snprintf(path, sizeof path, "%s%s", scope, name) >= (int)sizeof path)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "the variable name '%s' is too long", name);
  return create(c, path, spec, false, out);
}

static tfsdk_status *check_shared(const tfsdk_variable *v, const tfsdk_varspec *spec) {
  if (v->dtype != spec->dtype)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "variable '%s' is asked for as %s, but it is %s", v->name,
                              tfsdk_dtype_name(spec->dtype), tfsdk_dtype_name(v->dtype));
  if (spec->shape.rank >= 0 && !tfsdk_same_shape(&v->shape, &spec->shape))
    return tfsdk__status_make(
        TFSDK_INVALID_ARGUMENT, "variable '%s' is asked for with shape %s, but it has %s%s%s",
        v->name, tfsdk_shape_text(&spec->shape).s, tfsdk_shape_text(&v->shape).s,
        v->where ? ", made at " : "", v->where ? v->where : "");
  return NULL;
}

tfsdk_status *tfsdk_variable_get(tfsdk_ctx *c, const char *name, const tfsdk_varspec *spec,
                                 int32_t *created, tfsdk_variable **out) {
  tfsdk__context *x = tfsdk__context_of(c);
  const char *scope = tfsdk_ctx_variable_scope(c);
  int32_t reuse = tfsdk_ctx_reuse(c);
  char path[512];
  *out = NULL;
  if (snprintf(path, sizeof path, "%s%s%s", scope, *scope ? "/" : "", name) >= (int)sizeof path)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "the variable name '%s' is too long", name);
  tfsdk_variable *v = tfsdk__map_get(&x->variable_by_name, path);
  if (created != NULL) *created = 0;
  if (v != NULL && reuse == TFSDK_REUSE_NEW)
    return tfsdk__status_make(TFSDK_ALREADY_EXISTS,
                              "variable '%s' exists already%s%s; say reuse = true or \"auto\" in "
                              "its variable_scope to share it",
                              path, v->where ? ", first made at " : "", v->where ? v->where : "");
  if (v == NULL && reuse == TFSDK_REUSE_ONLY)
    return tfsdk__status_make(
        TFSDK_NOT_FOUND, "variable '%s' does not exist, and its variable_scope says reuse = true",
        path);
  if (v != NULL) {
    TFSDK_TRY(check_shared(v, spec));
    *out = v;
    return NULL;
  }
  TFSDK_TRY(create(c, path, spec, true, &v));
  tfsdk_variable_release(v); /* the context holds it */
  if (created != NULL) *created = 1;
  *out = v;
  return NULL;
}

tfsdk_variable *tfsdk_variable_retain(tfsdk_variable *v) {
  atomic_fetch_add(&v->refs, 1);
  return v;
}

void tfsdk_variable_release(tfsdk_variable *v) {
  if (v == NULL || atomic_fetch_sub(&v->refs, 1) != 1) return;
  tfsdk_runtime *rt = v->rt;
  tfsdk_tensor *resource = v->resource;
  tfsdk__cell *cell = v->cell;
  if (v->eager && v->name != NULL) forget(v);
  tfsdk__free(rt, v->name);
  tfsdk__free(rt, v->where);
  tfsdk__free(rt, v);
  tfsdk__cell_release(cell);
  tfsdk_tensor_release(resource); /* may hold the runtime's last reference */
}

const char *tfsdk_variable_name(const tfsdk_variable *v) { return v->name; }
int32_t tfsdk_variable_dtype(const tfsdk_variable *v) { return v->dtype; }
const tfsdk_shape *tfsdk_variable_shape(const tfsdk_variable *v) { return &v->shape; }
int32_t tfsdk_variable_trainable(const tfsdk_variable *v) { return v->trainable; }
int32_t tfsdk_variable_is_eager(const tfsdk_variable *v) { return v->eager; }
tfsdk_val tfsdk_variable_handle(tfsdk_variable *v) {
  return v->eager ? tfsdk_eager_val(v->resource) : v->handle;
}
tfsdk_val tfsdk_variable_initial(tfsdk_variable *v) { return v->initial; }
tfsdk_val tfsdk_variable_initializer(tfsdk_variable *v) { return v->assign; }

tfsdk_status *tfsdk_variable_value(tfsdk_variable *v, tfsdk_ctx *c, tfsdk_val *out) {
  if (!v->eager) {
    *out = v->read;
    return NULL;
  }
  tfsdk_attrval dtype = tfsdk_a_dtype("dtype", v->dtype);
  tfsdk_val handle = tfsdk_eager_val(v->resource);
  return c->api->emit(c, TFSDK__OP_VAR_READ, &handle, 1, &dtype, 1, out, 1);
}

static tfsdk_status *eager_only(const tfsdk_variable *v) {
  return v->eager
             ? NULL
             : tfsdk__status_make(TFSDK_FAILED_PRECONDITION,
                                  "variable '%s' belongs to a graph: its value lives in sessions",
                                  v->name);
}

tfsdk_status *tfsdk_variable_read(tfsdk_variable *v, tfsdk_tensor **out) {
  *out = NULL;
  TFSDK_TRY(eager_only(v));
  return tfsdk__cell_read(v->cell, out);
}

tfsdk_status *tfsdk_variable_assign(tfsdk_variable *v, tfsdk_tensor *t) {
  TFSDK_TRY(eager_only(v));
  return tfsdk__cell_assign(v->cell, t);
}

void tfsdk_variable_each(tfsdk_ctx *c, int (*fn)(void *user, tfsdk_variable *v), void *user) {
  tfsdk__context *x = tfsdk__context_of(c);
  for (size_t i = 0; i < x->variables.n; i++)
    if (fn(user, x->variables.data[i])) break;
}
