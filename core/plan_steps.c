/* The steps of a plan: for each unit, in order, all that its call needs. */
#include "plan.h"

#define FETCH_BYTES (1 << 20) /* what is smaller may be in the cache still */

static const tfsdk__node *node_at(const tfsdk__work *w, uint32_t id) {
  return w->g->nodes.data[id];
}

static void fill_fixed_view(tfsdk__slot *s) {
  if (s->tensor->dtype != TFSDK_RESOURCE) tfsdk__tensor_fill_view(s->tensor, &s->view);
}

/* Constants, handles, and what is only shown under another shape. */
static tfsdk_status *fill_slots(tfsdk__work *w) {
  tfsdk__plan *p = w->p;
  for (uint32_t id = 0; id < w->n; id++) {
    const tfsdk__node *n = node_at(w, id);
    for (uint32_t o = 0; o < n->n_out; o++) {
      uint32_t i = w->first[id] + o;
      tfsdk__slot *s = &p->slot[i];
      const tfsdk_shape *shape = &n->out[o].shape;
      s->view.dtype = n->out[o].dtype;
      if (tfsdk_shape_whole(shape)) {
        s->view.dim = shape->dim;
        s->view.rank = (uint16_t)shape->rank;
        s->view.n_elem = tfsdk_shape_elements(shape);
        s->view.byte_size = (uint64_t)s->view.n_elem * tfsdk_dtype_size(n->out[o].dtype);
      }
      if (s->place != TFSDK__PLACE_FIXED) continue;
      if (s->root == i)
        s->tensor = tfsdk_tensor_retain(w->fixed[i]);
      else /* made in order: the root has its tensor already */
        TFSDK_TRY(tfsdk__tensor_alias(p->slot[s->root].tensor, (uint32_t)shape->rank, shape->dim,
                                      &s->tensor));
      fill_fixed_view(s);
      p->n_fixed++;
    }
  }
  return NULL;
}

/* A slot that tells a shape and nothing else. */
static tfsdk_status *ghost_slot(tfsdk__work *w, const tfsdk_typed_shape *t, uint32_t *out) {
  tfsdk__plan *p = w->p;
  tfsdk__slot *more = tfsdk__realloc(w->rt, p->slot, (p->n_slots + 1u) * sizeof *more);
  if (more == NULL) return TFSDK__NOMEM(w->rt);
  p->slot = more;
  tfsdk__slot *s = &more[p->n_slots];
  memset(s, 0, sizeof *s);
  s->root = p->n_slots;
  s->place = TFSDK__PLACE_FIXED;
  s->tensor = tfsdk__shape_only(w->rt, t);
  if (s->tensor == NULL) return TFSDK__NOMEM(w->rt);
  fill_fixed_view(s);
  *out = p->n_slots++;
  return NULL;
}

static tfsdk_status *fill_io(tfsdk__work *w, tfsdk__step *t, const tfsdk__node *n) {
  t->n_in = n->n_in;
  t->n_out = n->n_out;
  t->in = tfsdk__alloc(w->rt, (n->n_in + 1) * sizeof *t->in);
  t->out = tfsdk__alloc(w->rt, (n->n_out + 1) * sizeof *t->out);
  if (t->in == NULL || t->out == NULL) return TFSDK__NOMEM(w->rt);
  for (uint32_t k = 0; k < n->n_in; k++) {
    t->in[k] = NO_SLOT;
    if (n->in[k].id == 0) continue;
    if (tfsdk__work_reads(w, n, k))
      t->in[k] = tfsdk__work_value(w, n->in[k]);
    else
      TFSDK_TRY(ghost_slot(w, tfsdk__work_type(w, n->in[k]), &t->in[k]));
  }
  for (uint32_t o = 0; o < n->n_out; o++) t->out[o] = w->first[n->id] + o;
  return NULL;
}

/* ------------------------------------------------------------------------------------------ groups */

typedef struct grouper {
  tfsdk__work *w;
  tfsdk__step *t;
  const tfsdk__unit *u;
  tfsdk__group *g;
  uint32_t n_scratch, size;
  uint32_t last[TFSDK__GROUP_MEMBERS]; /* by member: the last member that reads its result */
  uint16_t scratch[TFSDK__GROUP_MEMBERS];
  bool streamed[TFSDK__GROUP_MEMBERS];
} grouper;

static uint32_t member_of(const grouper *q, uint32_t node) {
  for (uint32_t i = 0; i < q->u->member.n; i++)
    if (q->u->member.data[i] == node) return i;
  return NO_SLOT;
}

static uint16_t tensor_of(grouper *q, uint32_t slot) {
  for (uint16_t i = 0; i < q->g->n_tensors; i++)
    if (q->t->group_slot[i] == slot) return i;
  q->t->group_slot[q->g->n_tensors] = slot;
  return (uint16_t)q->g->n_tensors++;
}

/* Room for the operand's tensor; the buffers come behind those of the members (fill_members). */
static void spread_out(grouper *q, tfsdk__operand *o) {
  tfsdk__group *g = q->g;
  if (o->size > q->size) q->size = o->size;
  for (uint32_t i = 0; i < g->n_spread; i++)
    if (g->spread[i].at == o->at) {
      o->spread = (uint16_t)i;
      return;
    }
  o->spread = (uint16_t)g->n_spread;
  g->spread[g->n_spread++] = *o;
}

/* Is it what the reduction behind the group reads? */
static bool supplied(const grouper *q, uint32_t slot) {
  return q->u->supplies && tfsdk__work_value(q->w, node_at(q->w, q->u->root)->in[0]) == slot;
}

static void fill_operand(grouper *q, tfsdk_val v, const tfsdk_shape *domain, bool read,
                         tfsdk__operand *out) {
  const tfsdk__work *w = q->w;
  const tfsdk_typed_shape *type = tfsdk__work_type(w, v);
  uint32_t slot = tfsdk__work_value(w, v), m = member_of(q, tfsdk__val_node(v));
  int64_t ignored;
  out->dtype = type->dtype;
  out->size = (uint8_t)tfsdk_dtype_size(type->dtype);
  if (!read) {
    out->kind = TFSDK__OPERAND_SHAPE;
    return;
  }
  if (m != NO_SLOT && (w->p->slot[slot].place == TFSDK__PLACE_NONE || q->streamed[m])) {
    out->kind = supplied(q, slot) ? TFSDK__OPERAND_SUPPLY : TFSDK__OPERAND_SCRATCH;
    out->at = q->scratch[m];
    return;
  }
  out->kind = (uint8_t)tfsdk__operand_kind(domain, &type->shape, &ignored);
  out->at = tensor_of(q, slot);
  if (out->kind == TFSDK__OPERAND_ROW || out->kind == TFSDK__OPERAND_COLUMN) spread_out(q, out);
}

static void find_last_readers(grouper *q) {
  for (uint32_t i = 0; i < q->u->member.n; i++) {
    const tfsdk__node *n = node_at(q->w, q->u->member.data[i]);
    q->last[i] = i;
    for (uint32_t k = 0; k < n->n_in; k++) {
      if (!tfsdk__work_reads(q->w, n, k)) continue;
      uint32_t m = member_of(q, tfsdk__val_node(n->in[k]));
      if (m != NO_SLOT) q->last[m] = i;
    }
  }
}

static void take_scratch(grouper *q, uint32_t i, bool *busy) {
  uint16_t s = 0;
  while (s < TFSDK__GROUP_SCRATCH && busy[s]) s++;
  busy[s] = true;
  q->scratch[i] = s;
  if (s + 1u > q->n_scratch) q->n_scratch = s + 1u;
}

/* Is the member's result large, and its place none that the group reads and so has in the cache? */
static bool streams(const grouper *q, uint32_t slot) {
  const tfsdk__plan *p = q->w->p;
  const tfsdk__slot *s = &p->slot[slot];
  if (q->u->root != NO_SLOT || s->view.byte_size < TFSDK__STREAM_BYTES) return false;
  for (uint32_t i = 0; i < q->u->member.n; i++) {
    const tfsdk__node *n = node_at(q->w, q->u->member.data[i]);
    for (uint32_t k = 0; k < n->n_in; k++) {
      uint32_t in = tfsdk__work_reads(q->w, n, k) ? tfsdk__work_value(q->w, n->in[k]) : slot;
      if (in != slot && s->place == TFSDK__PLACE_ARENA && p->slot[in].place == s->place &&
          p->slot[in].offset == s->offset)
        return false;
    }
  }
  return true;
}

static void fill_members(grouper *q) {
  const tfsdk__work *w = q->w;
  bool busy[TFSDK__GROUP_SCRATCH + 1] = {false};
  const tfsdk_shape *domain = &node_at(w, q->u->member.data[0])->out[0].shape;
  find_last_readers(q);
  for (uint32_t i = 0; i < q->u->member.n; i++) {
    const tfsdk__node *n = node_at(w, q->u->member.data[i]);
    tfsdk__bound *b = &q->t->member_bound[i];
    tfsdk__member *m = &q->g->member[i];
    uint32_t slot = w->first[n->id];
    *b = w->bound[n->id];
    memset(&w->bound[n->id], 0, sizeof *b); /* the step owns it */
    m->kernel = &b->kernel->def;
    m->state = b->state;
    m->host = b->kernel->plugin ? &b->kernel->plugin->host : &n->op->plugin->host;
    m->op = &n->op->def;
    m->name = n->name;
    m->attr = tfsdk__attrlist_view(n->attrs);
    m->device = b->device->driver != NULL ? b->device->dev : NULL;
    m->n_in = n->n_in;
    for (uint32_t k = 0; k < n->n_in; k++) {
      fill_operand(q, n->in[k], domain, tfsdk__work_reads(w, n, k), &m->in[k]);
      if (m->in[k].kind == TFSDK__OPERAND_SCRATCH && m->in[k].size > q->size)
        q->size = m->in[k].size;
    }
    m->out.dtype = n->out[0].dtype;
    m->out.size = (uint8_t)tfsdk_dtype_size(n->out[0].dtype);
    if (w->p->slot[slot].place == TFSDK__PLACE_NONE && supplied(q, slot)) {
      m->out.kind = TFSDK__OPERAND_SUPPLY;
    } else if (w->p->slot[slot].place == TFSDK__PLACE_NONE || streams(q, slot)) {
      if (w->p->slot[slot].place != TFSDK__PLACE_NONE) {
        m->stream = (uint16_t)(tensor_of(q, slot) + 1);
        q->g->streams = q->streamed[i] = true;
      }
      take_scratch(q, i, busy);
      m->out.kind = TFSDK__OPERAND_SCRATCH;
      m->out.at = q->scratch[i];
      if (m->out.size > q->size) q->size = m->out.size;
    } else {
      m->out.kind = TFSDK__OPERAND_WHOLE;
      m->out.at = tensor_of(q, slot);
    }
    if (supplied(q, slot)) q->g->supply = &m->out;
    for (uint32_t k = 0; k < i; k++) /* whose last reader was this member */
      if (q->last[k] == i && q->g->member[k].out.kind == TFSDK__OPERAND_SCRATCH)
        busy[q->scratch[k]] = false;
    if (q->last[i] == i && m->out.kind == TFSDK__OPERAND_SCRATCH) busy[q->scratch[i]] = false;
  }
}

/* Once it is known how many buffers the members need. */
static void number_spread(grouper *q) {
  tfsdk__group *g = q->g;
  for (uint32_t i = 0; i < g->n_spread; i++)
    g->spread[i].spread = (uint16_t)(g->spread[i].spread + q->n_scratch);
  for (uint32_t i = 0; i < g->n_members; i++)
    for (uint32_t k = 0; k < g->member[i].n_in; k++)
      g->member[i].in[k].spread = (uint16_t)(g->member[i].in[k].spread + q->n_scratch);
}

/* What is so large that it is in no cache when the group runs. */
static void note_fetches(grouper *q) {
  tfsdk__group *g = q->g;
  for (uint32_t i = 0; i < g->n_members; i++)
    for (uint32_t k = 0; k < g->member[i].n_in; k++) {
      const tfsdk__operand *o = &g->member[i].in[k];
      uint32_t j = 0;
      if (o->kind != TFSDK__OPERAND_WHOLE || g->rows * g->cols * o->size < FETCH_BYTES) continue;
      while (j < i &&
             (g->member[j].out.kind != TFSDK__OPERAND_WHOLE || g->member[j].out.at != o->at))
        j++;
      if (j < i) continue; /* another member makes it */
      for (j = 0; j < g->n_fetch && g->fetch[j].at != o->at; j++)
        ;
      if (j == g->n_fetch) g->fetch[g->n_fetch++] = *o;
    }
}

static tfsdk_status *fill_group(tfsdk__work *w, tfsdk__step *t, const tfsdk__unit *u) {
  size_t n = u->member.n, most = 0;
  grouper q = {.w = w, .t = t, .u = u};
  const tfsdk_shape *domain = &node_at(w, u->member.data[0])->out[0].shape;
  for (size_t i = 0; i < n; i++) most += node_at(w, u->member.data[i])->n_in + 1u;
  tfsdk__group *g = q.g = t->group = tfsdk__zalloc(w->rt, sizeof *g);
  if (g == NULL) return TFSDK__NOMEM(w->rt);
  g->member = tfsdk__zalloc(w->rt, n * sizeof *g->member);
  g->data = tfsdk__zalloc(w->rt, most * sizeof *g->data);
  g->spread = tfsdk__zalloc(w->rt, most * sizeof *g->spread);
  g->fetch = tfsdk__zalloc(w->rt, most * sizeof *g->fetch);
  g->error = tfsdk__zalloc(w->rt, sizeof *g->error);
  t->group_slot = tfsdk__alloc(w->rt, most * sizeof *t->group_slot);
  t->member_bound = tfsdk__zalloc(w->rt, n * sizeof *t->member_bound);
  if (!g->member || !g->data || !g->spread || !g->fetch || !g->error || !t->group_slot ||
      !t->member_bound)
    return TFSDK__NOMEM(w->rt);
  int64_t elements = tfsdk_shape_elements(domain);
  g->row_length = domain->rank > 0 ? domain->dim[domain->rank - 1] : 1;
  g->cols = u->cols ? u->cols : elements;
  g->rows = elements / g->cols;
  g->n_members = (uint32_t)n;
  g->n_views = (uint32_t)most;
  fill_members(&q);
  number_spread(&q);
  note_fetches(&q);
  tfsdk__group_size(g, q.n_scratch + g->n_spread, q.size ? q.size : 1);
  t->given = tfsdk__alloc(w->rt, n * sizeof *t->given);
  if (t->given == NULL) return TFSDK__NOMEM(w->rt);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t slot = w->first[u->member.data[i]];
    if (w->p->slot[slot].place == TFSDK__PLACE_TENSOR) t->given[t->n_given++] = slot;
  }
  if (u->root == NO_SLOT) TFSDK_TRY(tfsdk__group_prepare(w->rt, g));
  return NULL;
}

/* ------------------------------------------------------------------------------------------- steps */

static bool shapes_known(const tfsdk__work *w, const tfsdk__node *n) {
  for (uint32_t k = 0; k < n->n_in; k++)
    if (n->in[k].id != 0 && !tfsdk_shape_whole(&tfsdk__work_type(w, n->in[k])->shape)) return false;
  return true;
}

static tfsdk_status *fill_call(tfsdk__work *w, tfsdk__step *t, const tfsdk__node *n) {
  size_t views = (size_t)n->n_in + n->n_out + 1;
  TFSDK_TRY(fill_io(w, t, n));
  t->bound = w->bound[n->id];
  memset(&w->bound[n->id], 0, sizeof t->bound);
  tfsdk__run *r = t->run =
      tfsdk__zalloc(w->rt, sizeof *r + views * (sizeof(tfsdk_view) + sizeof(tfsdk_tensor *)));
  if (r == NULL) return TFSDK__NOMEM(w->rt);
  tfsdk_view *view = (tfsdk_view *)(void *)(r + 1);
  tfsdk_tensor **tensor = (tfsdk_tensor **)(void *)(view + views);
  tfsdk__run_init(r, w->rt, &t->bound, n->attrs, n->name, n->n_in, n->n_out);
  r->base.in = view;
  r->base.out = view + n->n_in;
  r->in = tensor;
  r->out = tensor + n->n_in;
  r->shape = n->out;
  r->cells = &w->s->cells;
  r->workspaces = w->rt->alloc.guard ? NULL : &w->s->workspaces;
  r->follows = t->supplied ? NULL : t->group;
  r->supplies = t->supplied ? t->group : NULL;
  r->planned = true;
  r->known_shapes = shapes_known(w, n);
  for (uint32_t k = 0; k < n->n_in; k++)
    if (t->in[k] == NO_SLOT) view[k].flags = TFSDK_VIEW_ABSENT;
  return NULL;
}

static tfsdk_status *fill_open(tfsdk__work *w, tfsdk__step *t, const tfsdk__node *n, uint32_t at) {
  TFSDK_TRY(fill_io(w, t, n));
  t->bound = w->bound[n->id];
  memset(&w->bound[n->id], 0, sizeof t->bound);
  t->out_dtype = tfsdk__alloc(w->rt, (n->n_out + 1) * sizeof *t->out_dtype);
  if (t->out_dtype == NULL) return TFSDK__NOMEM(w->rt);
  for (uint32_t o = 0; o < n->n_out; o++) t->out_dtype[o] = n->out[o].dtype;
  for (uint32_t i = 0; i < n->n_in && i < 32; i++) {
    uint32_t slot = t->in[i], uses = 0;
    if (slot == NO_SLOT || slot >= w->n_values || w->p->slot[slot].root != slot ||
        w->p->slot[slot].place != TFSDK__PLACE_TENSOR || w->read[slot] != at ||
        tfsdk__unit_kind(w, &w->units.data[w->order.data[at]]) != TFSDK__STEP_OPEN)
      continue;
    for (uint32_t j = 0; j < n->n_in; j++)
      uses += t->in[j] != NO_SLOT && t->in[j] < w->n_values && w->p->slot[t->in[j]].root == slot;
    if (uses == 1 && w->made[slot] != NO_STEP) t->reuse |= 1u << i;
  }
  return NULL;
}

static tfsdk_status *fill_step(tfsdk__work *w, tfsdk__step *t, const tfsdk__unit *u, uint32_t at) {
  const tfsdk__node *n = node_at(w, tfsdk__unit_leader(u));
  t->kind = tfsdk__unit_kind(w, u);
  t->node = n;
  w->p->n_nodes += (uint32_t)u->member.n + (u->root != NO_SLOT);
  if (u->root != NO_SLOT)
    *(u->supplies ? &w->p->n_supplied : &w->p->n_followed) += (uint32_t)u->member.n;
  t->supplied = u->supplies;
  if (t->kind == TFSDK__STEP_GROUP) w->p->n_fused += (uint32_t)u->member.n;
  if (u->root != NO_SLOT || u->member.n > 1) TFSDK_TRY(fill_group(w, t, u));
  switch (t->kind) {
  case TFSDK__STEP_GROUP: return NULL;
  case TFSDK__STEP_CALL: return fill_call(w, t, n);
  case TFSDK__STEP_READ: t->cell = w->fixed[tfsdk__work_value(w, n->in[0])]->cell; break;
  default: break;
  }
  return fill_open(w, t, n, at);
}

/* Tensors go after their last reader; what nobody reads goes at once. */
static tfsdk_status *fill_last(tfsdk__work *w, const uint32_t *step_of) {
  tfsdk__plan *p = w->p;
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < w->n_values; i++) {
      const tfsdk__slot *s = &p->slot[i];
      uint32_t root = s->root, at = w->read[root];
      if (s->place != TFSDK__PLACE_TENSOR || w->made[i] == NO_STEP) continue;
      if (at == NO_STEP || at < w->made[i]) at = w->made[i];
      if (at >= w->order.n || step_of[at] == NO_STEP) continue; /* fetched */
      tfsdk__step *t = &p->steps.data[step_of[at]];
      if (pass == 1) t->last[t->n_last] = i;
      t->n_last++;
    }
    for (size_t k = 0; pass == 0 && k < p->steps.n; k++) {
      tfsdk__step *t = &p->steps.data[k];
      t->last = tfsdk__alloc(w->rt, (t->n_last + 1) * sizeof *t->last);
      if (t->last == NULL) return TFSDK__NOMEM(w->rt);
      t->n_last = 0;
    }
  }
  return NULL;
}

tfsdk_status *tfsdk__plan_steps(tfsdk__work *w) {
  tfsdk__plan *p = w->p;
  TFSDK_TRY(fill_slots(w));
  uint32_t *step_of = tfsdk__alloc(w->rt, (w->order.n + 1) * sizeof *step_of);
  if (step_of == NULL || !TFSDK__GROW(w->rt, &p->steps, w->order.n)) {
    tfsdk__free(w->rt, step_of);
    return TFSDK__NOMEM(w->rt);
  }
  tfsdk_status *s = NULL;
  for (uint32_t i = 0; s == NULL && i < w->order.n; i++) {
    const tfsdk__unit *u = &w->units.data[w->order.data[i]];
    step_of[i] = (uint32_t)p->steps.n;
    tfsdk__step *t = &p->steps.data[p->steps.n++];
    memset(t, 0, sizeof *t);
    s = fill_step(w, t, u, i);
  }
  if (s == NULL) s = fill_last(w, step_of);
  tfsdk__free(w->rt, step_of);
  for (size_t i = 0; i < p->n_fetches; i++)
    p->fetch_slot[i] = w->g->nodes.data[tfsdk__val_node(w->fetch[i])]->n_out == 0
                           ? NO_SLOT
                           : tfsdk__work_value(w, w->fetch[i]);
  for (size_t i = 0; i < p->n_feeds; i++) p->feed_slot[i] = w->first[i];
  p->own = tfsdk__alloc(w->rt, (p->n_slots + 1u) * sizeof *p->own);
  if (s == NULL && p->own == NULL) s = TFSDK__NOMEM(w->rt);
  for (uint32_t i = 0; p->own != NULL && i < p->n_slots; i++)
    if (p->slot[i].place == TFSDK__PLACE_TENSOR) p->own[p->n_own++] = i;
  for (uint32_t i = 0; i < w->n_values; i++)
    if (p->slot[i].place == TFSDK__PLACE_TENSOR && w->made[i] != NO_STEP && p->slot[i].root == i)
      p->tensor_bytes += p->slot[i].view.byte_size;
  return s;
}
