/* Graphs: nodes in the order of their making, which is also an order in which they can run. */
#include "internal.h"

tfsdk_status *tfsdk_graph_create(tfsdk_runtime *rt, tfsdk_graph **out) {
  tfsdk_graph *g = tfsdk__zalloc(rt, sizeof *g);
  *out = NULL;
  if (g == NULL) return TFSDK__NOMEM(rt);
  tfsdk__context_init(&g->ctx, rt, TFSDK__CTX_GRAPH);
  atomic_init(&g->refs, 1);
  g->seed = rt->seed;
  g->has_seed = rt->has_seed;
  tfsdk__runtime_retain(rt);
  *out = g;
  return NULL;
}

tfsdk_graph *tfsdk_graph_retain(tfsdk_graph *g) {
  atomic_fetch_add(&g->refs, 1);
  return g;
}

void tfsdk__node_release(tfsdk_runtime *rt, tfsdk__node *n) {
  for (uint32_t i = 0; n->folded != NULL && i < n->n_out; i++) tfsdk_tensor_release(n->folded[i]);
  tfsdk__free(rt, n->folded);
  tfsdk__attrlist_release(rt, n->attrs);
  tfsdk__rule_release(rt, n->rule);
  tfsdk__free(rt, n->in);
  tfsdk__free(rt, n->control);
  tfsdk__free(rt, n->out);
  tfsdk__free(rt, n);
}

void tfsdk_graph_release(tfsdk_graph *g) {
  if (g == NULL || atomic_fetch_sub(&g->refs, 1) != 1) return;
  tfsdk_runtime *rt = g->ctx.rt;
  for (size_t i = 0; i < g->nodes.n; i++) tfsdk__node_release(rt, g->nodes.data[i]);
  for (size_t i = 0; i < g->texts.n; i++) tfsdk__free(rt, g->texts.data[i]);
  tfsdk__free(rt, g->nodes.data);
  tfsdk__free(rt, g->texts.data);
  tfsdk__free(rt, g->next_name);
  tfsdk__map_deinit(rt, &g->by_name);
  tfsdk__context_deinit(&g->ctx);
  tfsdk__free(rt, g);
  tfsdk__runtime_unref(rt);
}

tfsdk_ctx *tfsdk_graph_ctx(tfsdk_graph *g) { return &g->ctx.base; }

/* Equal texts in a row (script lines, devices) are kept once. */
static char *intern(tfsdk_graph *g, const char *text) {
  for (size_t i = g->texts.n; i-- > 0 && g->texts.n - i < 16;)
    if (strcmp(g->texts.data[i], text) == 0) return g->texts.data[i];
  if (!TFSDK__GROW(g->ctx.rt, &g->texts, 1)) return NULL;
  char *copy = tfsdk__strdup(g->ctx.rt, text);
  if (copy != NULL) g->texts.data[g->texts.n++] = copy;
  return copy;
}

void tfsdk_graph_set_where(tfsdk_graph *g, const char *where) {
  g->where = where ? intern(g, where) : NULL;
  if (where != NULL && g->where == NULL) g->text_failed = true;
}

void tfsdk_graph_set_name(tfsdk_graph *g, const char *name) {
  tfsdk__free(g->ctx.rt, g->next_name);
  g->next_name = name ? tfsdk__strdup(g->ctx.rt, name) : NULL;
  if (name != NULL && g->next_name == NULL) g->text_failed = true;
}

void tfsdk_graph_set_seed(tfsdk_graph *g, int64_t seed) {
  g->seed = seed;
  g->has_seed = true;
  g->version++;
}

void tfsdk_graph_finalize(tfsdk_graph *g) { g->finalized = true; }
int32_t tfsdk_graph_is_finalized(const tfsdk_graph *g) { return g->finalized; }
uint32_t tfsdk_graph_node_count(const tfsdk_graph *g) { return (uint32_t)g->nodes.n; }
tfsdk_val tfsdk_graph_value(uint32_t node, uint32_t index) { return tfsdk__val(node, index); }

tfsdk_status *tfsdk_graph_unique_name(tfsdk_graph *g, const char *name, char *out, size_t cap) {
  const tfsdk__scopes *s = &g->ctx.scopes;
  const char *prefix = s->name.n ? s->name.data[s->name.n - 1] : "";
  int n = snprintf(out, cap, "%s%s", prefix, name);
  for (int i = 1; n >= 0 && (size_t)n < cap && tfsdk__map_get(&s->used, out) != NULL; i++)
    n = snprintf(out, cap, "%s%s_%d", prefix, name, i);
  if (n < 0 || (size_t)n >= cap)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "the name '%s' is too long", name);
  return NULL;
}

static tfsdk_status *node_of(tfsdk_graph *g, tfsdk_val v, tfsdk__node **out) {
  uint32_t id = tfsdk__val_node(v);
  if (v.id == 0 || id >= g->nodes.n)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "a value is not of this graph");
  *out = g->nodes.data[id];
  return NULL;
}

static tfsdk_status *output_of(tfsdk_graph *g, tfsdk_val v, tfsdk__node **out) {
  *out = NULL;
  TFSDK_TRY(node_of(g, v, out));
  if (tfsdk__val_index(v) >= (*out)->n_out)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "node '%s' has %u outputs; there is no output %u", (*out)->name,
                              (*out)->n_out, tfsdk__val_index(v));
  return NULL;
}

/* ------------------------------------------------------------------------------------- emitting */

tfsdk_status *tfsdk__graph_infer(tfsdk_graph *g, tfsdk__node *n, const int32_t *out_dtype) {
  tfsdk_runtime *rt = g->ctx.rt;
  size_t k = n->n_in + 1u;
  tfsdk_typed_shape *in =
      tfsdk__alloc(rt, k * (sizeof *in + sizeof(tfsdk_view) + sizeof(tfsdk_view *)));
  if (in == NULL) return TFSDK__NOMEM(rt);
  tfsdk_view *values = (void *)(in + k);
  const tfsdk_view **value = (void *)(values + k);
  for (uint32_t i = 0; i < n->n_in; i++) {
    value[i] = NULL;
    if (n->in[i].id == 0) {
      memset(&in[i], 0, sizeof in[i]);
      in[i].flags = TFSDK_VIEW_ABSENT;
      in[i].shape.rank = -1;
      continue;
    }
    in[i] = g->nodes.data[tfsdk__val_node(n->in[i])]->out[tfsdk__val_index(n->in[i])];
    if (n->op->def.const_in >> tfsdk__op_arg_of(n->op, n->attrs, n->n_in, i) & 1) {
      tfsdk_tensor *t = tfsdk__fold(g, n->in[i]);
      if (t != NULL) {
        tfsdk__tensor_fill_view(t, &values[i]);
        value[i] = &values[i];
      }
    }
  }
  tfsdk_status *s =
      tfsdk__infer_run(n->op, n->attrs, in, n->n_in, value, out_dtype, n->out, n->n_out);
  if (s != NULL) {
    tfsdk__buf b = {0};
    for (uint32_t i = 0; i < n->n_in; i++)
      tfsdk__buf_add(&b, "%s%s%s", i ? ", " : "", tfsdk_dtype_name(in[i].dtype),
                     tfsdk_shape_text(&in[i].shape).s);
    if (b.n) tfsdk__status_add(s, "inputs", "%s", b.s);
    tfsdk__buf_deinit(&b);
  }
  tfsdk__free(rt, in);
  return s;
}

static tfsdk_status *fill_node(tfsdk_graph *g, tfsdk__node *n, const tfsdk_val *in, size_t n_in,
                               const tfsdk__opcall *call) {
  tfsdk_runtime *rt = g->ctx.rt;
  const tfsdk__scopes *s = &g->ctx.scopes;
  n->n_in = call->n_in;
  n->n_out = call->n_out;
  n->in = tfsdk__zalloc(rt, (n->n_in + 1) * sizeof *n->in);
  n->out = tfsdk__zalloc(rt, (n->n_out + 1) * sizeof *n->out);
  if (n->in == NULL || n->out == NULL) return TFSDK__NOMEM(rt);
  if (n_in > 0) memcpy(n->in, in, n_in * sizeof *in);
  if (g->planning != NULL) {
    TFSDK_TRY(tfsdk__planning_adopt(g, n));
    return tfsdk__graph_infer(g, n, call->out_dtype);
  }
  if (s->control.n > 0) {
    const struct tfsdk__controls *c = &s->control.data[s->control.n - 1];
    n->control = tfsdk__alloc(rt, (c->n + 1) * sizeof *n->control);
    if (n->control == NULL) return TFSDK__NOMEM(rt);
    if (c->n > 0) memcpy(n->control, c->node, c->n * sizeof *n->control);
    n->n_control = (uint32_t)c->n;
  }
  const char *device = s->device.n ? s->device.data[s->device.n - 1] : NULL;
  if (device != NULL && (n->device = intern(g, device)) == NULL) return TFSDK__NOMEM(rt);
  n->where = (char *)(uintptr_t)g->where;
  if (n->op->def.flags & TFSDK_OP_RANDOM)
    TFSDK_TRY(tfsdk__random_site_of(rt, &g->ctx.scopes, n->attrs, &n->random));
  return tfsdk__graph_infer(g, n, call->out_dtype);
}

static tfsdk_status *add_node(tfsdk_graph *g, tfsdk__op *op, const tfsdk_val *in, size_t n_in,
                              const tfsdk_attrval *attr, size_t n_attr, tfsdk__node **out) {
  tfsdk_runtime *rt = g->ctx.rt;
  int32_t room[32], *dtype = room;
  tfsdk__opcall call;
  tfsdk_status *s = NULL;
  if (g->finalized)
    return tfsdk__status_make(TFSDK_FAILED_PRECONDITION,
                              "the graph is finalized: '%s' cannot be added", op->def.name);
  if (g->text_failed || !TFSDK__GROW(rt, &g->nodes, 1)) {
    g->text_failed = false;
    return TFSDK__NOMEM(rt);
  }
  if (n_in > 32 && (dtype = tfsdk__alloc(rt, n_in * sizeof *dtype)) == NULL)
    return TFSDK__NOMEM(rt);
  for (size_t i = 0; s == NULL && i < n_in; i++) {
    tfsdk__node *from = NULL;
    dtype[i] = 0;
    if (in[i].id == 0) continue;
    s = output_of(g, in[i], &from);
    if (s == NULL) dtype[i] = from->out[tfsdk__val_index(in[i])].dtype;
  }
  if (s == NULL) s = tfsdk__opcall_resolve(rt, op, dtype, n_in, attr, n_attr, &call);
  if (dtype != room) tfsdk__free(rt, dtype);
  if (s != NULL) return s;
  tfsdk__node *n = tfsdk__zalloc(rt, sizeof *n);
  if (n == NULL)
    s = TFSDK__NOMEM(rt);
  else {
    n->op = op;
    n->attrs = call.attrs;
    call.attrs = NULL;
    n->id = (uint32_t)g->nodes.n;
    n->rule = tfsdk__context_rule(&g->ctx, op);
    s = fill_node(g, n, in, n_in, &call);
    if (s == NULL && g->planning != NULL) {
      s = tfsdk__planning_merge(g, n, out);
      if (*out != n) {
        tfsdk__node_release(rt, n);
        n = NULL;
      }
    } else if (s == NULL) {
      const char *plain = strrchr(op->def.name, '.'); /* "acme.Relu" makes nodes "Relu" */
      n->name = (char *)(uintptr_t)tfsdk__scopes_unique(rt, &g->ctx.scopes,
                                                        g->next_name ? g->next_name
                                                        : plain      ? plain + 1
                                                                     : op->def.name);
      if (n->name == NULL || !tfsdk__map_put(rt, &g->by_name, n->name, n)) s = TFSDK__NOMEM(rt);
    } else if (g->next_name != NULL) {
      tfsdk__status_add(s, "node", "%s%s",
                        g->ctx.scopes.name.n ? g->ctx.scopes.name.data[g->ctx.scopes.name.n - 1]
                                             : "",
                        g->next_name);
    }
    if (s != NULL && n != NULL) tfsdk__node_release(rt, n);
  }
  tfsdk__opcall_deinit(rt, &call);
  if (s != NULL) return s;
  if (n == NULL) return NULL; /* merged with one that was there */
  g->nodes.data[g->nodes.n++] = n;
  *out = n;
  return NULL;
}

static tfsdk_status *graph_emit(tfsdk_ctx *c, const char *name, const tfsdk_val *in, size_t n_in,
                                const tfsdk_attrval *attr, size_t n_attr, tfsdk_val *out,
                                size_t n_out) {
  tfsdk_graph *g = tfsdk__graph_of(c);
  tfsdk__op *op;
  tfsdk__node *n = NULL;
  tfsdk_status *s = tfsdk__op_find(g->ctx.rt, name, &op);
  const tfsdk_emit_filter *filter = tfsdk__context_filter(&g->ctx);
  tfsdk_val *other = NULL;
  if (s == NULL && filter != NULL && n_in > 0) {
    char *next_name = g->next_name; /* of this op, not of what the filter emits */
    g->next_name = NULL;
    other = tfsdk__alloc(g->ctx.rt, n_in * sizeof *other);
    if (other == NULL) {
      s = TFSDK__NOMEM(g->ctx.rt);
    } else {
      memcpy(other, in, n_in * sizeof *other);
      s = tfsdk__context_apply(&g->ctx, filter, op, other, n_in);
      in = other;
    }
    g->next_name = next_name;
  }
  if (s == NULL) s = add_node(g, op, in, n_in, attr, n_attr, &n);
  tfsdk__free(g->ctx.rt, other);
  tfsdk_graph_set_name(g, NULL);
  if (s != NULL) {
    tfsdk__status_add(s, "op", "%s", name);
    if (g->where != NULL) tfsdk__status_add(s, "where", "%s", g->where);
    return s;
  }
  if (n_out > 0 && n->n_out == 0)
    out[0] = tfsdk__val(n->id, 0); /* an operation: to be run, not read */
  for (size_t i = 0; i < n_out && i < n->n_out; i++) out[i] = tfsdk__val(n->id, (uint32_t)i);
  return NULL;
}

static tfsdk_status *graph_constant(tfsdk_ctx *c, int32_t dtype, uint32_t rank, const int64_t *dim,
                                    const void *data, tfsdk_val *out) {
  tfsdk_runtime *rt = tfsdk__context_of(c)->rt;
  tfsdk_tensor *t;
  TFSDK_TRY(tfsdk__tensor_alloc(tfsdk__device_host(rt), dtype, rank, dim, &t));
  if (t->byte_size > 0) memcpy(t->data, data, t->byte_size);
  tfsdk_attrval attr[2] = {tfsdk_a_tensor("value", t), tfsdk_a_dtype("dtype", dtype)};
  tfsdk_status *s = graph_emit(c, TFSDK__OP_CONST, NULL, 0, attr, 2, out, 1);
  tfsdk_tensor_release(t);
  return s;
}

static tfsdk_status *graph_type(tfsdk_ctx *c, tfsdk_val v, tfsdk_typed_shape *out) {
  tfsdk__node *n = NULL;
  TFSDK_TRY(output_of(tfsdk__graph_of(c), v, &n));
  *out = n->out[tfsdk__val_index(v)];
  return NULL;
}

static int32_t graph_known(tfsdk_ctx *c, tfsdk_val v, tfsdk_view *out) {
  tfsdk_tensor *t = tfsdk__fold(tfsdk__graph_of(c), v);
  if (t == NULL) return 0;
  tfsdk__tensor_fill_view(t, out);
  return 1;
}

const tfsdk_emit_api tfsdk__graph_emit_api = {sizeof(tfsdk_emit_api),
                                              0,
                                              graph_emit,
                                              graph_constant,
                                              graph_type,
                                              graph_known,
                                              tfsdk__context_variable,
                                              tfsdk__context_effect,
                                              tfsdk__context_stick,
                                              tfsdk__context_take_error,
                                              tfsdk__context_has_error,
                                              tfsdk__context_weight,
                                              tfsdk__context_layer};

/* -------------------------------------------------------------------------------------- looking */

tfsdk_status *tfsdk_graph_node(tfsdk_graph *g, tfsdk_val v, tfsdk_node_info *out) {
  tfsdk__node *n = NULL;
  TFSDK_TRY(node_of(g, v, &n));
  out->id = n->id;
  out->index = tfsdk__val_index(v);
  out->name = n->name;
  out->op = n->op->def.name;
  out->device = n->device;
  out->where = n->where;
  out->attr = tfsdk__attrlist_view(n->attrs);
  out->n_in = n->n_in;
  out->n_out = n->n_out;
  out->n_control = n->n_control;
  out->in = n->in;
  out->control = n->control;
  return NULL;
}

tfsdk_status *tfsdk_graph_find(tfsdk_graph *g, const char *name, tfsdk_val *out) {
  char base[512];
  unsigned long index = 0;
  snprintf(base, sizeof base, "%s", name);
  char *colon = strrchr(base, ':');
  if (colon != NULL) {
    char *end;
    index = strtoul(colon + 1, &end, 10);
    if (*end == 0 && end != colon + 1) *colon = 0;
  }
  tfsdk__node *n = tfsdk__map_get(&g->by_name, base);
  if (n == NULL) {
    const char *best = NULL;
    int distance = 1000;
    for (size_t i = 0; i < g->nodes.n; i++) {
      int d = tfsdk__distance(base, g->nodes.data[i]->name);
      if (d < distance) {
        distance = d;
        best = g->nodes.data[i]->name;
      }
    }
    return tfsdk__status_make(TFSDK_NOT_FOUND, "the graph has no node '%s'%s%s%s", base,
                              best ? "; the nearest is '" : "", best ? best : "", best ? "'" : "");
  }
  if (index > 0 && index >= n->n_out)
    return tfsdk__status_make(TFSDK_NOT_FOUND, "node '%s' has %u outputs; there is no output %lu",
                              base, n->n_out, index);
  *out = tfsdk__val(n->id, (uint32_t)index);
  return NULL;
}

tfsdk_status *tfsdk_graph_set_shape(tfsdk_graph *g, tfsdk_val v, const tfsdk_shape *s) {
  tfsdk__node *n = NULL;
  TFSDK_TRY(output_of(g, v, &n));
  tfsdk_infer c = {g->ctx.base.host, &n->op->def, 0, 0, NULL, NULL, NULL, {NULL, 0, 0}};
  tfsdk_shape *have = &n->out[tfsdk__val_index(v)].shape;
  TFSDK_TRY(tfsdk_merge(&c, have, s, n->name, have));
  g->version++;
  return NULL;
}
