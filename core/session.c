/* Sessions: the values of a graph's variables, and plans for what is run again and again.
 *
 * A plan is made once for each combination of fetches, feeds, and the feeds' types and shapes: the
 * nodes that are needed, in order, with their kernels. Running it is a walk along that list. Passes
 * that rewrite the list and memory planning work on it before it is kept. */
#include "internal.h"

#define PLAN_LIMIT 64
#define NO_SLOT    UINT32_MAX

typedef struct step {
  tfsdk__node *node;
  tfsdk__bound bound;
  uint32_t *in;   /* slots; NO_SLOT: absent */
  uint32_t *last; /* slots nobody needs after this step */
  int32_t *out_dtype;
  uint32_t out; /* first output slot */
  uint32_t n_last, reuse;
} step;

struct tfsdk__plan {
  uint64_t hash, version, used;
  tfsdk_val *fetches, *feeds;
  tfsdk_typed_shape *feed_types;
  size_t n_fetches, n_feeds;
  TFSDK__VEC(step) steps;
  uint32_t *fetch_slot, *feed_slot;
  uint32_t n_slots;
  tfsdk_tensor **values; /* by slot, during a run */
};

struct tfsdk_session {
  atomic_size_t refs;
  tfsdk_graph *graph;
  tfsdk_runtime *rt;
  pthread_mutex_t lock;
  tfsdk__device *device;
  bool soft, log_placement, closed, has_seed;
  int64_t seed;
  uint64_t salt, clock;
  tfsdk__cells cells;
  TFSDK__VEC(tfsdk__plan *) plans;
  tfsdk__stream_state **streams; /* by node id; made on demand */
  size_t n_streams;
  int64_t streams_seed; /* the graph's seed that they come from */
  bool streams_has_seed;
};

tfsdk_status *tfsdk_session_create(tfsdk_graph *g, const tfsdk_session_options *options,
                                   tfsdk_session **out) {
  tfsdk_runtime *rt = g->ctx.rt;
  tfsdk_session_options o = {0};
  tfsdk__device *d = tfsdk__device_host(rt);
  *out = NULL;
  if (options != NULL)
    TFSDK_TRY(tfsdk__take(&o, sizeof o, options, options->struct_size, "tfsdk_session_options"));
  if (o.device != NULL) TFSDK_TRY(tfsdk__device_find(rt, o.device, &d));
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
  s->seed = o.seed;
  s->has_seed = o.seed != 0;
  s->salt = tfsdk__random_salt();
  tfsdk__runtime_retain(rt);
  *out = s;
  return NULL;
}

static void plan_release(tfsdk_runtime *rt, tfsdk__plan *p) {
  if (p == NULL) return;
  for (size_t i = 0; i < p->steps.n; i++) {
    step *t = &p->steps.data[i];
    tfsdk__bound_deinit(&t->bound);
    tfsdk__free(rt, t->in);
    tfsdk__free(rt, t->last);
    tfsdk__free(rt, t->out_dtype);
  }
  tfsdk__free(rt, p->steps.data);
  tfsdk__free(rt, p->fetches);
  tfsdk__free(rt, p->feeds);
  tfsdk__free(rt, p->feed_types);
  tfsdk__free(rt, p->fetch_slot);
  tfsdk__free(rt, p->feed_slot);
  tfsdk__free(rt, p->values);
  tfsdk__free(rt, p);
}

void tfsdk_session_close(tfsdk_session *s) {
  pthread_mutex_lock(&s->lock);
  if (!s->closed) {
    s->closed = true;
    for (size_t i = 0; i < s->plans.n; i++) plan_release(s->rt, s->plans.data[i]);
    tfsdk__free(s->rt, s->plans.data);
    for (size_t i = 0; i < s->n_streams; i++) tfsdk__free(s->rt, s->streams[i]);
    tfsdk__free(s->rt, s->streams);
    tfsdk__cells_deinit(s->rt, &s->cells);
  }
  pthread_mutex_unlock(&s->lock);
}

void tfsdk_session_release_memory(tfsdk_session *s) {
  pthread_mutex_lock(&s->lock);
  for (size_t i = 0; i < s->plans.n; i++) plan_release(s->rt, s->plans.data[i]);
  s->plans.n = 0;
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

/* -------------------------------------------------------------------------------- making a plan */

typedef struct maker {
  tfsdk_session *s;
  tfsdk__plan *p;
  unsigned char *need; /* by node */
  uint32_t *slot;      /* by node: slot of its output 0; outputs follow */
  uint32_t *last_use;  /* by slot: 1 + the step that reads it last */
  tfsdk__buf *why;
} maker;

static uint32_t feed_of(const tfsdk__plan *p, tfsdk_val v) {
  for (size_t i = 0; i < p->n_feeds; i++)
    if (p->feeds[i].id == v.id) return p->feed_slot[i];
  return NO_SLOT;
}

static void mark(maker *m) {
  tfsdk_graph *g = m->s->graph;
  for (size_t i = 0; i < m->p->n_fetches; i++)
    if (feed_of(m->p, m->p->fetches[i]) == NO_SLOT) m->need[tfsdk__val_node(m->p->fetches[i])] = 1;
  for (size_t i = g->nodes.n; i-- > 0;) {
    const tfsdk__node *n = g->nodes.data[i];
    if (!m->need[i]) continue;
    for (uint32_t k = 0; k < n->n_in; k++)
      if (n->in[k].id != 0 && feed_of(m->p, n->in[k]) == NO_SLOT)
        m->need[tfsdk__val_node(n->in[k])] = 1;
    for (uint32_t k = 0; k < n->n_control; k++) m->need[n->control[k]] = 1;
  }
}

static uint32_t slot_of(const maker *m, tfsdk_val v) {
  uint32_t fed = feed_of(m->p, v);
  return v.id == 0        ? NO_SLOT
         : fed != NO_SLOT ? fed
                          : m->slot[tfsdk__val_node(v)] + tfsdk__val_index(v);
}

static tfsdk_status *place(maker *m, step *t, int32_t *in_dtype) {
  tfsdk_session *s = m->s;
  tfsdk__node *n = t->node;
  tfsdk__device *d = s->device;
  bool soft = s->soft;
  tfsdk_status *st = NULL;
  if (n->device != NULL) {
    st = tfsdk__device_find(s->rt, n->device, &d);
    if (st != NULL &&
        soft) { /* the device is not there: the node goes where the session's default is */
      char line[400];
      snprintf(line, sizeof line, "node '%s' asks for '%s': %s; it runs on %s", n->name, n->device,
               tfsdk_status_message(st), s->device->name);
      tfsdk_runtime_log(s->rt, TFSDK_LOG_WARNING, line);
      tfsdk_status_release(st);
      st = NULL;
      d = s->device;
    }
  }
  if (st == NULL)
    st = tfsdk__bind(s->rt, n->op, n->attrs, in_dtype, n->n_in, t->out_dtype, n->n_out, d,
                     soft || n->device == NULL, m->why, &t->bound);
  if (st == NULL && t->bound.fell_back && !atomic_exchange(&n->fallback_told, true)) {
    char line[400];
    snprintf(line, sizeof line, "node '%s': %s has no kernel for %s of these types; it runs on %s",
             n->name, d->name, n->op->def.name, t->bound.device->name);
    tfsdk_runtime_log(s->rt, TFSDK_LOG_INFO, line);
  }
  if (st == NULL && s->log_placement && t->bound.device != NULL) {
    char line[400];
    snprintf(line, sizeof line, "%s: (%s): %s", n->name, n->op->def.name, t->bound.device->name);
    tfsdk_runtime_log(s->rt, TFSDK_LOG_WARNING, line);
  }
  return st;
}

static tfsdk_status *add_step(maker *m, tfsdk__node *n) {
  tfsdk_runtime *rt = m->s->rt;
  if (!TFSDK__GROW(rt, &m->p->steps, 1)) return TFSDK__NOMEM(rt);
  step *t = &m->p->steps.data[m->p->steps.n];
  memset(t, 0, sizeof *t);
  t->node = n;
  m->p->steps.n++;
  t->in = tfsdk__alloc(rt, (n->n_in + 1) * sizeof *t->in);
  t->out_dtype = tfsdk__alloc(rt, (n->n_out + 1) * sizeof *t->out_dtype);
  int32_t *in_dtype = tfsdk__zalloc(rt, (n->n_in + 1) * sizeof *in_dtype);
  tfsdk_status *s = t->in && t->out_dtype && in_dtype ? NULL : TFSDK__NOMEM(rt);
  for (uint32_t i = 0; s == NULL && i < n->n_in; i++) {
    t->in[i] = slot_of(m, n->in[i]);
    if (n->in[i].id != 0)
      in_dtype[i] =
          m->s->graph->nodes.data[tfsdk__val_node(n->in[i])]->out[tfsdk__val_index(n->in[i])].dtype;
    if (t->in[i] != NO_SLOT) m->last_use[t->in[i]] = (uint32_t)m->p->steps.n;
  }
  for (uint32_t o = 0; s == NULL && o < n->n_out; o++) t->out_dtype[o] = n->out[o].dtype;
  t->out = m->slot[n->id];
  if (s == NULL) s = place(m, t, in_dtype);
  tfsdk__free(rt, in_dtype);
  if (s != NULL) {
    tfsdk__status_add(s, "op", "%s", n->op->def.name);
    tfsdk__status_add(s, "node", "%s", n->name);
    if (n->where) tfsdk__status_add(s, "where", "%s", n->where);
  }
  return s;
}

/* Slots are freed after their last reader; what nobody reads goes at once. */
static tfsdk_status *plan_lifetimes(maker *m) {
  tfsdk_runtime *rt = m->s->rt;
  tfsdk__plan *p = m->p;
  uint32_t *count = tfsdk__zalloc(rt, (p->steps.n + 1) * sizeof *count);
  if (count == NULL) return TFSDK__NOMEM(rt);
  for (size_t i = 0; i < p->n_fetches; i++)
    if (p->fetch_slot[i] != NO_SLOT) m->last_use[p->fetch_slot[i]] = NO_SLOT;
  for (size_t i = 0; i < p->n_feeds; i++)
    m->last_use[p->feed_slot[i]] = NO_SLOT; /* the caller's own */
  for (size_t i = 0; i < p->steps.n; i++)
    for (uint32_t o = 0; o < p->steps.data[i].node->n_out; o++) {
      uint32_t *last = &m->last_use[p->steps.data[i].out + o];
      if (*last == 0) *last = (uint32_t)i + 1;
    }
  for (uint32_t k = 0; k < p->n_slots; k++)
    if (m->last_use[k] != NO_SLOT && m->last_use[k] > 0) count[m->last_use[k] - 1]++;
  tfsdk_status *s = NULL;
  for (size_t i = 0; s == NULL && i < p->steps.n; i++) {
    p->steps.data[i].last = tfsdk__alloc(rt, (count[i] + 1) * sizeof(uint32_t));
    if (p->steps.data[i].last == NULL) s = TFSDK__NOMEM(rt);
  }
  for (uint32_t k = 0; s == NULL && k < p->n_slots; k++)
    if (m->last_use[k] != NO_SLOT && m->last_use[k] > 0) {
      step *t = &p->steps.data[m->last_use[k] - 1];
      t->last[t->n_last++] = k;
      for (uint32_t i = 0; i < t->node->n_in && i < 32; i++) {
        uint32_t uses = 0;
        for (uint32_t j = 0; j < t->node->n_in; j++) uses += t->in[j] == k;
        if (t->in[i] == k && uses == 1) t->reuse |= 1u << i;
      }
    }
  tfsdk__free(rt, count);
  return s;
}

static tfsdk_status *fill_plan(maker *m) {
  tfsdk_graph *g = m->s->graph;
  tfsdk_runtime *rt = m->s->rt;
  tfsdk__plan *p = m->p;
  size_t n = g->nodes.n;
  for (size_t i = 0; i < p->n_feeds; i++) p->feed_slot[i] = p->n_slots++;
  mark(m);
  for (size_t i = 0; i < n; i++) {
    if (!m->need[i]) continue;
    m->slot[i] = p->n_slots;
    p->n_slots += g->nodes.data[i]->n_out;
  }
  m->last_use = tfsdk__zalloc(rt, (p->n_slots + 1) * sizeof *m->last_use);
  p->values = tfsdk__zalloc(rt, (p->n_slots + 1) * sizeof *p->values);
  if (m->last_use == NULL || p->values == NULL) return TFSDK__NOMEM(rt);
  for (size_t i = 0; i < n; i++)
    if (m->need[i]) TFSDK_TRY(add_step(m, g->nodes.data[i]));
  for (size_t i = 0; i < p->n_fetches; i++) {
    const tfsdk__node *f = g->nodes.data[tfsdk__val_node(p->fetches[i])];
    p->fetch_slot[i] = f->n_out == 0 ? NO_SLOT : slot_of(m, p->fetches[i]);
  }
  return plan_lifetimes(m);
}

static tfsdk_status *make_plan(tfsdk_session *s, const tfsdk_val *fetches, size_t n_fetches,
                               const tfsdk_val *feeds, const tfsdk_typed_shape *types,
                               size_t n_feeds, tfsdk__buf *why, tfsdk__plan **out) {
  tfsdk_runtime *rt = s->rt;
  maker m = {s, tfsdk__zalloc(rt, sizeof *m.p), NULL, NULL, NULL, why};
  tfsdk__plan *p = m.p;
  tfsdk_status *st = TFSDK__NOMEM(rt);
  size_t n = s->graph->nodes.n;
  if (p == NULL) return st;
  p->fetches = tfsdk__alloc(rt, (n_fetches + 1) * sizeof *p->fetches);
  p->feeds = tfsdk__alloc(rt, (n_feeds + 1) * sizeof *p->feeds);
  p->feed_types = tfsdk__alloc(rt, (n_feeds + 1) * sizeof *p->feed_types);
  p->fetch_slot = tfsdk__zalloc(rt, (n_fetches + 1) * sizeof *p->fetch_slot);
  p->feed_slot = tfsdk__zalloc(rt, (n_feeds + 1) * sizeof *p->feed_slot);
  m.need = tfsdk__zalloc(rt, n + 1);
  m.slot = tfsdk__zalloc(rt, (n + 1) * sizeof *m.slot);
  if (p->fetches && p->feeds && p->feed_types && p->fetch_slot && p->feed_slot && m.need &&
      m.slot) {
    if (n_fetches) memcpy(p->fetches, fetches, n_fetches * sizeof *fetches);
    if (n_feeds) {
      memcpy(p->feeds, feeds, n_feeds * sizeof *feeds);
      memcpy(p->feed_types, types, n_feeds * sizeof *types);
    }
    p->n_fetches = n_fetches;
    p->n_feeds = n_feeds;
    p->version = s->graph->version;
    st = fill_plan(&m);
  }
  tfsdk__free(rt, m.need);
  tfsdk__free(rt, m.slot);
  tfsdk__free(rt, m.last_use);
  if (st != NULL)
    plan_release(rt, p);
  else
    *out = p;
  return st;
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
  TFSDK_TRY(make_plan(s, fetches, n_fetches, feeds, types, n_feeds, NULL, &p));
  p->hash = h;
  size_t at = s->plans.n;
  if (at >= PLAN_LIMIT) { /* the one unused for longest goes */
    at = 0;
    for (size_t i = 1; i < s->plans.n; i++)
      if (s->plans.data[i]->used < s->plans.data[at]->used) at = i;
    plan_release(s->rt, s->plans.data[at]);
  } else if (!TFSDK__GROW(s->rt, &s->plans, 1)) {
    plan_release(s->rt, p);
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

static tfsdk_status *stream_of(tfsdk_session *s, const tfsdk__node *n, tfsdk__stream_state **out) {
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

static tfsdk_status *run_step(tfsdk_session *s, tfsdk__plan *p, step *t) {
  tfsdk_tensor *in_room[16], **in = in_room, *out_room[8], **out = out_room;
  tfsdk__node *n = t->node;
  tfsdk__stream_state *random = NULL;
  tfsdk_status *st = NULL;
  if (n->n_in > 16 && (in = tfsdk__alloc(s->rt, n->n_in * sizeof *in)) == NULL)
    return TFSDK__NOMEM(s->rt);
  if (n->n_out > 8 && (out = tfsdk__alloc(s->rt, n->n_out * sizeof *out)) == NULL)
    st = TFSDK__NOMEM(s->rt);
  for (uint32_t i = 0; i < n->n_in; i++) in[i] = t->in[i] == NO_SLOT ? NULL : p->values[t->in[i]];
  if (st == NULL && n->op->def.flags & TFSDK_OP_RANDOM) st = stream_of(s, n, &random);
  if (st == NULL) {
    tfsdk__execution e = {&t->bound,    n->attrs, n->name, in,        n->n_in, n->n_out,
                          t->out_dtype, NULL,     random,  &s->cells, t->reuse};
    st = tfsdk__execute(s->rt, &e, out);
    if (st != NULL && n->where != NULL) tfsdk__status_add(st, "where", "%s", n->where);
  }
  for (uint32_t o = 0; st == NULL && o < n->n_out; o++) p->values[t->out + o] = out[o];
  if (in != in_room) tfsdk__free(s->rt, in);
  if (out != out_room) tfsdk__free(s->rt, out);
  for (uint32_t i = 0; st == NULL && i < t->n_last; i++) {
    tfsdk_tensor_release(p->values[t->last[i]]);
    p->values[t->last[i]] = NULL;
  }
  return st;
}

static tfsdk_status *run_plan(tfsdk_session *s, tfsdk__plan *p, tfsdk_tensor *const *feed_values,
                              tfsdk_tensor **out) {
  tfsdk_status *st = NULL;
  p->used = ++s->clock;
  for (size_t i = 0; i < p->n_feeds; i++)
    p->values[p->feed_slot[i]] = tfsdk_tensor_retain(feed_values[i]);
  for (size_t i = 0; st == NULL && i < p->steps.n; i++) st = run_step(s, p, &p->steps.data[i]);
  for (size_t i = 0; st == NULL && i < p->n_fetches; i++)
    if (p->fetch_slot[i] != NO_SLOT)
      st = tfsdk__tensor_on(p->values[p->fetch_slot[i]], tfsdk__device_host(s->rt), &out[i]);
  for (uint32_t k = 0; k < p->n_slots; k++) {
    tfsdk_tensor_release(p->values[k]);
    p->values[k] = NULL;
  }
  if (st != NULL)
    for (size_t i = 0; i < p->n_fetches; i++) {
      tfsdk_tensor_release(out[i]);
      out[i] = NULL;
    }
  return st;
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

tfsdk_status *tfsdk_session_run(tfsdk_session *s, const tfsdk_val *fetches, size_t n_fetches,
                                const tfsdk_val *feeds, tfsdk_tensor *const *feed_values,
                                size_t n_feeds, tfsdk_tensor **out) {
  tfsdk_typed_shape room[8], *types = room;
  tfsdk__plan *p = NULL;
  for (size_t i = 0; i < n_fetches; i++) out[i] = NULL;
  if (n_feeds > 8 && (types = tfsdk__alloc(s->rt, n_feeds * sizeof *types)) == NULL)
    return TFSDK__NOMEM(s->rt);
  pthread_mutex_lock(&s->lock);
  tfsdk_status *st = check_call(s, fetches, n_fetches, feeds, feed_values, n_feeds, types);
  if (st == NULL) st = find_plan(s, fetches, n_fetches, feeds, types, n_feeds, &p);
  if (st == NULL) st = run_plan(s, p, feed_values, out);
  pthread_mutex_unlock(&s->lock);
  if (types != room) tfsdk__free(s->rt, types);
  return st;
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
  if (st == NULL) st = make_plan(s, fetches, n_fetches, feeds, types, n_feeds, NULL, &p);
  if (st == NULL) tfsdk__buf_add(&text, "plan: %zu of %zu nodes\n", p->steps.n, s->graph->nodes.n);
  for (size_t i = 0; st == NULL && i < p->steps.n; i++) {
    step *t = &p->steps.data[i];
    tfsdk__buf_add(&text, "%4zu  %s (%s)", i + 1, t->node->name, t->node->op->def.name);
    for (uint32_t o = 0; o < t->node->n_out; o++)
      tfsdk__buf_add(&text, " %s%s", tfsdk_dtype_name(t->node->out[o].dtype),
                     tfsdk_shape_text(&t->node->out[o].shape).s);
    if (t->bound.kernel == NULL)
      tfsdk__buf_add(&text, "  no kernel needed\n");
    else {
      const tfsdk__kernel *k = t->bound.kernel;
      tfsdk__buf_add(&text, "  on %s: kernel %s of %s\n", t->bound.device->name, k->def.label,
                     k->plugin ? k->plugin->manifest.name : t->node->op->plugin->manifest.name);
      int32_t *in_dtype = tfsdk__zalloc(s->rt, (t->node->n_in + 1) * sizeof *in_dtype);
      tfsdk__bound again;
      for (uint32_t j = 0; in_dtype != NULL && j < t->node->n_in; j++)
        if (t->node->in[j].id != 0)
          in_dtype[j] = s->graph->nodes.data[tfsdk__val_node(t->node->in[j])]
                            ->out[tfsdk__val_index(t->node->in[j])]
                            .dtype;
      if (in_dtype != NULL) {
        tfsdk_status *ignored =
            tfsdk__bind(s->rt, t->node->op, t->node->attrs, in_dtype, t->node->n_in, t->out_dtype,
                        t->node->n_out, t->bound.device, false, &text, &again);
        if (ignored == NULL) tfsdk__bound_deinit(&again);
        tfsdk_status_release(ignored);
        tfsdk__free(s->rt, in_dtype);
      }
    }
  }
  pthread_mutex_unlock(&s->lock);
  plan_release(s->rt, p);
  tfsdk__free(s->rt, types);
  if (st == NULL && text.failed) st = TFSDK__NOMEM(s->rt);
  if (st != NULL)
    tfsdk__buf_deinit(&text);
  else
    *out_text = text.s;
  return st;
}
