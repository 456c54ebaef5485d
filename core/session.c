/* Sessions: the values of a graph's variables, and plans for what is run again and again. A plan
 * (plan.h) is made once for each combination of fetches, feeds, and the feeds' types and shapes. */
#include "plan.h"

#define PLAN_LIMIT 64

tfsdk_status *tfsdk_session_create(tfsdk_graph *g, const tfsdk_session_options *options,
                                   tfsdk_session **out) {
  tfsdk_runtime *rt = g->ctx.rt;
  tfsdk_session_options o = {0};
  tfsdk__device *d = tfsdk__device_host(rt);
  *out = NULL;
  if (options != NULL)
    TFSDK_TRY(tfsdk__take(&o, sizeof o, options, options->struct_size, "tfsdk_session_options"));
  if (o.device != NULL) TFSDK_TRY(tfsdk__device_find(rt, o.device, &d));
  uint32_t passes;
  TFSDK_TRY(tfsdk__passes_parse(o.passes ? o.passes : getenv("TFSDK_PASSES"), &passes));
  tfsdk_session *s = tfsdk__zalloc(rt, sizeof *s);
  if (s == NULL) return TFSDK__NOMEM(rt);
  atomic_init(&s->refs, 1);
  pthread_mutex_init(&s->lock, NULL);
  pthread_mutex_init(&s->cells.lock, NULL);
  s->graph = tfsdk_graph_retain(g);
  s->rt = rt;
  s->device = d;
  s->soft = !o.no_soft_placement;
  s->log_placement = o.log_placement != 0;
  s->passes = passes;
  s->seed = o.seed;
  s->has_seed = o.seed != 0;
  s->salt = tfsdk__random_salt();
  tfsdk__runtime_retain(rt);
  *out = s;
  return NULL;
}

static void drop_plans(tfsdk_session *s) {
  for (size_t i = 0; i < s->plans.n; i++) tfsdk__plan_release(s->rt, s->plans.data[i]);
  s->plans.n = 0;
  tfsdk__buffer_release(s->arena);
  s->arena = NULL;
  for (int i = 0; i < TFSDK__RUN_SLOTS; i++) {
    tfsdk__buffer_release(s->workspaces.kept[i]);
    s->workspaces.kept[i] = NULL;
  }
}

void tfsdk_session_close(tfsdk_session *s) {
  pthread_mutex_lock(&s->lock);
  if (!s->closed) {
    s->closed = true;
    drop_plans(s);
    tfsdk__free(s->rt, s->plans.data);
    for (size_t i = 0; i < s->n_streams; i++) tfsdk__free(s->rt, s->streams[i]);
    tfsdk__free(s->rt, s->streams);
    tfsdk__cells_deinit(s->rt, &s->cells);
  }
  pthread_mutex_unlock(&s->lock);
}

void tfsdk_session_release_memory(tfsdk_session *s) {
  pthread_mutex_lock(&s->lock);
  drop_plans(s);
  pthread_mutex_unlock(&s->lock);
  tfsdk__allocator_trim(s->rt);
}

void tfsdk_session_release(tfsdk_session *s) {
  if (s == NULL || atomic_fetch_sub(&s->refs, 1) != 1) return;
  tfsdk_runtime *rt = s->rt;
  tfsdk_session_close(s);
  tfsdk_graph_release(s->graph);
  pthread_mutex_destroy(&s->lock);
  tfsdk__free(rt, s);
  tfsdk__runtime_unref(rt);
}

/* -------------------------------------------------------------------------------------- running */

static bool types_equal(const tfsdk_typed_shape *a, const tfsdk_typed_shape *b) {
  return a->dtype == b->dtype && tfsdk_same_shape(&a->shape, &b->shape);
}

static bool same_vals(const tfsdk_val *a, const tfsdk_val *b, size_t n) {
  return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

static tfsdk_status *find_plan(tfsdk_session *s, const tfsdk_val *fetches, size_t n_fetches,
                               const tfsdk_val *feeds, const tfsdk_typed_shape *types,
                               size_t n_feeds, tfsdk__plan **out) {
  uint64_t h = tfsdk__hash(fetches, n_fetches * sizeof *fetches, n_feeds);
  h = tfsdk__hash(feeds, n_feeds * sizeof *feeds, h);
  for (size_t i = 0; i < s->plans.n; i++) {
    tfsdk__plan *p = s->plans.data[i];
    if (p->hash != h || p->n_fetches != n_fetches || p->n_feeds != n_feeds ||
        p->version != s->graph->version || !same_vals(p->fetches, fetches, n_fetches) ||
        !same_vals(p->feeds, feeds, n_feeds))
      continue;
    bool same = true;
    for (size_t k = 0; same && k < n_feeds; k++) same = types_equal(&p->feed_types[k], &types[k]);
    if (!same) continue;
    *out = p;
    return NULL;
  }
  tfsdk__plan *p = NULL;
  TFSDK_TRY(tfsdk__plan_make(s, fetches, n_fetches, feeds, types, n_feeds, &p));
  p->hash = h;
  size_t at = s->plans.n;
  if (at >= PLAN_LIMIT) { /* the one unused for longest goes */
    at = 0;
    for (size_t i = 1; i < s->plans.n; i++)
      if (s->plans.data[i]->used < s->plans.data[at]->used) at = i;
    tfsdk__plan_release(s->rt, s->plans.data[at]);
  } else if (!TFSDK__GROW(s->rt, &s->plans, 1)) {
    tfsdk__plan_release(s->rt, p);
    return TFSDK__NOMEM(s->rt);
  } else {
    s->plans.n++;
  }
  s->plans.data[at] = p;
  *out = p;
  return NULL;
}

/* A seed that the graph was given meanwhile is honoured: everything is drawn anew from it. */
static void follow_graph_seed(tfsdk_session *s) {
  const tfsdk_graph *g = s->graph;
  if (s->streams_has_seed == g->has_seed && s->streams_seed == g->seed) return;
  for (size_t i = 0; i < s->n_streams && !s->has_seed; i++) {
    tfsdk__free(s->rt, s->streams[i]);
    s->streams[i] = NULL;
  }
  s->streams_has_seed = g->has_seed;
  s->streams_seed = g->seed;
}

tfsdk_status *tfsdk__session_stream(tfsdk_session *s, const tfsdk__node *n,
                                    tfsdk__stream_state **out) {
  follow_graph_seed(s);
  if (n->id >= s->n_streams) {
    size_t want = s->graph->nodes.n;
    tfsdk__stream_state **more = tfsdk__realloc(s->rt, s->streams, want * sizeof *more);
    if (more == NULL) return TFSDK__NOMEM(s->rt);
    for (size_t i = s->n_streams; i < want; i++) more[i] = NULL;
    s->streams = more;
    s->n_streams = want;
  }
  if (s->streams[n->id] == NULL) {
    tfsdk__stream_state *st = tfsdk__zalloc(s->rt, sizeof *st);
    if (st == NULL) return TFSDK__NOMEM(s->rt);
    bool has = s->has_seed || s->graph->has_seed;
    tfsdk__random_key(&n->random, has, s->has_seed ? s->seed : s->graph->seed, s->salt, st->key);
    s->streams[n->id] = st;
  }
  *out = s->streams[n->id];
  return NULL;
}

static tfsdk_status *check_feed(tfsdk_session *s, tfsdk_val v, tfsdk_tensor *t,
                                tfsdk_typed_shape *type) {
  tfsdk_graph *g = s->graph;
  if (v.id == 0 || tfsdk__val_node(v) >= g->nodes.n ||
      tfsdk__val_index(v) >= g->nodes.data[tfsdk__val_node(v)]->n_out)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "a fed value is not of this session's graph");
  const tfsdk__node *n = g->nodes.data[tfsdk__val_node(v)];
  const tfsdk_typed_shape *want = &n->out[tfsdk__val_index(v)];
  tfsdk__tensor_typed_shape(t, type);
  bool fits = want->shape.rank < 0 || want->shape.rank == type->shape.rank;
  for (int32_t i = 0; fits && i < want->shape.rank; i++)
    fits = want->shape.dim[i] < 0 || want->shape.dim[i] == type->shape.dim[i];
  if (want->dtype == type->dtype && fits) return NULL;
  tfsdk_status *st =
      tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "a value of %s %s is fed; it takes %s %s",
                         tfsdk_dtype_name(type->dtype), tfsdk_shape_text(&type->shape).s,
                         tfsdk_dtype_name(want->dtype), tfsdk_shape_text(&want->shape).s);
  tfsdk__status_add(st, "op", "%s", n->op->def.name);
  tfsdk__status_add(st, "node", "%s", n->name);
  if (n->where != NULL) tfsdk__status_add(st, "where", "%s", n->where);
  return st;
}

static tfsdk_status *check_call(tfsdk_session *s, const tfsdk_val *fetches, size_t n_fetches,
                                const tfsdk_val *feeds, tfsdk_tensor *const *feed_values,
                                size_t n_feeds, tfsdk_typed_shape *types) {
  if (s->closed) return tfsdk__status_make(TFSDK_FAILED_PRECONDITION, "the session is closed");
  for (size_t i = 0; i < n_fetches; i++) {
    uint32_t id = tfsdk__val_node(fetches[i]), k = tfsdk__val_index(fetches[i]);
    bool ok = fetches[i].id != 0 && id < s->graph->nodes.n &&
              (k == 0 || k < s->graph->nodes.data[id]->n_out);
    if (!ok)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "fetch %zu is not of this session's graph",
                                i);
  }
  for (size_t i = 0; i < n_feeds; i++) {
    TFSDK_TRY(check_feed(s, feeds[i], feed_values[i], &types[i]));
    for (size_t k = 0; k < i; k++)
      if (feeds[k].id == feeds[i].id)
        return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "'%s' is fed twice",
                                  s->graph->nodes.data[tfsdk__val_node(feeds[i])]->name);
  }
  return NULL;
}

static tfsdk_status *run(tfsdk_session *s, const tfsdk_val *fetches, size_t n_fetches,
                         const tfsdk_val *feeds, tfsdk_tensor *const *feed_values, size_t n_feeds,
                         const tfsdk_run_options *watch, tfsdk_tensor **out) {
  tfsdk_typed_shape room[8], *types = room;
  tfsdk__plan *p = NULL;
  for (size_t i = 0; i < n_fetches; i++) out[i] = NULL;
  if (n_feeds > 8 && (types = tfsdk__alloc(s->rt, n_feeds * sizeof *types)) == NULL)
    return TFSDK__NOMEM(s->rt);
  pthread_mutex_lock(&s->lock);
  tfsdk_status *st = check_call(s, fetches, n_fetches, feeds, feed_values, n_feeds, types);
  if (st == NULL) st = find_plan(s, fetches, n_fetches, feeds, types, n_feeds, &p);
  if (st == NULL) st = tfsdk__plan_run(s, p, feed_values, watch, out);
  pthread_mutex_unlock(&s->lock);
  if (types != room) tfsdk__free(s->rt, types);
  return st;
}

tfsdk_status *tfsdk_session_run(tfsdk_session *s, const tfsdk_val *fetches, size_t n_fetches,
                                const tfsdk_val *feeds, tfsdk_tensor *const *feed_values,
                                size_t n_feeds, tfsdk_tensor **out) {
  return run(s, fetches, n_fetches, feeds, feed_values, n_feeds, NULL, out);
}

tfsdk_status *tfsdk_session_run_watched(tfsdk_session *s, const tfsdk_val *fetches,
                                        size_t n_fetches, const tfsdk_val *feeds,
                                        tfsdk_tensor *const *feed_values, size_t n_feeds,
                                        const tfsdk_run_options *options, tfsdk_tensor **out) {
  tfsdk_run_options o = {0};
  for (size_t i = 0; i < n_fetches; i++) out[i] = NULL;
  if (options != NULL)
    TFSDK_TRY(tfsdk__take(&o, sizeof o, options, options->struct_size, "tfsdk_run_options"));
  return run(s, fetches, n_fetches, feeds, feed_values, n_feeds, o.step != NULL ? &o : NULL, out);
}

tfsdk_status *tfsdk_session_read(tfsdk_session *s, const char *variable, tfsdk_tensor **out) {
  *out = NULL;
  pthread_mutex_lock(&s->lock);
  tfsdk_status *st =
      s->closed ? tfsdk__status_make(TFSDK_FAILED_PRECONDITION, "the session is closed") : NULL;
  if (st == NULL) {
    pthread_mutex_lock(&s->cells.lock);
    tfsdk__cell *c = tfsdk__map_get(&s->cells.by_name, variable);
    pthread_mutex_unlock(&s->cells.lock);
    tfsdk_tensor *t = NULL;
    st = c ? tfsdk__cell_read(c, &t)
           : tfsdk__status_make(TFSDK_NOT_FOUND, "the session has no variable '%s'", variable);
    if (st == NULL) {
      st = tfsdk__tensor_on(t, tfsdk__device_host(s->rt), out);
      tfsdk_tensor_release(t);
    }
  }
  pthread_mutex_unlock(&s->lock);
  return st;
}

/* -------------------------------------------------------------------------------------- explain */

tfsdk_status *tfsdk_session_explain(tfsdk_session *s, const tfsdk_val *fetches, size_t n_fetches,
                                    const tfsdk_val *feeds, tfsdk_tensor *const *feed_values,
                                    size_t n_feeds, char **out_text) {
  tfsdk__plan *p = NULL;
  tfsdk__buf text = {0};
  *out_text = NULL;
  tfsdk_typed_shape *types = tfsdk__zalloc(s->rt, (n_feeds + 1) * sizeof *types);
  if (types == NULL) return TFSDK__NOMEM(s->rt);
  pthread_mutex_lock(&s->lock);
  tfsdk_status *st = check_call(s, fetches, n_fetches, feeds, feed_values, n_feeds, types);
  if (st == NULL) st = tfsdk__plan_make(s, fetches, n_fetches, feeds, types, n_feeds, &p);
  if (st == NULL) tfsdk__plan_text(s, p, &text);
  pthread_mutex_unlock(&s->lock);
  tfsdk__plan_release(s->rt, p);
  tfsdk__free(s->rt, types);
  if (st == NULL && text.failed) st = TFSDK__NOMEM(s->rt);
  if (st != NULL)
    tfsdk__buf_deinit(&text);
  else
    *out_text = text.s;
  return st;
}
