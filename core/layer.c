/* Layers: their records, building them in a context, and what they put into buckets.
 *
 * A layer that is being built reaches its builder through the context: weights and effects go to
 * the options of the innermost tfsdk_layer_build, and a layer within a layer has those of the outer
 * one. */
#include "internal.h"

/* --------------------------------------------------------------------------------- records */

void tfsdk__layer_release(tfsdk_runtime *rt, tfsdk__layer *l) {
  if (l == NULL) return;
  for (uint32_t i = 0; l->param != NULL && i < l->def.n_param; i++)
    tfsdk__attrtype_release(rt, &l->param[i]);
  tfsdk__free(rt, l->param);
  tfsdk__free(rt, (void *)(uintptr_t)l->def.param);
  tfsdk__free(rt, (void *)(uintptr_t)l->def.in);
  tfsdk__free(rt, (void *)(uintptr_t)l->def.out);
  tfsdk__free(rt, (void *)(uintptr_t)l->def.weight);
  tfsdk__free(rt, l);
}

static bool is_type(const char *type, const char *const *allowed) {
  while (type != NULL && *allowed != NULL)
    if (strcmp(type, *allowed++) == 0) return true;
  return false;
}

static tfsdk_status *check_args(const tfsdk_arg *args, uint32_t n, const char *what,
                                const char *const *types) {
  for (uint32_t i = 0; i < n; i++) {
    if (args[i].name == NULL || !is_type(args[i].type, types))
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "%s '%s' cannot be of type '%s'", what,
                                args[i].name ? args[i].name : "", args[i].type ? args[i].type : "");
    for (uint32_t j = 0; j < i; j++)
      if (strcmp(args[i].name, args[j].name) == 0)
        return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "%s '%s' is defined twice", what,
                                  args[i].name);
    if (args[i].type[strlen(args[i].type) - 1] == '*' && i + 1 < n)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "%s '%s' is a list, and not the last one",
                                what, args[i].name);
  }
  return NULL;
}

static tfsdk_status *check_record(tfsdk_runtime *rt, tfsdk__layer *l) {
  static const char *const inputs[] = {"tensor", "tensor?", "tensor*", NULL};
  static const char *const outputs[] = {"tensor", NULL};
  static const char *const weights[] = {"trained", "state", NULL};
  const tfsdk_layerdef *d = &l->def;
  TFSDK_TRY(check_args(d->in, d->n_in, "input", inputs));
  TFSDK_TRY(check_args(d->out, d->n_out, "output", outputs));
  TFSDK_TRY(check_args(d->weight, d->n_weight, "weight", weights));
  for (uint32_t i = 0; i < d->n_param; i++) {
    TFSDK_TRY(tfsdk__attrtype_parse(rt, &d->param[i], &l->param[i]));
    for (uint32_t j = 0; j < i; j++)
      if (strcmp(d->param[i].name, d->param[j].name) == 0)
        return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "parameter '%s' is defined twice",
                                  d->param[i].name);
  }
  return NULL;
}

static tfsdk_status *make_layer(tfsdk__txn *t, const tfsdk_layerdef *def, tfsdk__layer **out) {
  tfsdk_runtime *rt = t->plugin->rt;
  if (!tfsdk__registry_name_ok(def->name) || def->build == NULL)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "a layer record lacks its name or build");
  const tfsdk__layer *old = tfsdk__map_get(&rt->layers, def->name);
  if (old != NULL) return tfsdk__registry_taken("layer", def->name, old->plugin, t->plugin);
  tfsdk__layer *l = tfsdk__zalloc(rt, sizeof *l);
  if (l == NULL) return TFSDK__NOMEM(rt);
  l->def = *def;
  l->plugin = t->plugin;
  l->def.param = NULL;
  l->def.in = l->def.out = l->def.weight = NULL;
  l->param = tfsdk__zalloc(rt, (def->n_param + 1u) * sizeof *l->param);
  tfsdk_status *s = l->param == NULL ? TFSDK__NOMEM(rt) : NULL;
  if (s == NULL)
    s = tfsdk__registry_relay(rt, def->param, def->n_param, def->attr_size, sizeof *def->param,
                              (const void **)&l->def.param);
  if (s == NULL)
    s = tfsdk__registry_relay(rt, def->in, def->n_in, def->arg_size, sizeof *def->in,
                              (const void **)&l->def.in);
  if (s == NULL)
    s = tfsdk__registry_relay(rt, def->out, def->n_out, def->arg_size, sizeof *def->out,
                              (const void **)&l->def.out);
  if (s == NULL)
    s = tfsdk__registry_relay(rt, def->weight, def->n_weight, def->arg_size, sizeof *def->weight,
                              (const void **)&l->def.weight);
  if (s == NULL) s = check_record(rt, l);
  if (s != NULL) {
    tfsdk__layer_release(rt, l);
    tfsdk__status_prefix(s, "layer '%s'", def->name);
    return s;
  }
  *out = l;
  return NULL;
}

void tfsdk__layers_drop(tfsdk__txn *t, tfsdk__layer **layers) {
  for (size_t i = 0; layers != NULL && i < t->layers.n; i++)
    tfsdk__layer_release(t->plugin->rt, layers[i]);
  tfsdk__free(t->plugin->rt, layers);
}

tfsdk_status *tfsdk__layers_make(tfsdk__txn *t, tfsdk__layer ***out) {
  tfsdk_runtime *rt = t->plugin->rt;
  tfsdk__layer **list = tfsdk__zalloc(rt, (t->layers.n + 1) * sizeof *list);
  tfsdk_status *s = list == NULL ? TFSDK__NOMEM(rt) : NULL;
  for (size_t i = 0; s == NULL && i < t->layers.n; i++) {
    s = make_layer(t, &t->layers.data[i], &list[i]);
    for (size_t j = 0; s == NULL && j < i; j++)
      if (strcmp(list[i]->def.name, list[j]->def.name) == 0)
        s = tfsdk__registry_taken("layer", list[i]->def.name, t->plugin, t->plugin);
  }
  if (s != NULL) {
    tfsdk__layers_drop(t, list);
    return s;
  }
  *out = list;
  return NULL;
}

void tfsdk__layers_show(tfsdk__txn *t, tfsdk__layer **layers) {
  tfsdk_runtime *rt = t->plugin->rt;
  for (size_t i = 0; i < t->layers.n; i++)
    (void)tfsdk__map_put(rt, &rt->layers, layers[i]->def.name, layers[i]);
  tfsdk__free(rt, layers);
}

/* -------------------------------------------------------------------------------- look-ups */

typedef struct search {
  const char *name, *best;
  int distance;
} search;

static int consider(void *user, const char *name) {
  search *n = user;
  int d = tfsdk__distance(n->name, name);
  if (d < n->distance) {
    n->distance = d;
    n->best = name;
  }
  return 0;
}

static tfsdk_status *find(tfsdk_runtime *rt, const char *name, tfsdk__layer **out) {
  tfsdk_status *s = NULL;
  *out = NULL;
  pthread_mutex_lock(&rt->lock);
  tfsdk__layer *l = tfsdk__map_get(&rt->layers, name);
  if (l == NULL) {
    s = tfsdk__loader_provide_layer(rt, name);
    l = tfsdk__map_get(&rt->layers, name);
  }
  if (l == NULL && s == NULL) {
    search n = {name, NULL, 1000};
    tfsdk__loader_each(rt, "layer", consider, &n);
    s = n.best ? tfsdk__status_make(TFSDK_NOT_FOUND, "there is no layer '%s'; the nearest is '%s'",
                                    name, n.best)
               : tfsdk__status_make(TFSDK_NOT_FOUND,
                                    "there is no layer '%s', and no plugin with layers was found",
                                    name);
  }
  pthread_mutex_unlock(&rt->lock);
  if (l == NULL) return s;
  tfsdk_status_release(s);
  *out = l;
  return NULL;
}

tfsdk_status *tfsdk_layer_find(tfsdk_runtime *rt, const char *name, const tfsdk_layerdef **out) {
  tfsdk__layer *l = NULL;
  TFSDK_TRY(find(rt, name, &l));
  *out = &l->def;
  return NULL;
}

const char *tfsdk_layer_plugin(tfsdk_runtime *rt, const char *name) {
  tfsdk__layer *l = NULL;
  tfsdk_status *s = find(rt, name, &l);
  tfsdk_status_release(s);
  return s ? "" : l->plugin->manifest.name;
}

void tfsdk_layer_each(tfsdk_runtime *rt, int (*fn)(void *user, const char *name), void *user) {
  tfsdk__each_name(rt, "layer", fn, user);
}

/* -------------------------------------------------------------------------------- building */

static bool is_list(const tfsdk_layerdef *d) {
  return d->n_in > 0 && strcmp(d->in[d->n_in - 1].type, "tensor*") == 0;
}

static tfsdk_status *check_inputs(const tfsdk_layerdef *d, const tfsdk_val *in, size_t n) {
  if (n > d->n_in && !is_list(d))
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "it takes %u input%s, got %zu", d->n_in,
                              d->n_in == 1 ? "" : "s", n);
  for (size_t i = 0; i < d->n_in; i++) {
    bool optional = strcmp(d->in[i].type, "tensor?") == 0;
    if ((i >= n || in[i].id == 0) && !optional)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "input '%s' is missing", d->in[i].name);
  }
  return NULL;
}

/* Says which layer it was, where it stands and what it was given. */
static void dress(tfsdk_ctx *c, tfsdk_status *s, const char *name, const tfsdk_val *in,
                  size_t n_in) {
  const char *scope = tfsdk_ctx_variable_scope(c), *op = tfsdk_status_get(s, "op");
  if (op == NULL) {
    tfsdk__status_add(s, "op", "%s", name);
    if (*scope) tfsdk__status_add(s, "node", "%s", scope);
  } else if (strcmp(op, name) != 0) {
    tfsdk__status_prefix(s, "layer %s%s%s%s", name, *scope ? " '" : "", scope, *scope ? "'" : "");
  }
  tfsdk__buf b = {0};
  for (size_t i = 0; i < n_in; i++) {
    tfsdk_typed_shape t;
    tfsdk_status *unknown = in[i].id ? c->api->type(c, in[i], &t) : TFSDK__NOMEM(c);
    tfsdk_status_release(unknown);
    if (unknown != NULL) continue;
    tfsdk__buf_add(&b, "%s%s%s", b.n ? ", " : "", tfsdk_dtype_name(t.dtype),
                   tfsdk_shape_text(&t.shape).s);
  }
  if (b.n) tfsdk__status_add(s, "inputs", "%s", b.s);
  tfsdk__buf_deinit(&b);
  tfsdk__context *x = tfsdk__context_of(c);
  if (x->kind == TFSDK__CTX_GRAPH && tfsdk__graph_of(c)->where != NULL)
    tfsdk__status_add(s, "where", "%s", tfsdk__graph_of(c)->where);
}

static tfsdk_status *build(tfsdk_ctx *c, const char *name, const tfsdk_val *in, size_t n_in,
                           const tfsdk_attrval *param, size_t n_param, tfsdk_val *out,
                           size_t n_out) {
  tfsdk_runtime *rt = tfsdk__context_of(c)->rt;
  tfsdk__layer *l = NULL;
  tfsdk__attrlist *cfg = NULL;
  tfsdk_val room_in[16], *inputs = room_in, room_out[16], *outputs = room_out;
  memset(out, 0, n_out * sizeof *out);
  TFSDK_TRY(find(rt, name, &l));
  size_t total = n_in > l->def.n_in ? n_in : l->def.n_in, wide = l->def.n_out ? l->def.n_out : 1;
  tfsdk_status *s = check_inputs(&l->def, in, n_in);
  if (s == NULL)
    s = tfsdk__attrlist_fill(rt, l->def.param, l->param, l->def.n_param, NULL, param, n_param,
                             &cfg);
  if (s == NULL && total > 16 && (inputs = tfsdk__alloc(rt, total * sizeof *inputs)) == NULL)
    s = TFSDK__NOMEM(rt);
  if (s == NULL && wide > 16 && (outputs = tfsdk__alloc(rt, wide * sizeof *outputs)) == NULL)
    s = TFSDK__NOMEM(rt);
  if (s == NULL) {
    tfsdk_attrs view = tfsdk__attrlist_view(cfg);
    memset(inputs, 0, total * sizeof *inputs);
    memset(outputs, 0, wide * sizeof *outputs);
    if (n_in > 0) memcpy(inputs, in, n_in * sizeof *in);
    s = l->def.build(c, &view, inputs, total, outputs, wide);
    tfsdk_status *kept = tfsdk__context_take_error(c); /* one that the layer has not looked at */
    if (s == NULL)
      s = kept;
    else
      tfsdk_status_release(kept);
    for (size_t i = 0; s == NULL && i < n_out && i < wide; i++) out[i] = outputs[i];
  }
  if (inputs != room_in) tfsdk__free(rt, inputs);
  if (outputs != room_out) tfsdk__free(rt, outputs);
  tfsdk__attrlist_release(rt, cfg);
  if (s != NULL) {
    dress(c, s, name, in, n_in);
    tfsdk__status_add(s, "plugin", "%s %s", l->plugin->manifest.name,
                      l->plugin->manifest.version ? l->plugin->manifest.version : "");
  }
  return s;
}

tfsdk_status *tfsdk_layer_build(tfsdk_ctx *c, const char *name, const tfsdk_val *in, size_t n_in,
                                const tfsdk_attrval *param, size_t n_param,
                                const tfsdk_layer_options *options, tfsdk_val *out, size_t n_out) {
  tfsdk__context *x = tfsdk__context_of(c);
  tfsdk_layer_options own = {sizeof own, 0, NULL, NULL, NULL};
  if (options != NULL)
    TFSDK_TRY(tfsdk__take(&own, sizeof own, options, options->struct_size, "tfsdk_layer_options"));
  const tfsdk_layer_options *outer = x->layer;
  x->layer = &own;
  tfsdk_status *s = build(c, name, in, n_in, param, n_param, out, n_out);
  x->layer = outer;
  return s;
}

tfsdk_status *tfsdk__context_layer(tfsdk_ctx *c, const char *layer, const tfsdk_val *in,
                                   size_t n_in, const tfsdk_attrval *param, size_t n_param,
                                   tfsdk_val *out, size_t n_out) {
  return build(c, layer, in, n_in, param, n_param, out, n_out);
}

/* --------------------------------------------------------------------- weights and effects */

/* The value that a layer proposes to begin with; none for what variables do by themselves. */
static tfsdk_status *proposed(tfsdk_ctx *c, const tfsdk_weightspec *w, const char *path,
                              tfsdk_val *out) {
  char scope[600];
  tfsdk_val dims, y = {0};
  const char *how = w->initializer;
  *out = y;
  if (how == NULL || strcmp(how, "glorot_uniform") == 0) return NULL;
  snprintf(scope, sizeof scope, "%s/Initializer/", path);
  TFSDK_TRY(tfsdk_ctx_push_name_scope(c, scope));
  tfsdk_status *s = tfsdk_ctx_push_control(c, NULL, 0);
  if (s == NULL) {
    dims = tfsdk_int_vector(c, w->shape.dim, (uint32_t)w->shape.rank);
    if (strcmp(how, "zeros") == 0 || strcmp(how, "ones") == 0) {
      y = tfsdk_emit2(c, "Fill", dims, tfsdk_scalar(c, w->dtype, *how == 'o'));
    } else if (strcmp(how, "uniform") == 0) {
      tfsdk_attrval dtype = tfsdk_a_dtype("dtype", w->dtype);
      y = tfsdk_emit(c, "RandomUniform", &dims, 1, &dtype, 1);
      y = tfsdk_emit2(c, "Mul", y, tfsdk_scalar(c, w->dtype, 0.1));
      y = tfsdk_emit2(c, "Sub", y, tfsdk_scalar(c, w->dtype, 0.05));
    } else {
      s = tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "weight '%s': there is no initializer '%s'",
                             w->role, how);
    }
    tfsdk_ctx_pop_control(c);
  }
  tfsdk_ctx_pop_name_scope(c);
  if (s == NULL) s = tfsdk__context_take_error(c);
  if (s == NULL) *out = y;
  return s;
}

static tfsdk_status *own_variable(tfsdk_ctx *c, const tfsdk_weightspec *w, tfsdk_val *out_handle,
                                  tfsdk_val *out_value) {
  tfsdk__context *x = tfsdk__context_of(c);
  const char *scope = tfsdk_ctx_variable_scope(c);
  tfsdk_varspec spec = {.struct_size = sizeof spec, .dtype = w->dtype, .shape = w->shape};
  tfsdk_variable *v;
  char path[560];
  spec.not_trainable = w->state;
  if (snprintf(path, sizeof path, "%s%s%s", scope, *scope ? "/" : "", w->role) >= (int)sizeof path)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "the name of weight '%s' is too long",
                              w->role);
  if (tfsdk__map_get(&x->variable_by_name, path) == NULL && tfsdk_ctx_reuse(c) != TFSDK_REUSE_ONLY)
    TFSDK_TRY(proposed(c, w, path, &spec.init));
  TFSDK_TRY(tfsdk_variable_get(c, w->role, &spec, NULL, &v));
  *out_handle = tfsdk_variable_handle(v);
  return tfsdk_variable_value(v, c, out_value);
}

tfsdk_status *tfsdk__context_weight(tfsdk_ctx *c, const tfsdk_weightspec *spec,
                                    tfsdk_val *out_handle, tfsdk_val *out_value) {
  const tfsdk_layer_options *o = tfsdk__context_of(c)->layer;
  tfsdk_weightspec w;
  TFSDK_TRY(tfsdk__take(&w, sizeof w, spec, spec->struct_size, "tfsdk_weightspec"));
  if (w.role == NULL || !tfsdk_shape_whole(&w.shape))
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "weight '%s' of shape %s: the shape must be known, and with it the "
                              "extents of the input that it follows from",
                              w.role ? w.role : "", tfsdk_shape_text(&w.shape).s);
  out_handle->id = out_value->id = 0;
  if (o == NULL || o->weight == NULL) return own_variable(c, &w, out_handle, out_value);
  TFSDK_TRY(o->weight(o->user, c, &w, out_handle, out_value));
  tfsdk_typed_shape t;
  TFSDK_TRY(c->api->type(c, *out_value, &t));
  bool fits = t.shape.rank < 0 || t.shape.rank == w.shape.rank;
  for (int32_t i = 0; fits && i < t.shape.rank; i++)
    fits = t.shape.dim[i] < 0 || t.shape.dim[i] == w.shape.dim[i];
  if (t.dtype != w.dtype || !fits)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "weight '%s' must be %s%s for this input, but it is %s%s", w.role,
                              tfsdk_dtype_name(w.dtype), tfsdk_shape_text(&w.shape).s,
                              tfsdk_dtype_name(t.dtype), tfsdk_shape_text(&t.shape).s);
  return NULL;
}

tfsdk_status *tfsdk__context_effect(tfsdk_ctx *c, int32_t bucket, tfsdk_val v) {
  tfsdk__context *x = tfsdk__context_of(c);
  if (bucket < TFSDK_BUCKET_UPDATES || bucket > TFSDK_BUCKET_SUMMARIES)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "there is no bucket %d", bucket);
  if (x->layer != NULL && x->layer->effect != NULL)
    return x->layer->effect(x->layer->user, c, bucket, v);
  if (x->kind == TFSDK__CTX_EAGER) return NULL; /* it has happened */
  if (!TFSDK__GROW(x->rt, &x->buckets[bucket], 1)) return TFSDK__NOMEM(x->rt);
  x->buckets[bucket].data[x->buckets[bucket].n++] = v;
  return NULL;
}

size_t tfsdk_graph_bucket(tfsdk_graph *g, int32_t bucket, const tfsdk_val **out) {
  *out = NULL;
  if (bucket < TFSDK_BUCKET_UPDATES || bucket > TFSDK_BUCKET_SUMMARIES) return 0;
  *out = g->ctx.buckets[bucket].data;
  return g->ctx.buckets[bucket].n;
}

/* --------------------------------------------------------------------------------- showing */

static void show_value(tfsdk__buf *b, const tfsdk_attrval *a) {
  uint32_t n = a->n == TFSDK_UNKNOWN_RANK ? 0 : a->n;
  switch (a->kind) {
  case TFSDK_ATTR_INT: tfsdk__buf_add(b, "%lld", (long long)a->v.i); return;
  case TFSDK_ATTR_BOOL: tfsdk__buf_add(b, "%s", a->v.i ? "true" : "false"); return;
  case TFSDK_ATTR_FLOAT: tfsdk__buf_add(b, "%.9g", a->v.f); return;
  case TFSDK_ATTR_STRING: tfsdk__buf_add(b, "%s", a->v.s); return;
  case TFSDK_ATTR_DTYPE: tfsdk__buf_add(b, "%s", tfsdk_dtype_name((int32_t)a->v.i)); return;
  case TFSDK_ATTR_TENSOR: tfsdk__buf_add(b, "<tensor>"); return;
  default: break;
  }
  tfsdk__buf_add(b, "[");
  for (uint32_t i = 0; i < n; i++) {
    const char *comma = i ? "," : "";
    if (a->kind == TFSDK_ATTR_LIST_FLOAT)
      tfsdk__buf_add(b, "%s%.9g", comma, a->v.floats[i]);
    else if (a->kind == TFSDK_ATTR_LIST_STRING)
      tfsdk__buf_add(b, "%s%s", comma, a->v.strings[i]);
    else if (a->kind == TFSDK_ATTR_LIST_SHAPE)
      tfsdk__buf_add(b, "%s%s", comma, tfsdk_shape_text(&a->v.shapes[i]).s);
    else if (a->kind == TFSDK_ATTR_LIST_DTYPE)
      tfsdk__buf_add(b, "%s%s", comma, tfsdk_dtype_name((int32_t)a->v.ints[i]));
    else
      tfsdk__buf_add(b, "%s%lld", comma, (long long)a->v.ints[i]);
  }
  tfsdk__buf_add(b, "]");
}

tfsdk_status *tfsdk_layer_text(tfsdk_runtime *rt, const char *name, const tfsdk_attrval *param,
                               size_t n_param, char **out_text) {
  tfsdk__layer *l = NULL;
  tfsdk__attrlist *cfg;
  tfsdk__buf b = {0};
  bool first = true;
  TFSDK_TRY(find(rt, name, &l));
  TFSDK__TRY_ADD(
      tfsdk__attrlist_fill(rt, l->def.param, l->param, l->def.n_param, NULL, param, n_param, &cfg),
      "op", "%s", name);
  tfsdk__buf_add(&b, "%s(", name);
  for (uint32_t i = 0; i < cfg->n; i++) {
    const tfsdk__attrtype *t = &l->param[i];
    if (t->has_default) {
      tfsdk_attrval dflt = t->dflt;
      dflt.name = cfg->list[i].name;
      if (tfsdk__attr_equal(&dflt, &cfg->list[i])) continue;
    }
    tfsdk__buf_add(&b, "%s%s=", first ? "" : ", ", cfg->list[i].name);
    show_value(&b, &cfg->list[i]);
    first = false;
  }
  tfsdk__buf_add(&b, ")");
  tfsdk__attrlist_release(rt, cfg);
  if (b.failed) {
    tfsdk__buf_deinit(&b);
    return TFSDK__NOMEM(rt);
  }
  *out_text = b.s;
  return NULL;
}
