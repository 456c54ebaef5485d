/* What there is to run: which nodes of the plan's graph are needed, what must come before what, and
 * with which kernels. Each node that runs begins as a unit of its own. */
#include "plan.h"

/* Inputs whose shape alone counts, and is known, need no value: nobody has to compute it. */
static bool shape_suffices(const tfsdk__work *w, const tfsdk__node *n, uint32_t i) {
  uint32_t a = tfsdk__op_arg_of(n->op, n->attrs, n->n_in, i);
  const tfsdk_typed_shape *t = tfsdk__work_type(w, n->in[i]);
  return (n->op->def.in[a].flags & TFSDK_ARG_SHAPE_ONLY) && tfsdk_shape_whole(&t->shape) &&
         tfsdk_shape_elements(&t->shape) >= 0 && t->dtype != TFSDK_RESOURCE;
}

bool tfsdk__work_reads(const tfsdk__work *w, const tfsdk__node *n, uint32_t i) {
  return n->in[i].id != 0 && !shape_suffices(w, n, i);
}

/* ------------------------------------------------------------------------- values that never change */

static void note_constant(tfsdk__work *w, const tfsdk__node *n) {
  bool folds = (w->s->passes & TFSDK__PASS_FOLD) != 0;
  if (n->n_control > 0) return; /* it has to run, for the sake of what it waits for */
  for (uint32_t o = 0; n->folded != NULL && folds && o < n->n_out; o++)
    w->fixed[w->first[n->id] + o] = n->folded[o];
  if (n->op->def.flags & TFSDK_OP_CONSTANT)
    for (uint32_t i = 0; i < n->attrs->n; i++)
      if (n->attrs->list[i].kind == TFSDK_ATTR_TENSOR)
        w->fixed[w->first[n->id]] = (tfsdk_tensor *)(uintptr_t)n->attrs->list[i].v.tensor;
}

/* A variable's handle is the same as long as the session lives. */
static tfsdk_status *make_handle(tfsdk__work *w, tfsdk__node *n) {
  tfsdk__bound bound;
  int32_t dtype = TFSDK_RESOURCE;
  if (n->folded == NULL) {
    n->folded = tfsdk__zalloc(w->rt, sizeof *n->folded);
    if (n->folded == NULL) return TFSDK__NOMEM(w->rt);
    TFSDK_TRY(tfsdk__bind(w->rt, n->op, n->attrs, NULL, 0, &dtype, 1, NULL,
                          tfsdk__device_host(w->rt), true, NULL, &bound));
    tfsdk__execution e = {&bound, n->attrs, n->name, NULL, 0, 1, &dtype, NULL, &w->s->cells, 0};
    tfsdk_status *s = tfsdk__execute(w->rt, &e, n->folded);
    tfsdk__bound_deinit(&bound);
    if (s != NULL) return s;
  }
  w->fixed[w->first[n->id]] = n->folded[0];
  return NULL;
}

static bool is_op(const tfsdk__node *n, const char *name) {
  return strcmp(n->op->def.name, name) == 0;
}

static tfsdk_status *find_fixed(tfsdk__work *w) {
  for (size_t i = 0; i < w->n; i++) {
    tfsdk__node *n = w->g->nodes.data[i];
    note_constant(w, n);
    if (!is_op(n, TFSDK__OP_VAR_HANDLE) || n->n_in > 0 || n->n_out != 1 || n->n_control > 0)
      continue;
    tfsdk_status *s = make_handle(w, n);
    if (s != NULL) {
      tfsdk__status_add(s, "node", "%s", n->name);
      if (n->where) tfsdk__status_add(s, "where", "%s", n->where);
      return s;
    }
  }
  return NULL;
}

static bool is_fixed(const tfsdk__work *w, const tfsdk__node *n) {
  for (uint32_t o = 0; o < n->n_out; o++)
    if (w->fixed[w->first[n->id] + o] == NULL) return false;
  return n->n_out > 0 && n->n_control == 0;
}

/* What has effects was copied because it must happen; the rest is needed for its values. */
static bool must_run(const tfsdk__node *n) {
  return (n->op->def.flags & (TFSDK_OP_STATEFUL | TFSDK_OP_EFFECT)) &&
         !is_op(n, TFSDK__OP_VAR_READ) && !is_op(n, TFSDK__OP_VAR_HANDLE);
}

static void find_needed(tfsdk__work *w) {
  for (size_t i = 0; i < w->p->n_fetches; i++) w->need[tfsdk__val_node(w->fetch[i])] = true;
  for (size_t i = 0; i < w->n; i++)
    if (must_run(w->g->nodes.data[i])) w->need[i] = true;
  for (size_t i = w->n; i-- > 0;) {
    const tfsdk__node *n = w->g->nodes.data[i];
    if (!w->need[i]) continue;
    if (is_fixed(w, n)) continue;
    for (uint32_t k = 0; k < n->n_in; k++)
      if (tfsdk__work_reads(w, n, k)) w->need[tfsdk__val_node(n->in[k])] = true;
    for (uint32_t k = 0; k < n->n_control; k++) w->need[n->control[k]] = true;
  }
}

/* ---------------------------------------------------------------------------------- order of state */

/* Nodes that touch the same variable keep the order of their making; nodes with other effects
 * keep theirs among each other and towards all state. */
typedef struct toucher {
  const void *key; /* the variable's cell, or what else tells handles apart */
  uint32_t node;
} toucher;

static tfsdk_status *add_edge(tfsdk__work *w, uint32_t from, uint32_t to) {
  if (from == to) return NULL;
  if (!TFSDK__GROW(w->rt, &w->edges, 1)) return TFSDK__NOMEM(w->rt);
  w->edges.data[w->edges.n++] = (tfsdk__edge){from, to};
  return NULL;
}

static const void *key_of(const tfsdk__work *w, tfsdk_val handle) {
  const tfsdk_tensor *t = w->fixed[tfsdk__work_value(w, handle)];
  return t != NULL ? (const void *)t->cell : (const void *)&w->first[tfsdk__val_node(handle)];
}

typedef TFSDK__VEC(toucher) toucher_list;

static tfsdk_status *touch(tfsdk__work *w, toucher_list *l, const void *key, uint32_t node) {
  for (size_t i = 0; i < l->n; i++)
    if (l->data[i].key == key) {
      TFSDK_TRY(add_edge(w, l->data[i].node, node));
      l->data[i].node = node;
      return NULL;
    }
  if (!TFSDK__GROW(w->rt, l, 1)) return TFSDK__NOMEM(w->rt);
  l->data[l->n++] = (toucher){key, node};
  return NULL;
}

static tfsdk_status *order_state(tfsdk__work *w) {
  toucher_list last = {0};
  uint32_t barrier = NO_SLOT;
  size_t since = 0; /* stateful nodes since the barrier, in `seen` */
  tfsdk_status *s = NULL;
  uint32_t *seen = tfsdk__alloc(w->rt, (w->n + 1) * sizeof *seen);
  if (seen == NULL) return TFSDK__NOMEM(w->rt);
  for (uint32_t i = 0; s == NULL && i < w->n; i++) {
    const tfsdk__node *n = w->g->nodes.data[i];
    if (!w->need[i] || !(n->op->def.flags & (TFSDK_OP_STATEFUL | TFSDK_OP_EFFECT)) ||
        is_fixed(w, n))
      continue;
    uint32_t handles = 0;
    for (uint32_t k = 0; s == NULL && k < n->n_in; k++)
      if (n->in[k].id != 0 && tfsdk__work_type(w, n->in[k])->dtype == TFSDK_RESOURCE) {
        s = touch(w, &last, key_of(w, n->in[k]), i);
        handles++;
      }
    if (s == NULL && barrier != NO_SLOT) s = add_edge(w, barrier, i);
    if (handles == 0 || (n->op->def.flags & TFSDK_OP_EFFECT)) {
      for (size_t k = 0; s == NULL && k < since; k++) s = add_edge(w, seen[k], i);
      barrier = i;
      since = 0;
    } else {
      seen[since++] = i;
    }
  }
  tfsdk__free(w->rt, last.data);
  tfsdk__free(w->rt, seen);
  return s;
}

/* By node: where the value that it shows was read from, as the reading node + 1; 0: not from a
 * variable. */
static uint32_t *find_reads(const tfsdk__work *w) {
  uint32_t *read = tfsdk__zalloc(w->rt, (w->n + 1) * sizeof *read);
  for (uint32_t i = 0; read != NULL && i < w->n; i++) {
    const tfsdk__node *n = w->g->nodes.data[i];
    if (is_op(n, TFSDK__OP_VAR_READ))
      read[i] = i + 1;
    else if ((n->op->def.flags & TFSDK_OP_VIEW) && n->n_in > 0 && n->in[0].id != 0)
      read[i] = read[tfsdk__val_node(n->in[0])];
  }
  return read;
}

/* Who uses a variable's present value should have done so before it changes: else the change has to
 * copy it first. Both come in the order of their making already, so this makes no circles. */
static tfsdk_status *readers_first(tfsdk__work *w) {
  toucher_list readers = {0}; /* key: the cell; node: one that uses its value */
  tfsdk_status *s = NULL;
  uint32_t *read = find_reads(w);
  if (read == NULL) return TFSDK__NOMEM(w->rt);
  for (uint32_t i = 0; s == NULL && i < w->n; i++) {
    const tfsdk__node *n = w->g->nodes.data[i];
    if (!w->need[i]) continue;
    bool writes = (n->op->def.flags & TFSDK_OP_STATEFUL) && !is_op(n, TFSDK__OP_VAR_READ);
    for (uint32_t k = 0; s == NULL && k < n->n_in; k++) {
      if (n->in[k].id == 0) continue;
      uint32_t from = read[tfsdk__val_node(n->in[k])];
      if (writes && tfsdk__work_type(w, n->in[k])->dtype == TFSDK_RESOURCE) {
        const void *key = key_of(w, n->in[k]);
        for (size_t j = 0; s == NULL && j < readers.n; j++)
          if (readers.data[j].key == key) s = add_edge(w, readers.data[j].node, i);
      } else if (from > 0 && tfsdk__work_reads(w, n, k)) {
        const tfsdk__node *r = w->g->nodes.data[from - 1];
        if (!TFSDK__GROW(w->rt, &readers, 1))
          s = TFSDK__NOMEM(w->rt);
        else
          readers.data[readers.n++] = (toucher){key_of(w, r->in[0]), i};
      }
    }
  }
  tfsdk__free(w->rt, read);
  tfsdk__free(w->rt, readers.data);
  return s;
}

/* Sorts the edges by the node that waits. */
static tfsdk_status *index_edges(tfsdk__work *w) {
  w->edge_first = tfsdk__zalloc(w->rt, (w->n + 2) * sizeof *w->edge_first);
  w->edge_from = tfsdk__alloc(w->rt, (w->edges.n + 1) * sizeof *w->edge_from);
  if (w->edge_first == NULL || w->edge_from == NULL) return TFSDK__NOMEM(w->rt);
  for (size_t i = 0; i < w->edges.n; i++) w->edge_first[w->edges.data[i].to + 1]++;
  for (size_t i = 0; i < w->n; i++) w->edge_first[i + 1] += w->edge_first[i];
  for (size_t i = 0; i < w->edges.n; i++) {
    uint32_t to = w->edges.data[i].to;
    w->edge_from[w->edge_first[to]++] = w->edges.data[i].from;
  }
  for (size_t i = w->n; i > 0; i--) w->edge_first[i] = w->edge_first[i - 1];
  w->edge_first[0] = 0;
  return NULL;
}

/* ----------------------------------------------------------------------------------------- kernels */

static tfsdk_status *place(tfsdk__work *w, const tfsdk__node *n, const int32_t *in_dtype,
                           const int32_t *out_dtype, const tfsdk_shape *in_shape,
                           tfsdk__bound *out) {
  tfsdk_session *s = w->s;
  tfsdk__device *d = s->device;
  tfsdk_status *st = NULL;
  char line[400];
  if (n->device != NULL) {
    st = tfsdk__device_find(s->rt, n->device, &d);
    if (st != NULL && s->soft) { /* it is not there: the node goes where the session's default is */
      snprintf(line, sizeof line, "node '%s' asks for '%s': %s; it runs on %s", n->name, n->device,
               tfsdk_status_message(st), s->device->name);
      tfsdk_runtime_log(s->rt, TFSDK_LOG_WARNING, line);
      tfsdk_status_release(st);
      st = NULL;
      d = s->device;
    }
  }
  if (st == NULL)
    st = tfsdk__bind(s->rt, n->op, n->attrs, in_dtype, n->n_in, out_dtype, n->n_out, in_shape, d,
                     s->soft || n->device == NULL, NULL, out);
  tfsdk__node *user = (tfsdk__node *)(uintptr_t)n->origin;
  if (st == NULL && out->fell_back && !atomic_exchange(&user->fallback_told, true)) {
    snprintf(line, sizeof line, "node '%s': %s has no kernel for %s of these types; it runs on %s",
             n->name, d->name, n->op->def.name, out->device->name);
    tfsdk_runtime_log(s->rt, TFSDK_LOG_INFO, line);
  }
  if (st == NULL && s->log_placement && out->device != NULL) {
    snprintf(line, sizeof line, "%s: (%s): %s", n->name, n->op->def.name, out->device->name);
    tfsdk_runtime_log(s->rt, TFSDK_LOG_WARNING, line);
  }
  return st;
}

static tfsdk_status *bind_node(tfsdk__work *w, const tfsdk__node *n) {
  struct {
    tfsdk_shape shape[8];
    int32_t dtype[32];
  } room;
  tfsdk_shape *shape = room.shape;
  int32_t *dtype = room.dtype;
  void *more = NULL;
  size_t n_dtypes = (size_t)n->n_in + n->n_out;
  bool whole = true;
  if (n_dtypes > 32 || n->n_in > 8) {
    more = tfsdk__alloc(w->rt, n->n_in * sizeof *shape + n_dtypes * sizeof *dtype);
    if (more == NULL) return TFSDK__NOMEM(w->rt);
    shape = more;
    dtype = (int32_t *)(shape + n->n_in);
  }
  for (uint32_t i = 0; i < n->n_in; i++) {
    static const tfsdk_typed_shape absent = {.shape.rank = -1};
    const tfsdk_typed_shape *t = n->in[i].id ? tfsdk__work_type(w, n->in[i]) : &absent;
    dtype[i] = t->dtype;
    shape[i] = t->shape;
    whole = whole && (n->in[i].id == 0 || tfsdk_shape_whole(&t->shape));
  }
  for (uint32_t o = 0; o < n->n_out; o++) dtype[n->n_in + o] = n->out[o].dtype;
  tfsdk_status *s = place(w, n, dtype, dtype + n->n_in, whole ? shape : NULL, &w->bound[n->id]);
  tfsdk__free(w->rt, more);
  if (s != NULL) {
    tfsdk__status_add(s, "op", "%s", n->op->def.name);
    tfsdk__status_add(s, "node", "%s", n->name);
    if (n->where) tfsdk__status_add(s, "where", "%s", n->where);
  }
  return s;
}

bool tfsdk__work_planned(const tfsdk__work *w, uint32_t node) {
  const tfsdk__node *n = w->g->nodes.data[node];
  const tfsdk__bound *b = &w->bound[node];
  if (b->kernel == NULL || b->open || !b->device->host_memory || is_op(n, TFSDK__OP_VAR_ASSIGN) ||
      (n->op->def.flags & TFSDK_OP_OWN_OUTPUTS))
    return false;
  for (uint32_t o = 0; o < n->n_out; o++)
    if (tfsdk_dtype_size(n->out[o].dtype) == 0 || n->out[o].dtype == TFSDK_RESOURCE ||
        !tfsdk_shape_whole(&n->out[o].shape) || tfsdk_shape_elements(&n->out[o].shape) < 0)
      return false;
  return true;
}

static tfsdk_status *make_units(tfsdk__work *w) {
  for (uint32_t i = 0; i < w->n; i++) {
    const tfsdk__node *n = w->g->nodes.data[i];
    w->unit[i] = NO_UNIT;
    bool nothing = n->n_out == 0 && !must_run(n) && !(n->op->def.flags & TFSDK_OP_RANDOM);
    if (!w->need[i] || is_fixed(w, n) || i < w->p->n_feeds || nothing) continue;
    TFSDK_TRY(bind_node(w, n));
    if (!TFSDK__GROW(w->rt, &w->units, 1)) return TFSDK__NOMEM(w->rt);
    tfsdk__unit *u = &w->units.data[w->units.n];
    memset(u, 0, sizeof *u);
    u->root = NO_SLOT;
    if (!TFSDK__GROW(w->rt, &u->member, 1)) return TFSDK__NOMEM(w->rt);
    u->member.data[u->member.n++] = i;
    w->unit[i] = (uint32_t)w->units.n++;
  }
  return NULL;
}

static bool allocate(tfsdk__work *w) {
  w->n = w->g->nodes.n;
  w->need = tfsdk__zalloc(w->rt, w->n + 1);
  w->bound = tfsdk__zalloc(w->rt, (w->n + 1) * sizeof *w->bound);
  w->first = tfsdk__alloc(w->rt, (w->n + 1) * sizeof *w->first);
  w->unit = tfsdk__alloc(w->rt, (w->n + 1) * sizeof *w->unit);
  if (w->first == NULL) return false;
  for (size_t i = 0; i < w->n; i++) {
    w->first[i] = w->n_values;
    w->n_values += w->g->nodes.data[i]->n_out;
  }
  w->fixed = tfsdk__zalloc(w->rt, (w->n_values + 1) * sizeof *w->fixed);
  return w->need && w->bound && w->unit && w->fixed;
}

tfsdk_status *tfsdk__plan_units(tfsdk__work *w) {
  if (!allocate(w)) return TFSDK__NOMEM(w->rt);
  TFSDK_TRY(find_fixed(w));
  find_needed(w);
  TFSDK_TRY(order_state(w));
  if (w->s->passes & TFSDK__PASS_SCHEDULE) TFSDK_TRY(readers_first(w));
  TFSDK_TRY(index_edges(w));
  TFSDK_TRY(make_units(w));
  if (w->s->passes & TFSDK__PASS_FUSE) TFSDK_TRY(tfsdk__pass_fuse(w));
  if (w->s->passes & TFSDK__PASS_EPILOGUE) TFSDK_TRY(tfsdk__pass_epilogue(w));
  if (w->s->passes & TFSDK__PASS_PROLOGUE) TFSDK_TRY(tfsdk__pass_prologue(w));
  return NULL;
}
