/* Running a plan while somebody watches: what each step is, its time, what it made. What does not
 * change from run to run is put together once, at the first watched run; other runs pay nothing. */
#include "plan.h"

#include <time.h>

typedef struct tfsdk__trace {
  tfsdk_step_info *step;
  tfsdk_step_value *value; /* of all steps, one after another */
  uint32_t *slot;          /* of each value */
  uint32_t *node;
} tfsdk__trace;

void tfsdk__trace_release(tfsdk_runtime *rt, tfsdk__trace *t) {
  if (t == NULL) return;
  void *all[] = {t->step, t->value, t->slot, t->node, t};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tfsdk__free(rt, all[i]);
}

/* ----------------------------------------------------------------------------------------- making */

typedef struct maker {
  tfsdk_session *s;
  tfsdk__plan *p;
  tfsdk__trace *t;
  uint32_t *node_of; /* by slot: the plan's node that makes it */
  uint32_t *first;   /* by node of the plan: its first slot */
  uint32_t *last;    /* by slot: see tfsdk_step_value.last */
  uint32_t n_values, n_nodes;
} maker;

static bool holds(const tfsdk__slot *s) {
  return s->place == TFSDK__PLACE_TENSOR || s->place == TFSDK__PLACE_ARENA;
}

static void use(maker *m, uint32_t slot, uint32_t step) {
  if (slot != NO_SLOT && slot < m->p->n_slots) m->last[m->p->slot[slot].root] = step;
}

static void find_last(maker *m) {
  tfsdk__plan *p = m->p;
  for (uint32_t i = 0; i < p->steps.n; i++) {
    const tfsdk__step *t = &p->steps.data[i];
    for (uint32_t k = 0; k < t->n_in; k++) use(m, t->in[k], i);
    for (uint32_t k = 0; k < t->n_out; k++) use(m, t->out[k], i);
    for (uint32_t k = 0; t->group != NULL && k < t->group->n_tensors; k++)
      use(m, t->group_slot[k], i);
  }
  for (size_t i = 0; i < p->n_fetches; i++) use(m, p->fetch_slot[i], (uint32_t)p->steps.n);
}

static void add_value(maker *m, tfsdk_step_info *step, uint32_t slot) {
  tfsdk__plan *p = m->p;
  const tfsdk__slot *s = &p->slot[slot];
  if (slot >= p->n_slots || m->node_of[slot] == NO_SLOT || !holds(s)) return;
  const tfsdk__node *n = p->graph->nodes.data[m->node_of[slot]];
  tfsdk_step_value *v = &m->t->value[m->n_values];
  m->t->slot[m->n_values++] = slot;
  step->n_out++;
  v->name = n->name;
  v->index = slot - m->first[n->id];
  v->last = m->last[s->root];
  v->offset = s->place == TFSDK__PLACE_ARENA ? (int64_t)s->offset : -1;
  v->bytes = s->view.byte_size;
  v->type = n->out[v->index];
  for (size_t i = p->n_fetches; i > 0; i--)
    if (p->fetch_slot[i - 1] == slot) v->fetched = p->fetches[i - 1];
}

static void add_node(maker *m, tfsdk_step_info *step, const char *name) {
  const tfsdk__node *n = tfsdk__map_get(&m->s->graph->by_name, name);
  if (n == NULL) return;
  for (uint32_t i = 0; i < step->n_nodes; i++)
    if (step->node[i] == n->id) return; /* several nodes of the plan stand for one of the graph */
  m->t->node[m->n_nodes++] = n->id;
  step->n_nodes++;
}

static void describe(maker *m, uint32_t at) {
  static const char *const kinds[] = {"kernel", "fused", "variable", "view", "dynamic"};
  const tfsdk__step *t = &m->p->steps.data[at];
  const tfsdk__group *g = t->group;
  const tfsdk__bound *b =
      t->kind == TFSDK__STEP_GROUP ? &t->member_bound[g->n_members - 1] : &t->bound;
  tfsdk_step_info *step = &m->t->step[at];
  step->struct_size = sizeof *step;
  step->value_size = sizeof(tfsdk_step_value);
  step->index = at;
  step->n_steps = (uint32_t)m->p->steps.n;
  step->plan = m->p->serial;
  step->kind = t->kind < sizeof kinds / sizeof *kinds ? kinds[t->kind] : "kernel";
  step->device = b->device != NULL ? b->device->name : m->s->device->name;
  step->kernel = step->plugin = "";
  if (b->kernel != NULL && t->kind != TFSDK__STEP_READ && t->kind != TFSDK__STEP_ALIAS) {
    step->kernel = b->kernel->def.label;
    step->plugin = (b->kernel->plugin ? b->kernel->plugin : b->op->plugin)->manifest.name;
  }
  step->node = m->t->node + m->n_nodes;
  step->out = m->t->value + m->n_values;
  add_node(m, step, t->node->name);
  for (uint32_t i = 0; g != NULL && i < g->n_members; i++) add_node(m, step, g->member[i].name);
  for (uint32_t o = 0; o < t->n_out; o++) add_value(m, step, t->out[o]);
  for (uint32_t i = 0; g != NULL && i < g->n_members; i++) {
    const tfsdk__member *member = &g->member[i];
    if (member->stream != 0)
      add_value(m, step, t->group_slot[member->stream - 1]);
    else if (member->out.kind == TFSDK__OPERAND_WHOLE)
      add_value(m, step, t->group_slot[member->out.at]);
  }
}

static bool make_room(maker *m) {
  tfsdk_runtime *rt = m->s->rt;
  tfsdk__plan *p = m->p;
  size_t n_values = 0, n_nodes = 0;
  for (size_t i = 0; i < p->steps.n; i++) {
    const tfsdk__step *t = &p->steps.data[i];
    n_values += t->n_out + (t->group ? t->group->n_members : 0);
    n_nodes += 1 + (t->group ? t->group->n_members : 0);
  }
  tfsdk__trace *t = m->t = tfsdk__zalloc(rt, sizeof *t);
  if (t == NULL) return false;
  t->step = tfsdk__zalloc(rt, (p->steps.n + 1) * sizeof *t->step);
  t->value = tfsdk__zalloc(rt, (n_values + 1) * sizeof *t->value);
  t->slot = tfsdk__alloc(rt, (n_values + 1) * sizeof *t->slot);
  t->node = tfsdk__alloc(rt, (n_nodes + 1) * sizeof *t->node);
  m->node_of = tfsdk__alloc(rt, (p->n_slots + 1u) * sizeof *m->node_of);
  m->last = tfsdk__zalloc(rt, (p->n_slots + 1u) * sizeof *m->last);
  m->first = tfsdk__alloc(rt, (p->graph->nodes.n + 1) * sizeof *m->first);
  return t->step && t->value && t->slot && t->node && m->node_of && m->last && m->first;
}

static tfsdk_status *make(tfsdk_session *s, tfsdk__plan *p) {
  maker m = {.s = s, .p = p};
  bool ok = make_room(&m);
  if (ok) {
    uint32_t slot =
        0; /* values are numbered by node (plan_units.c); slots behind them tell shapes */
    for (uint32_t i = 0; i < p->n_slots; i++) m.node_of[i] = NO_SLOT;
    for (uint32_t i = 0; i < p->graph->nodes.n; i++) {
      m.first[i] = slot;
      for (uint32_t o = 0; o < p->graph->nodes.data[i]->n_out; o++) m.node_of[slot++] = i;
    }
    find_last(&m);
    for (uint32_t i = 0; i < p->steps.n; i++) describe(&m, i);
  }
  tfsdk__free(s->rt, m.node_of);
  tfsdk__free(s->rt, m.last);
  tfsdk__free(s->rt, m.first);
  if (ok)
    p->trace = m.t;
  else
    tfsdk__trace_release(s->rt, m.t);
  return ok ? NULL : TFSDK__NOMEM(s->rt);
}

/* ---------------------------------------------------------------------------------------- running */

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static tfsdk_status *tell(tfsdk__plan *p, tfsdk__trace *t, tfsdk_step_info *info,
                          const tfsdk_run_options *watch, const tfsdk__device *d) {
  tfsdk_step_value *v = t->value + (info->out - t->value);
  for (uint32_t i = 0; i < info->n_out; i++) {
    v[i].tensor = p->slot[t->slot[v + i - t->value]].tensor;
    if (v[i].tensor != NULL) v[i].bytes = v[i].tensor->byte_size;
  }
  info->device_bytes = atomic_load_explicit(&d->in_use, memory_order_relaxed);
  return watch->step(watch->user, info);
}

tfsdk_status *tfsdk__trace_steps(tfsdk_session *s, tfsdk__plan *p, const tfsdk_run_options *watch) {
  if (p->trace == NULL) TFSDK_TRY(make(s, p));
  tfsdk__trace *t = p->trace;
  for (size_t i = 0; i < p->steps.n; i++) {
    tfsdk__step *step = &p->steps.data[i];
    const tfsdk__bound *b = step->kind == TFSDK__STEP_GROUP ? step->member_bound : &step->bound;
    uint32_t n_last = step->n_last;
    t->step[i].begin = now();
    step->n_last = 0; /* what goes with the step is there until it was told of */
    tfsdk_status *st = tfsdk__plan_step(s, p, step);
    step->n_last = n_last;
    t->step[i].end = now();
    if (st == NULL) st = tell(p, t, &t->step[i], watch, b->device != NULL ? b->device : s->device);
    for (uint32_t k = 0; k < n_last; k++) {
      tfsdk__slot *dead = &p->slot[step->last[k]];
      tfsdk_tensor_release(dead->tensor);
      dead->tensor = NULL;
    }
    if (st != NULL) return st;
  }
  return NULL;
}
