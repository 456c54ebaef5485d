/* Running a plan: one prepared call after another. */
#include "plan.h"

/* ---------------------------------------------------------------------------------------- making */

static void work_deinit(tfsdk__work *w) {
  tfsdk_runtime *rt = w->rt;
  for (size_t i = 0; w->bound != NULL && i < w->n; i++) tfsdk__bound_deinit(&w->bound[i]);
  for (size_t i = 0; i < w->units.n; i++) tfsdk__free(rt, w->units.data[i].member.data);
  void *all[] = {w->fetch,      w->need,       w->bound,      w->fixed,      w->first,
                 w->unit,       w->units.data, w->order.data, w->edges.data, w->edge_from,
                 w->edge_first, w->made,       w->read};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tfsdk__free(rt, all[i]);
}

static bool copy_key(tfsdk__plan *p, tfsdk_runtime *rt, const tfsdk_val *fetches, size_t n_fetches,
                     const tfsdk_val *feeds, const tfsdk_typed_shape *types, size_t n_feeds) {
  p->fetches = tfsdk__alloc(rt, (n_fetches + 1) * sizeof *p->fetches);
  p->feeds = tfsdk__alloc(rt, (n_feeds + 1) * sizeof *p->feeds);
  p->feed_types = tfsdk__alloc(rt, (n_feeds + 1) * sizeof *p->feed_types);
  p->fetch_slot = tfsdk__alloc(rt, (n_fetches + 1) * sizeof *p->fetch_slot);
  p->feed_slot = tfsdk__alloc(rt, (n_feeds + 1) * sizeof *p->feed_slot);
  if (!p->fetches || !p->feeds || !p->feed_types || !p->fetch_slot || !p->feed_slot) return false;
  if (n_fetches) memcpy(p->fetches, fetches, n_fetches * sizeof *fetches);
  if (n_feeds) {
    memcpy(p->feeds, feeds, n_feeds * sizeof *feeds);
    memcpy(p->feed_types, types, n_feeds * sizeof *types);
  }
  p->n_fetches = n_fetches;
  p->n_feeds = n_feeds;
  return true;
}

tfsdk_status *tfsdk__plan_make(tfsdk_session *s, const tfsdk_val *fetches, size_t n_fetches,
                               const tfsdk_val *feeds, const tfsdk_typed_shape *types,
                               size_t n_feeds, tfsdk__plan **out) {
  tfsdk_runtime *rt = s->rt;
  tfsdk__work w = {.s = s, .rt = rt, .p = tfsdk__zalloc(rt, sizeof(tfsdk__plan))};
  if (w.p == NULL) return TFSDK__NOMEM(rt);
  w.p->version = s->graph->version;
  w.p->serial = atomic_fetch_add_explicit(&rt->next_stamp, 1, memory_order_relaxed);
  w.fetch = tfsdk__zalloc(rt, (n_fetches + 1) * sizeof *w.fetch);
  tfsdk_status *st = TFSDK__NOMEM(rt);
  if (w.fetch != NULL && copy_key(w.p, rt, fetches, n_fetches, feeds, types, n_feeds)) {
    st = tfsdk__plan_graph(&w);
    if (st == NULL) st = tfsdk__plan_units(&w);
    if (st == NULL) st = tfsdk__plan_order(&w);
    if (st == NULL) st = tfsdk__plan_memory(&w);
    if (st == NULL) st = tfsdk__plan_steps(&w);
  }
  work_deinit(&w);
  if (st != NULL)
    tfsdk__plan_release(rt, w.p);
  else
    *out = w.p;
  return st;
}

static void group_release(tfsdk_runtime *rt, tfsdk__group *g, tfsdk__bound *bound) {
  if (g == NULL) return;
  for (uint32_t i = 0; bound != NULL && i < g->n_members; i++) tfsdk__bound_deinit(&bound[i]);
  if (g->error != NULL) tfsdk_status_release(atomic_load(g->error));
  tfsdk__group_unprepare(rt, g);
  tfsdk__free(rt, g->error);
  tfsdk__free(rt, g->member);
  tfsdk__free(rt, g->data);
  tfsdk__free(rt, g->spread);
  tfsdk__free(rt, g->fetch);
  tfsdk__free(rt, g);
}

void tfsdk__plan_release(tfsdk_runtime *rt, tfsdk__plan *p) {
  if (p == NULL) return;
  for (size_t i = 0; i < p->steps.n; i++) {
    tfsdk__step *t = &p->steps.data[i];
    tfsdk__bound_deinit(&t->bound);
    group_release(rt, t->group, t->member_bound);
    void *all[] = {t->in,  t->out,        t->last,  t->out_dtype,
                   t->run, t->group_slot, t->given, t->member_bound};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) tfsdk__free(rt, all[k]);
  }
  for (uint32_t i = 0; p->slot != NULL && i < p->n_slots; i++)
    tfsdk_tensor_release(p->slot[i].tensor);
  void *all[] = {p->steps.data, p->slot,       p->fetches,   p->feeds,
                 p->feed_types, p->fetch_slot, p->feed_slot, p->own};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) tfsdk__free(rt, all[k]);
  tfsdk__trace_release(rt, p->trace);
  tfsdk_graph_release(p->graph);
  tfsdk__free(rt, p);
}

/* --------------------------------------------------------------------------------------- running */

/* The arena is as large as the largest plan needs; where it lies may have changed since this plan
 * ran last. */
static tfsdk_status *take_arena(tfsdk_session *s, tfsdk__plan *p) {
  if (p->arena_bytes == 0) return NULL;
  if (s->arena == NULL || s->arena->bytes < p->arena_bytes) {
    tfsdk__buffer_release(s->arena);
    s->arena = NULL;
    tfsdk_status *st = tfsdk__buffer_create(tfsdk__device_host(s->rt), p->arena_bytes, &s->arena);
    if (st != NULL) {
      tfsdk__status_prefix(st, "the memory that a plan works in");
      return st;
    }
  }
  if (p->arena_base == s->arena->data) return NULL;
  p->arena_base = s->arena->data;
  for (uint32_t i = 0; i < p->n_slots; i++)
    if (p->slot[i].place == TFSDK__PLACE_ARENA)
      p->slot[i].view.data = (char *)p->arena_base + p->slot[i].offset;
  return NULL;
}

static tfsdk_status *give_tensor(tfsdk__plan *p, uint32_t slot, tfsdk__device *d) {
  tfsdk__slot *s = &p->slot[slot];
  if (s->place != TFSDK__PLACE_TENSOR) return NULL;
  TFSDK_TRY(tfsdk__tensor_alloc(d, s->view.dtype, s->view.rank, s->view.dim, &s->tensor));
  s->view.data = s->tensor->data;
  return NULL;
}

static tfsdk_status *set_tensor(tfsdk__slot *s, tfsdk_tensor *take) {
  s->tensor = take;
  if (!s->viewed || take->dtype == TFSDK_RESOURCE) return NULL;
  return tfsdk_tensor_view(take, &s->view);
}

static tfsdk_status *take_group(tfsdk__plan *p, tfsdk__step *t) {
  tfsdk__group *g = t->group;
  for (uint32_t i = 0; i < t->n_given; i++)
    TFSDK_TRY(give_tensor(p, t->given[i], t->member_bound[0].device));
  for (uint32_t i = 0; i < g->n_tensors; i++) g->data[i] = p->slot[t->group_slot[i]].view.data;
  return NULL;
}

static tfsdk_status *run_call(tfsdk_session *s, tfsdk__plan *p, tfsdk__step *t) {
  tfsdk__run *r = t->run;
  tfsdk_view *in = (tfsdk_view *)(uintptr_t)r->base.in;
  for (uint32_t i = 0; i < t->n_in; i++) {
    if (t->in[i] == NO_SLOT) continue;
    in[i] = p->slot[t->in[i]].view;
    r->in[i] = p->slot[t->in[i]].tensor;
  }
  for (uint32_t o = 0; o < t->n_out; o++) {
    TFSDK_TRY(give_tensor(p, t->out[o], r->device));
    r->base.out[o] = p->slot[t->out[o]].view;
  }
  if (t->group != NULL) TFSDK_TRY(take_group(p, t));
  if (t->supplied) in[0].flags |= TFSDK_VIEW_SUPPLIED;
  if (r->base.op->flags & TFSDK_OP_RANDOM)
    TFSDK_TRY(tfsdk__session_stream(s, t->node->origin, &r->random));
  tfsdk_status *st = tfsdk__run_compute(r);
  tfsdk__run_end(r);
  if (st != NULL) tfsdk__run_add_facts(st, r);
  return st;
}

static tfsdk_status *group_error(tfsdk__step *t) {
  return t->group != NULL && atomic_load_explicit(t->group->error, memory_order_relaxed) != NULL
             ? atomic_exchange(t->group->error, NULL)
             : NULL;
}

static tfsdk_status *run_read(tfsdk__plan *p, const tfsdk__step *t) {
  tfsdk_tensor *value;
  tfsdk_status *st = tfsdk__cell_read(t->cell, &value);
  if (st == NULL) return set_tensor(&p->slot[t->out[0]], value);
  tfsdk__status_add(st, "op", "%s", t->node->op->def.name);
  tfsdk__status_add(st, "node", "%s", t->node->name);
  return st;
}

/* The same memory under another shape. */
static tfsdk_status *run_alias(tfsdk__plan *p, const tfsdk__step *t) {
  tfsdk__slot *out = &p->slot[t->out[0]], *in = &p->slot[t->in[0]];
  if (out->place != TFSDK__PLACE_TENSOR) return NULL; /* it was made with the plan */
  out->view.data = in->view.data;
  out->view.stamp = in->view.stamp;
  if (!out->wanted) return NULL;
  TFSDK_TRY(
      tfsdk__tensor_alias(p->slot[out->root].tensor, out->view.rank, out->view.dim, &out->tensor));
  return NULL;
}

static tfsdk_status *check_open_shapes(const tfsdk__step *t, tfsdk_tensor *const *out) {
  for (uint32_t o = 0; o < t->n_out; o++) {
    const tfsdk_shape *want = &t->node->out[o].shape;
    tfsdk_typed_shape have;
    if (out[o] == NULL || out[o]->cell != NULL || !tfsdk_shape_whole(want)) continue;
    tfsdk__tensor_typed_shape(out[o], &have);
    if (!tfsdk_same_shape(&have.shape, want))
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                                "output %u has the shape %s; the graph says %s", o,
                                tfsdk_shape_text(&have.shape).s, tfsdk_shape_text(want).s);
  }
  return NULL;
}

static tfsdk_status *run_open(tfsdk_session *s, tfsdk__plan *p, tfsdk__step *t) {
  tfsdk_tensor *in_room[16], **in = in_room, *out_room[8], **out = out_room;
  const tfsdk__node *n = t->node;
  tfsdk__stream_state *random = NULL;
  tfsdk_status *st = NULL;
  if (t->n_in > 16 && (in = tfsdk__alloc(s->rt, t->n_in * sizeof *in)) == NULL)
    return TFSDK__NOMEM(s->rt);
  if (t->n_out > 8 && (out = tfsdk__alloc(s->rt, t->n_out * sizeof *out)) == NULL)
    st = TFSDK__NOMEM(s->rt);
  for (uint32_t i = 0; i < t->n_in; i++)
    in[i] = t->in[i] == NO_SLOT ? NULL : p->slot[t->in[i]].tensor;
  if (st == NULL && (n->op->def.flags & TFSDK_OP_RANDOM))
    st = tfsdk__session_stream(s, n->origin, &random);
  if (st == NULL) {
    tfsdk__execution e = {&t->bound, n->attrs,     n->name, in,        t->n_in,
                          t->n_out,  t->out_dtype, random,  &s->cells, t->reuse};
    st = tfsdk__execute(s->rt, &e, out);
    if (st == NULL) {
      tfsdk_status *wrong = check_open_shapes(t, out);
      for (uint32_t o = 0; o < t->n_out; o++) {
        tfsdk_status *bad = set_tensor(&p->slot[t->out[o]], out[o]);
        if (st == NULL)
          st = bad;
        else
          tfsdk_status_release(bad);
      }
      if (st == NULL)
        st = wrong;
      else
        tfsdk_status_release(wrong);
    }
  }
  if (in != in_room) tfsdk__free(s->rt, in);
  if (out != out_room) tfsdk__free(s->rt, out);
  return st;
}

static tfsdk_status *run_step(tfsdk_session *s, tfsdk__plan *p, tfsdk__step *t) {
  tfsdk_status *st = NULL;
  switch (t->kind) {
  case TFSDK__STEP_CALL: st = run_call(s, p, t); break;
  case TFSDK__STEP_GROUP:
    st = take_group(p, t);
    if (st == NULL) tfsdk__group_run(t->group, t->member_bound[0].device);
    break;
  case TFSDK__STEP_READ: st = run_read(p, t); break;
  case TFSDK__STEP_ALIAS: st = run_alias(p, t); break;
  default: st = run_open(s, p, t); break;
  }
  if (st == NULL) st = group_error(t);
  if (st != NULL) {
    if (t->node->where != NULL) tfsdk__status_add(st, "where", "%s", t->node->where);
    return st;
  }
  for (uint32_t i = 0; i < t->n_last; i++) {
    tfsdk__slot *dead = &p->slot[t->last[i]];
    tfsdk_tensor_release(dead->tensor);
    dead->tensor = NULL;
  }
  return NULL;
}

static tfsdk_status *take_feeds(tfsdk__plan *p, tfsdk_tensor *const *values) {
  for (size_t i = 0; i < p->n_feeds; i++)
    TFSDK_TRY(set_tensor(&p->slot[p->feed_slot[i]], tfsdk_tensor_retain(values[i])));
  return NULL;
}

tfsdk_status *tfsdk__plan_step(tfsdk_session *s, tfsdk__plan *p, tfsdk__step *t) {
  return run_step(s, p, t);
}

tfsdk_status *tfsdk__plan_run(tfsdk_session *s, tfsdk__plan *p, tfsdk_tensor *const *feed_values,
                              const tfsdk_run_options *watch, tfsdk_tensor **out) {
  p->used = ++s->clock;
  tfsdk_status *st = take_arena(s, p);
  if (st == NULL) st = take_feeds(p, feed_values);
  if (watch != NULL && st == NULL)
    st = tfsdk__trace_steps(s, p, watch);
  else
    for (size_t i = 0; st == NULL && i < p->steps.n; i++) st = run_step(s, p, &p->steps.data[i]);
  for (size_t i = 0; st == NULL && i < p->n_fetches; i++)
    if (p->fetch_slot[i] != NO_SLOT)
      st = tfsdk__tensor_on(p->slot[p->fetch_slot[i]].tensor, tfsdk__device_host(s->rt), &out[i]);
  for (uint32_t k = 0; k < p->n_own; k++) {
    tfsdk__slot *slot = &p->slot[p->own[k]];
    if (slot->tensor != NULL) tfsdk_tensor_release(slot->tensor);
    slot->tensor = NULL;
  }
  if (st != NULL)
    for (size_t i = 0; i < p->n_fetches; i++) {
      tfsdk_tensor_release(out[i]);
      out[i] = NULL;
    }
  return st;
}
