/* Pass epilogue: an element-wise unit that continues a product or convolution is computed by it,
 * from rows that are finished and still in the cache. The kernel says when (TFSDK_KERNEL_FINISHES);
 * what it has to know is nothing but that. */
#include "plan.h"

static bool can_lead(const tfsdk__work *w, uint32_t id) {
  const tfsdk__node *n = w->g->nodes.data[id];
  return w->unit[id] != NO_UNIT && w->units.data[w->unit[id]].member.n == 1 &&
         w->units.data[w->unit[id]].root == NO_SLOT && n->n_out == 1 &&
         !(n->op->def.flags & TFSDK_OP_STATEFUL) && tfsdk__work_planned(w, id) &&
         (w->bound[id].kernel->def.traits & TFSDK_KERNEL_FINISHES);
}

/* Only element-wise units may follow, of the leader's shape, whose operands lie along its rows. */
static bool can_follow(const tfsdk__work *w, const tfsdk__unit *u, uint32_t root) {
  const tfsdk__node *last = w->g->nodes.data[u->member.data[u->member.n - 1]];
  const tfsdk_shape *domain = &last->out[0].shape;
  const tfsdk_shape *lead = &w->g->nodes.data[root]->out[0].shape;
  int64_t row = domain->rank > 0 ? domain->dim[domain->rank - 1] : 1;
  return tfsdk_same_shape(domain, lead) && (u->cols == 0 || u->cols == row) &&
         w->bound[root].device == w->bound[last->id].device;
}

/* The latest product that the unit can follow; NO_SLOT: none. */
static uint32_t find_leader(tfsdk__work *w, uint32_t unit, unsigned char *in_set,
                            unsigned char *seen, uint32_t *set) {
  const tfsdk__unit *u = &w->units.data[unit];
  uint32_t best = NO_SLOT;
  for (size_t i = 0; i < u->member.n; i++) {
    const tfsdk__node *n = w->g->nodes.data[u->member.data[i]];
    for (uint32_t k = 0; k < n->n_in; k++) {
      uint32_t id = tfsdk__work_reads(w, n, k) ? tfsdk__val_node(n->in[k]) : NO_SLOT;
      if (id == NO_SLOT || (best != NO_SLOT && id <= best) || !can_lead(w, id) ||
          !can_follow(w, u, id))
        continue;
      size_t m = u->member.n;
      memcpy(set, u->member.data, m * sizeof *set);
      set[m++] = id;
      uint32_t first = id;
      for (size_t j = 0; j < m; j++) {
        in_set[set[j]] = 1;
        if (set[j] < first) first = set[j];
      }
      if (!tfsdk__work_circular(w, in_set, set, m, first, seen)) best = id;
      for (size_t j = 0; j < m; j++) in_set[set[j]] = 0;
    }
  }
  return best;
}

tfsdk_status *tfsdk__pass_epilogue(tfsdk__work *w) {
  uint32_t set[TFSDK__GROUP_MEMBERS + 1];
  unsigned char *in_set = tfsdk__zalloc(w->rt, w->n + 1), *seen = tfsdk__zalloc(w->rt, w->n + 1);
  tfsdk_status *s = in_set && seen ? NULL : TFSDK__NOMEM(w->rt);
  for (uint32_t i = 0; s == NULL && i < w->units.n; i++) {
    tfsdk__unit *u = &w->units.data[i];
    if (u->member.n == 0) continue;
    if (u->member.n == 1 && (u->cols = tfsdk__work_member(w, u->member.data[0])) < 0) continue;
    uint32_t root = find_leader(w, i, in_set, seen, set);
    if (root == NO_SLOT) continue;
    w->units.data[w->unit[root]].member.n = 0;
    w->unit[root] = i;
    u->root = root;
  }
  tfsdk__free(w->rt, in_set);
  tfsdk__free(w->rt, seen);
  return s;
}
