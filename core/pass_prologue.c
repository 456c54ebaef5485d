/* Pass prologue: an element-wise unit that a reduction reads is computed by it, as it asks for
 * elements. Long chains that end in a sum then walk over memory once, and what only the sum reads
 * lies nowhere. The kernel's order of adding stays its own, and with it every bit. */
#include "plan.h"

/* Smaller values stay in the cache between two steps, and threads share a walk better than a sum. */
#define LEAST 32768

static bool can_lead(const tfsdk__work *w, uint32_t id) {
  const tfsdk__node *n = w->g->nodes.data[id];
  uint32_t unit = w->unit[id];
  return unit != NO_UNIT && w->units.data[unit].member.n == 1 &&
         w->units.data[unit].root == NO_SLOT && n->n_in > 0 && tfsdk__work_reads(w, n, 0) &&
         !(n->op->def.flags & (TFSDK_OP_STATEFUL | TFSDK_OP_VIEW)) && tfsdk__work_planned(w, id) &&
         (w->bound[id].kernel->def.traits & TFSDK_KERNEL_SUPPLIED);
}

/* The unit that computes input 0 of the reduction, if all of it can be done in its call. */
static uint32_t find_supplier(const tfsdk__work *w, uint32_t id) {
  const tfsdk__node *n = w->g->nodes.data[id];
  uint32_t from = tfsdk__val_node(n->in[0]), unit = w->unit[from];
  if (unit == NO_UNIT || unit == w->unit[id]) return NO_UNIT;
  const tfsdk__unit *u = &w->units.data[unit];
  const tfsdk_shape *domain = &w->g->nodes.data[from]->out[0].shape;
  if (u->root != NO_SLOT || u->member.n >= TFSDK__GROUP_MEMBERS ||
      tfsdk_shape_elements(domain) < LEAST ||
      (n->n_out == 1 && tfsdk_shape_elements(&n->out[0].shape) == tfsdk_shape_elements(domain)) ||
      w->bound[from].device != w->bound[id].device)
    return NO_UNIT;
  for (uint32_t k = 1; k < n->n_in; k++)
    if (tfsdk__work_reads(w, n, k) && w->unit[tfsdk__val_node(n->in[k])] == unit) return NO_UNIT;
  return unit;
}

tfsdk_status *tfsdk__pass_prologue(tfsdk__work *w) {
  uint32_t set[TFSDK__GROUP_MEMBERS + 1];
  unsigned char *in_set = tfsdk__zalloc(w->rt, w->n + 1), *seen = tfsdk__zalloc(w->rt, w->n + 1);
  tfsdk_status *s = in_set && seen ? NULL : TFSDK__NOMEM(w->rt);
  for (uint32_t id = 0; s == NULL && id < w->n; id++) {
    uint32_t unit = can_lead(w, id) ? find_supplier(w, id) : NO_UNIT;
    if (unit == NO_UNIT) continue;
    tfsdk__unit *u = &w->units.data[unit];
    if (u->member.n == 1 && (u->cols = tfsdk__work_member(w, u->member.data[0])) < 0) continue;
    size_t n = u->member.n;
    uint32_t first = id;
    memcpy(set, u->member.data, n * sizeof *set);
    set[n++] = id;
    for (size_t i = 0; i < n; i++) {
      in_set[set[i]] = 1;
      if (set[i] < first) first = set[i];
    }
    bool circular = tfsdk__work_circular(w, in_set, set, n, first, seen);
    for (size_t i = 0; i < n; i++) in_set[set[i]] = 0;
    if (circular) continue;
    w->units.data[w->unit[id]].member.n = 0;
    w->unit[id] = unit;
    u->root = id;
    u->supplies = true;
  }
  tfsdk__free(w->rt, in_set);
  tfsdk__free(w->rt, seen);
  return s;
}
