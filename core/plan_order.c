/* The order of the units: that of their making, as far as each unit's inputs allow. Pass schedule
 * lets what only changes state (optimizers' updates) run as soon as it can: the gradient is then
 * still in the cache, and its memory free for the next. */
#include "plan.h"

typedef struct heap {
  uint64_t *key; /* priority, then the unit's number */
  size_t n;
} heap;

static void heap_push(heap *h, uint64_t key) {
  size_t i = h->n++;
  for (; i > 0 && h->key[(i - 1) / 2] > key; i = (i - 1) / 2) h->key[i] = h->key[(i - 1) / 2];
  h->key[i] = key;
}

static uint64_t heap_pop(heap *h) {
  uint64_t top = h->key[0], last = h->key[--h->n];
  size_t i = 0;
  for (;;) {
    size_t k = 2 * i + 1;
    if (k >= h->n) break;
    if (k + 1 < h->n && h->key[k + 1] < h->key[k]) k++;
    if (last <= h->key[k]) break;
    h->key[i] = h->key[k];
    i = k;
  }
  h->key[i] = last;
  return top;
}

typedef struct orderer {
  tfsdk__work *w;
  uint32_t *waits;            /* by unit: how many it waits for */
  uint32_t *head, *next, *to; /* lists of units that wait for a unit */
  uint32_t n_links, cap_links;
} orderer;

static void link_units(orderer *o, uint32_t from_node, uint32_t unit, bool count) {
  uint32_t from = o->w->unit[from_node];
  if (from == NO_UNIT || from == unit) return;
  if (!count) {
    o->next[o->n_links] = o->head[from];
    o->to[o->n_links] = unit;
    o->head[from] = o->n_links;
    o->waits[unit]++;
  }
  o->n_links++;
}

static void each_dependency(orderer *o, uint32_t id, uint32_t unit, bool count) {
  const tfsdk__work *w = o->w;
  const tfsdk__node *n = w->g->nodes.data[id];
  for (uint32_t k = 0; k < n->n_in; k++)
    if (tfsdk__work_reads(w, n, k)) link_units(o, tfsdk__val_node(n->in[k]), unit, count);
  for (uint32_t k = 0; k < n->n_control; k++) link_units(o, n->control[k], unit, count);
  for (uint32_t k = w->edge_first[id]; k < w->edge_first[id + 1]; k++)
    link_units(o, w->edge_from[k], unit, count);
}

static void link_all(orderer *o, bool count) {
  const tfsdk__work *w = o->w;
  o->n_links = 0;
  for (uint32_t u = 0; u < w->units.n; u++) {
    const tfsdk__unit *unit = &w->units.data[u];
    for (size_t i = 0; i < unit->member.n; i++) each_dependency(o, unit->member.data[i], u, count);
    if (unit->root != NO_SLOT) each_dependency(o, unit->root, u, count);
  }
}

static uint64_t key_of(const tfsdk__work *w, uint32_t u) {
  const tfsdk__unit *unit = &w->units.data[u];
  const tfsdk__node *n = w->g->nodes.data[unit->member.data[unit->member.n - 1]];
  const uint32_t state = TFSDK_OP_STATEFUL, effect = TFSDK_OP_EFFECT;
  bool early = (w->s->passes & TFSDK__PASS_SCHEDULE) && n->n_out == 0 &&
               (n->op->def.flags & (state | effect)) == state;
  return (early ? 0 : (uint64_t)(n->id + 1) << 32) | u;
}

static tfsdk_status *sort(orderer *o, heap *h) {
  tfsdk__work *w = o->w;
  size_t live = 0;
  if (!TFSDK__GROW(w->rt, &w->order, w->units.n)) return TFSDK__NOMEM(w->rt);
  for (uint32_t u = 0; u < w->units.n; u++) {
    if (w->units.data[u].member.n == 0) continue;
    live++;
    if (o->waits[u] == 0) heap_push(h, key_of(w, u));
  }
  while (h->n > 0) {
    uint32_t u = (uint32_t)heap_pop(h);
    w->order.data[w->order.n++] = u;
    for (uint32_t l = o->head[u]; l != NO_SLOT; l = o->next[l])
      if (--o->waits[o->to[l]] == 0) heap_push(h, key_of(w, o->to[l]));
  }
  if (w->order.n < live)
    return tfsdk__status_make(TFSDK_INTERNAL, "the plan has a circle: %zu of %zu units are ordered",
                              w->order.n, live);
  return NULL;
}

tfsdk_status *tfsdk__plan_order(tfsdk__work *w) {
  orderer o = {.w = w};
  heap h = {0};
  size_t n = w->units.n + 1;
  link_all(&o, true);
  o.waits = tfsdk__zalloc(w->rt, n * sizeof *o.waits);
  o.head = tfsdk__alloc(w->rt, n * sizeof *o.head);
  o.next = tfsdk__alloc(w->rt, (o.n_links + 1) * sizeof *o.next);
  o.to = tfsdk__alloc(w->rt, (o.n_links + 1) * sizeof *o.to);
  h.key = tfsdk__alloc(w->rt, n * sizeof *h.key);
  tfsdk_status *s = TFSDK__NOMEM(w->rt);
  if (o.waits && o.head && o.next && o.to && h.key) {
    for (size_t i = 0; i < n; i++) o.head[i] = NO_SLOT;
    link_all(&o, false);
    s = sort(&o, &h);
  }
  tfsdk__free(w->rt, o.waits);
  tfsdk__free(w->rt, o.head);
  tfsdk__free(w->rt, o.next);
  tfsdk__free(w->rt, o.to);
  tfsdk__free(w->rt, h.key);
  return s;
}
