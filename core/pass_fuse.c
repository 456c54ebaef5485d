/* Pass fuse: element-wise nodes of one shape become one unit, computed tile by tile (group.h).
 *
 * Nodes are taken in order. One joins the unit of a node that it reads, if both have the same
 * domain and no way leads out of the joined unit and back into it; then the units of its other
 * inputs are taken in as well. */
#include "plan.h"

/* ---------------------------------------------------------------------------------------- circles */

typedef struct search {
  tfsdk__work *w;
  const unsigned char *in_set;
  unsigned char *seen; /* zeros; is zeros again afterwards */
  TFSDK__VEC(uint32_t) stack, touched;
  uint32_t first;
  bool begun;  /* false: what the set's members read of each other is no way back */
  bool failed; /* memory is out: say "circular", which is safe */
} search;

static void push(search *q, uint32_t node) {
  if (q->seen[node] || (!q->begun && q->in_set[node])) return;
  if (!TFSDK__GROW(q->w->rt, &q->stack, 1) || !TFSDK__GROW(q->w->rt, &q->touched, 1)) {
    q->failed = true;
    return;
  }
  q->seen[node] = 1;
  q->stack.data[q->stack.n++] = node;
  q->touched.data[q->touched.n++] = node;
}

static bool has_company(const tfsdk__work *w, uint32_t node) {
  if (w->unit[node] == NO_UNIT) return false;
  const tfsdk__unit *u = &w->units.data[w->unit[node]];
  return u->member.n > 1 || u->root != NO_SLOT;
}

/* What must have run before a node; nodes of a unit run together, so with it all of theirs. A node
 * made before the set and alone in its unit cannot depend on the set. */
static void push_before(search *q, uint32_t id) {
  const tfsdk__work *w = q->w;
  const tfsdk__node *n = w->g->nodes.data[id];
#define BEFORE(b)                                                                                  \
  do {                                                                                             \
    uint32_t before_ = (b);                                                                        \
    if (before_ >= q->first || has_company(w, before_)) push(q, before_);                          \
  } while (0)
  for (uint32_t k = 0; k < n->n_in; k++)
    if (tfsdk__work_reads(w, n, k)) BEFORE(tfsdk__val_node(n->in[k]));
  for (uint32_t k = 0; k < n->n_control; k++) BEFORE(n->control[k]);
  for (uint32_t k = w->edge_first[id]; k < w->edge_first[id + 1]; k++) BEFORE(w->edge_from[k]);
#undef BEFORE
}

static bool reaches_set(search *q) {
  while (q->stack.n > 0) {
    uint32_t id = q->stack.data[--q->stack.n], unit = q->w->unit[id];
    if (q->in_set[id]) return true;
    if (unit == NO_UNIT) continue; /* a constant or a feed */
    const tfsdk__unit *u = &q->w->units.data[unit];
    uint32_t last = u->root != NO_SLOT ? u->root : 0;
    for (size_t i = 0; i < u->member.n; i++)
      if (u->member.data[i] > last) last = u->member.data[i];
    if (last < q->first) continue;
    for (size_t i = 0; i < u->member.n; i++) push_before(q, u->member.data[i]);
    if (u->root != NO_SLOT) push_before(q, u->root);
  }
  return false;
}

bool tfsdk__work_circular(tfsdk__work *w, const unsigned char *in_set, const uint32_t *set,
                          size_t n, uint32_t first, unsigned char *seen) {
  search q = {.w = w, .in_set = in_set, .seen = seen, .first = first};
  for (size_t i = 0; i < n; i++) push_before(&q, set[i]);
  q.begun = true;
  bool circular = reaches_set(&q) || q.failed;
  for (size_t i = 0; i < q.touched.n; i++) seen[q.touched.data[i]] = 0;
  tfsdk__free(w->rt, q.stack.data);
  tfsdk__free(w->rt, q.touched.data);
  return circular;
}

/* ---------------------------------------------------------------------------------------- joining */

typedef struct fuser {
  tfsdk__work *w;
  unsigned char *in_set, *seen;
  uint32_t set[TFSDK__GROUP_MEMBERS];
} fuser;

static const tfsdk_shape *domain_of(const tfsdk__work *w, uint32_t node) {
  return &w->g->nodes.data[node]->out[0].shape;
}

int64_t tfsdk__work_member(const tfsdk__work *w, uint32_t id) {
  const tfsdk__node *n = w->g->nodes.data[id];
  const tfsdk__bound *b = &w->bound[id];
  const uint32_t never =
      TFSDK_OP_STATEFUL | TFSDK_OP_RANDOM | TFSDK_OP_EFFECT | TFSDK_OP_VIEW | TFSDK_OP_PLACEHOLDER;
  int64_t cols = 0;
  if (w->unit[id] == NO_UNIT || !(n->op->def.flags & TFSDK_OP_ELEMENTWISE) ||
      (n->op->def.flags & never) || n->n_out != 1 || n->n_in > TFSDK__GROUP_INPUTS ||
      n->n_control > 0 || !tfsdk__work_planned(w, id) || b->kernel->def.prepare != NULL ||
      (b->kernel->def.traits & TFSDK_KERNEL_SERIAL) || tfsdk_shape_elements(domain_of(w, id)) <= 0)
    return -1;
  for (uint32_t i = 0; i < n->n_in; i++) {
    int64_t want;
    if (n->in[i].id == 0) return -1;
    const tfsdk_typed_shape *t = tfsdk__work_type(w, n->in[i]);
    if (!tfsdk__work_reads(w, n, i)) { /* its shape is that of each tile, if it is the domain's */
      if (!tfsdk_same_shape(&t->shape, &n->out[0].shape)) return -1;
      continue;
    }
    if (!tfsdk_shape_whole(&t->shape) || tfsdk_dtype_size(t->dtype) == 0 ||
        !tfsdk__operand_kind(&n->out[0].shape, &t->shape, &want))
      return -1;
    if (want != 0 && cols != 0 && want != cols) return -1;
    if (want != 0) cols = want;
  }
  return cols;
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* Takes the unit `from` into the unit `to`. */
static tfsdk_status *join(fuser *f, uint32_t to, uint32_t from) {
  tfsdk__work *w = f->w;
  tfsdk__unit *a = &w->units.data[to], *b = &w->units.data[from];
  size_t n = a->member.n + b->member.n;
  if (to == from || n > TFSDK__GROUP_MEMBERS ||
      w->bound[a->member.data[0]].device != w->bound[b->member.data[0]].device ||
      (a->cols != 0 && b->cols != 0 && a->cols != b->cols) ||
      !tfsdk_same_shape(domain_of(w, a->member.data[0]), domain_of(w, b->member.data[0])))
    return NULL;
  uint32_t first = NO_SLOT;
  for (size_t i = 0; i < n; i++) {
    f->set[i] = i < a->member.n ? a->member.data[i] : b->member.data[i - a->member.n];
    f->in_set[f->set[i]] = 1;
    if (f->set[i] < first) first = f->set[i];
  }
  bool circular = tfsdk__work_circular(w, f->in_set, f->set, n, first, f->seen);
  for (size_t i = 0; i < n; i++) f->in_set[f->set[i]] = 0;
  if (circular) return NULL;
  if (!TFSDK__GROW(w->rt, &a->member, b->member.n)) return TFSDK__NOMEM(w->rt);
  qsort(f->set, n, sizeof *f->set, by_number);
  memcpy(a->member.data, f->set, n * sizeof *f->set);
  a->member.n = n;
  if (a->cols == 0) a->cols = b->cols;
  for (size_t i = 0; i < b->member.n; i++) w->unit[b->member.data[i]] = to;
  b->member.n = 0;
  return NULL;
}

static tfsdk_status *fuse_node(fuser *f, const unsigned char *can, uint32_t id) {
  tfsdk__work *w = f->w;
  const tfsdk__node *n = w->g->nodes.data[id];
  for (uint32_t i = 0; i < n->n_in; i++) {
    uint32_t from = tfsdk__val_node(n->in[i]);
    if (tfsdk__work_reads(w, n, i) && can[from]) TFSDK_TRY(join(f, w->unit[id], w->unit[from]));
  }
  return NULL;
}

tfsdk_status *tfsdk__pass_fuse(tfsdk__work *w) {
  fuser f = {.w = w};
  unsigned char *can = tfsdk__zalloc(w->rt, w->n + 1);
  f.in_set = tfsdk__zalloc(w->rt, w->n + 1);
  f.seen = tfsdk__zalloc(w->rt, w->n + 1);
  tfsdk_status *s = can && f.in_set && f.seen ? NULL : TFSDK__NOMEM(w->rt);
  for (uint32_t i = 0; s == NULL && i < w->n; i++) {
    int64_t cols = tfsdk__work_member(w, i);
    if (cols < 0) continue;
    can[i] = 1;
    w->units.data[w->unit[i]].cols = cols;
    s = fuse_node(&f, can, i);
  }
  tfsdk__free(w->rt, can);
  tfsdk__free(w->rt, f.in_set);
  tfsdk__free(w->rt, f.seen);
  return s;
}
