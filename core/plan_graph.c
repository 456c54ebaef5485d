/* The graph of a plan: the nodes that the fetches need, with the shapes that these feeds give them.
 *
 * Nodes are copied in the order of their making. Each is looked at as it is copied, when all that
 * goes into it has been: pass simplify drops views that change nothing and asks the op for a
 * cheaper way (its record's `rewrite`), pass merge takes an equal node that is there already, pass
 * fold computes what is known (fold.c).
 *
 * Control dependencies concern what has effects. A pure node does not wait for them; its values carry
 * them to the nodes that do (so that it can be folded, merged and fused). Which effects happen is
 * settled before: what the user's graph does not need is not copied. */
#include "plan.h"

typedef struct wait_set { /* nodes of the plan, rising */
  uint32_t *node;
  size_t n;
} wait_set;

typedef struct tfsdk__planning {
  tfsdk_session *session;
  const tfsdk__node *origin;    /* the user's node that is being copied */
  uint32_t waits;               /* the set of nodes that it waits for */
  TFSDK__VEC(wait_set) sets;    /* number 0 is empty */
  uint32_t adopted;             /* what the values of the latest new node carry */
  TFSDK__VEC(uint32_t) carried; /* by node of the plan: the set that its values carry */
  bool merge;
  uint32_t *table; /* merge: node ids + 1 by hash */
  size_t n, cap;
} planning;

typedef struct copier {
  tfsdk__work *w;
  tfsdk_graph *from, *to;
  unsigned char *need; /* by node of `from` */
  uint32_t *first;     /* by node of `from`: its first value in `value` */
  tfsdk_val *value;    /* by value of `from`: the plan's */
  uint32_t *stand_in;  /* by node of `from`: the plan's node that it became, or NO_SLOT */
} copier;

/* A fed value: stands in the plan's graph for whatever made it. */
static tfsdk__op feed_op = {.def = {.struct_size = sizeof(tfsdk_opdef),
                                    .name = "Feed",
                                    .summary = "a value that is fed",
                                    .flags = TFSDK_OP_PLACEHOLDER,
                                    .n_out = 1}};

#define EFFECTS (TFSDK_OP_STATEFUL | TFSDK_OP_RANDOM | TFSDK_OP_EFFECT)
#define IMPURE  (TFSDK_OP_STATEFUL | TFSDK_OP_RANDOM | TFSDK_OP_EFFECT | TFSDK_OP_PLACEHOLDER)

/* --------------------------------------------------------------------------------- waiting */

static tfsdk_status *add_set(tfsdk_runtime *rt, planning *p, const uint32_t *node, size_t n,
                             uint32_t *out) {
  for (size_t i = p->sets.n; i-- > 0 && p->sets.n - i < 8;) /* mostly one of the last */
    if (p->sets.data[i].n == n &&
        (n == 0 || memcmp(p->sets.data[i].node, node, n * sizeof *node) == 0)) {
      *out = (uint32_t)i;
      return NULL;
    }
  uint32_t *copy = tfsdk__alloc(rt, (n + 1) * sizeof *copy);
  if (copy == NULL || !TFSDK__GROW(rt, &p->sets, 1)) {
    tfsdk__free(rt, copy);
    return TFSDK__NOMEM(rt);
  }
  if (n > 0) memcpy(copy, node, n * sizeof *node);
  *out = (uint32_t)p->sets.n;
  p->sets.data[p->sets.n++] = (wait_set){copy, n};
  return NULL;
}

static tfsdk_status *join_sets(tfsdk_runtime *rt, planning *p, uint32_t a, uint32_t b,
                               uint32_t *out) {
  *out = a > b ? a : b;
  if (a == b || a == 0 || b == 0) return NULL;
  const wait_set x = p->sets.data[a], y = p->sets.data[b];
  uint32_t *both = tfsdk__alloc(rt, (x.n + y.n) * sizeof *both);
  size_t n = 0, i = 0, k = 0;
  if (both == NULL) return TFSDK__NOMEM(rt);
  while (i < x.n || k < y.n) {
    bool left = k == y.n || (i < x.n && x.node[i] <= y.node[k]);
    uint32_t next = left ? x.node[i++] : y.node[k++];
    if (n == 0 || both[n - 1] != next) both[n++] = next;
  }
  tfsdk_status *s = add_set(rt, p, both, n, out);
  tfsdk__free(rt, both);
  return s;
}

static uint32_t carried_by(const planning *p, uint32_t node) {
  return node < p->carried.n ? p->carried.data[node] : 0;
}

/* From here on the node's values carry that set, too. */
static tfsdk_status *carry(tfsdk_runtime *rt, planning *p, uint32_t node, uint32_t set) {
  if (set == 0) return NULL;
  while (p->carried.n <= node) {
    if (!TFSDK__GROW(rt, &p->carried, 1)) return TFSDK__NOMEM(rt);
    p->carried.data[p->carried.n++] = 0;
  }
  return join_sets(rt, p, p->carried.data[node], set, &p->carried.data[node]);
}

/* --------------------------------------------------------------------------------------- merging */

static const tfsdk_tensor *constant_of(const tfsdk__node *n) {
  if (n->op->def.flags & TFSDK_OP_CONSTANT)
    for (uint32_t i = 0; i < n->attrs->n; i++)
      if (n->attrs->list[i].kind == TFSDK_ATTR_TENSOR) return n->attrs->list[i].v.tensor;
  return NULL;
}

/* Constants of the same few bytes are equal, though they are two tensors. */
static bool equal_constants(const tfsdk__node *a, const tfsdk__node *b) {
  const tfsdk_tensor *x = constant_of(a), *y = constant_of(b);
  return x != NULL && y != NULL && x->dtype == y->dtype && x->rank == y->rank &&
         x->dtype != TFSDK_STRING && x->byte_size == y->byte_size && x->byte_size <= 256 &&
         memcmp(x->dim, y->dim, x->rank * sizeof *x->dim) == 0 &&
         (x->byte_size == 0 || memcmp(x->data, y->data, x->byte_size) == 0);
}

static bool equal_nodes(const tfsdk__node *a, const tfsdk__node *b) {
  bool same_device =
      a->device == b->device || (a->device && b->device && strcmp(a->device, b->device) == 0);
  if (a->op != b->op || a->n_in != b->n_in || a->n_out != b->n_out || !same_device) return false;
  if (a->n_in > 0 && memcmp(a->in, b->in, a->n_in * sizeof *a->in) != 0) return false;
  if (equal_constants(a, b)) return true;
  if (a->attrs == b->attrs) return true;
  if (a->attrs->n != b->attrs->n) return false;
  for (uint32_t i = 0; i < a->attrs->n; i++)
    if (!tfsdk__attr_equal(&a->attrs->list[i], &b->attrs->list[i])) return false;
  return true;
}

static uint64_t hash_node(const tfsdk__node *n) {
  uint64_t h = tfsdk__hash(n->in, n->n_in * sizeof *n->in, n->op->index + 1);
  const tfsdk_tensor *t = constant_of(n);
  return t ? tfsdk__hash(&t->byte_size, sizeof t->byte_size, h) : h ^ n->attrs->hash;
}

static bool grow_table(tfsdk_runtime *rt, tfsdk_graph *g, planning *p) {
  size_t cap = p->cap ? 2 * p->cap : 256;
  uint32_t *table = tfsdk__zalloc(rt, cap * sizeof *table);
  if (table == NULL) return false;
  for (size_t i = 0; i < p->cap; i++) {
    if (p->table[i] == 0) continue;
    size_t at = hash_node(g->nodes.data[p->table[i] - 1]) & (cap - 1);
    while (table[at] != 0) at = (at + 1) & (cap - 1);
    table[at] = p->table[i];
  }
  tfsdk__free(rt, p->table);
  p->table = table;
  p->cap = cap;
  return true;
}

static tfsdk__node *find_equal(tfsdk_graph *g, tfsdk__node *n) {
  planning *p = g->planning;
  if (!p->merge || (n->op->def.flags & IMPURE) || n->n_out == 0) return n;
  if (2 * (p->n + 1) > p->cap && !grow_table(g->ctx.rt, g, p)) return n; /* only a chance lost */
  size_t at = hash_node(n) & (p->cap - 1);
  for (; p->table[at] != 0; at = (at + 1) & (p->cap - 1)) {
    tfsdk__node *other = g->nodes.data[p->table[at] - 1];
    if (equal_nodes(n, other)) return other;
  }
  p->table[at] = n->id + 1;
  p->n++;
  return n;
}

tfsdk_status *tfsdk__planning_merge(tfsdk_graph *g, tfsdk__node *n, tfsdk__node **out) {
  *out = find_equal(g, n);
  return carry(g->ctx.rt, g->planning, (*out)->id, g->planning->adopted);
}

tfsdk_status *tfsdk__planning_adopt(tfsdk_graph *g, tfsdk__node *n) {
  tfsdk_runtime *rt = g->ctx.rt;
  planning *p = g->planning;
  uint32_t set = p->waits;
  n->origin = p->origin;
  n->name = p->origin->name;
  n->where = p->origin->where;
  n->device = p->origin->device;
  for (uint32_t i = 0; i < n->n_in; i++)
    if (n->in[i].id != 0)
      TFSDK_TRY(join_sets(rt, p, set, carried_by(p, tfsdk__val_node(n->in[i])), &set));
  bool handle = strcmp(n->op->def.name, TFSDK__OP_VAR_HANDLE) == 0; /* the same at any time */
  if (!(n->op->def.flags & EFFECTS) || handle) {
    p->adopted = set; /* its values carry them, once it has its place */
    return NULL;
  }
  const wait_set *waits = &p->sets.data[set];
  p->adopted = 0;
  if (waits->n == 0) return NULL;
  n->control = tfsdk__alloc(rt, waits->n * sizeof *n->control);
  if (n->control == NULL) return TFSDK__NOMEM(rt);
  memcpy(n->control, waits->node, waits->n * sizeof *n->control);
  n->n_control = (uint32_t)waits->n;
  return NULL;
}

tfsdk__device *tfsdk__planning_device(tfsdk_graph *g, const tfsdk__node *n) {
  tfsdk__device *d = g->planning->session->device;
  if (n->device == NULL) return d;
  tfsdk_status *s = tfsdk__device_find(g->ctx.rt, n->device, &d);
  tfsdk_status_release(s);
  return s == NULL ? d : NULL;
}

/* ------------------------------------------------------------------------------------- rewriting */

typedef struct rewriting {
  tfsdk_rewriting base; /* first */
  tfsdk_val *out;
} rewriting;

static int32_t rewrite_maker(tfsdk_rewriting *base, tfsdk_val v, tfsdk_maker *out) {
  const tfsdk_graph *g = tfsdk__graph_of(base->ctx);
  uint32_t id = tfsdk__val_node(v);
  if (v.id == 0 || id >= g->nodes.n) return 0;
  const tfsdk__node *n = g->nodes.data[id];
  out->op = n->op->def.name;
  out->attr = tfsdk__attrlist_view(n->attrs);
  out->in = n->in;
  out->n_in = n->n_in;
  out->index = tfsdk__val_index(v);
  return n->n_control == 0;
}

static tfsdk_status *rewrite_set(tfsdk_rewriting *base, uint32_t i, tfsdk_val v) {
  rewriting *w = (rewriting *)base;
  tfsdk_status *s = tfsdk_ctx_error(base->ctx);
  if (s != NULL) return s;
  if (i >= base->n_out)
    return TFSDK_FAIL(base, INTERNAL, "the rewriting rule of %s sets output %u of %u",
                      base->op->name, i, base->n_out);
  w->out[i] = v;
  return NULL;
}

static const tfsdk_rewrite_api rewrite_api = {sizeof(tfsdk_rewrite_api), 0, rewrite_maker,
                                              rewrite_set};

/* Rules may only set values of the very types that the node has. */
static tfsdk_status *check_rewritten(const tfsdk_graph *g, const tfsdk__node *n,
                                     const tfsdk_val *out) {
  for (uint32_t o = 0; o < n->n_out; o++) {
    const tfsdk_typed_shape *have = &g->nodes.data[tfsdk__val_node(out[o])]
                                         ->out[tfsdk__val_index(out[o])],
                            *want = &n->out[o];
    if (have->dtype != want->dtype ||
        (tfsdk_shape_whole(&want->shape) && !tfsdk_same_shape(&have->shape, &want->shape)))
      return TFSDK_FAIL(&g->ctx.base, INTERNAL,
                        "the rewriting rule of %s gives %s %s for output %u, which is %s %s",
                        n->op->def.name, tfsdk_dtype_name(have->dtype),
                        tfsdk_shape_text(&have->shape).s, o, tfsdk_dtype_name(want->dtype),
                        tfsdk_shape_text(&want->shape).s);
  }
  return NULL;
}

/* Asks the op for a cheaper way. *done: the outputs are in out[]. */
static tfsdk_status *rewrite(copier *c, tfsdk__node *n, tfsdk_val *out, bool *done) {
  tfsdk__op *op = n->op;
  *done = false;
  if (op->def.rewrite == NULL || n->n_out == 0) return NULL;
  rewriting w = {{&op->plugin->host, &rewrite_api, &op->def, &c->to->ctx.base,
                  tfsdk__attrlist_view(n->attrs), n->in, n->n_in, n->n_out},
                 out};
  uint32_t set = 0;
  memset(out, 0, n->n_out * sizeof *out);
  TFSDK_TRY(op->def.rewrite(&c->to->ctx.base, &w.base));
  TFSDK_TRY(tfsdk_ctx_error(&c->to->ctx.base));
  for (uint32_t o = 0; o < n->n_out; o++) set += out[o].id != 0;
  if (set == 0) return NULL;
  if (set < n->n_out)
    return TFSDK_FAIL(&w.base, INTERNAL, "the rewriting rule of %s sets %u of %u outputs",
                      op->def.name, set, n->n_out);
  *done = true;
  return check_rewritten(c->to, n, out);
}

/* ---------------------------------------------------------------------------------------- copying */

static bool is_feed(const tfsdk__plan *p, tfsdk_val v, tfsdk_val *out) {
  for (size_t i = 0; i < p->n_feeds; i++)
    if (p->feeds[i].id == v.id) {
      *out = tfsdk__val((uint32_t)i, 0);
      return true;
    }
  return false;
}

static void mark_needed(copier *c) {
  const tfsdk__plan *p = c->w->p;
  tfsdk_val ignored;
  for (size_t i = 0; i < p->n_fetches; i++)
    if (!is_feed(p, p->fetches[i], &ignored)) c->need[tfsdk__val_node(p->fetches[i])] = 1;
  for (size_t i = c->from->nodes.n; i-- > 0;) {
    const tfsdk__node *n = c->from->nodes.data[i];
    if (!c->need[i]) continue;
    for (uint32_t k = 0; k < n->n_in; k++)
      if (n->in[k].id != 0 && !is_feed(p, n->in[k], &ignored))
        c->need[tfsdk__val_node(n->in[k])] = 1;
    for (uint32_t k = 0; k < n->n_control; k++) c->need[n->control[k]] = 1;
  }
}

static tfsdk__node *new_node(copier *c, tfsdk__op *op, tfsdk__attrlist *attrs, uint32_t n_in,
                             uint32_t n_out) {
  tfsdk_runtime *rt = c->w->rt;
  tfsdk__node *n = TFSDK__GROW(rt, &c->to->nodes, 1) ? tfsdk__zalloc(rt, sizeof *n) : NULL;
  if (n == NULL) return NULL;
  n->op = op;
  n->attrs = tfsdk__attrlist_retain(attrs);
  n->id = (uint32_t)c->to->nodes.n;
  n->n_in = n_in;
  n->n_out = n_out;
  n->in = tfsdk__zalloc(rt, (n_in + 1) * sizeof *n->in);
  n->out = tfsdk__zalloc(rt, (n_out + 1) * sizeof *n->out);
  if (n->in != NULL && n->out != NULL) return n;
  tfsdk__node_release(rt, n);
  return NULL;
}

static tfsdk_status *add_feeds(copier *c) {
  tfsdk_runtime *rt = c->w->rt;
  tfsdk__plan *p = c->w->p;
  tfsdk__attrlist *none = tfsdk__zalloc(rt, sizeof *none);
  if (none == NULL) return TFSDK__NOMEM(rt);
  atomic_init(&none->refs, 1);
  tfsdk_status *s = NULL;
  for (size_t i = 0; s == NULL && i < p->n_feeds; i++) {
    tfsdk__node *n = new_node(c, &feed_op, none, 0, 1);
    if (n == NULL) {
      s = TFSDK__NOMEM(rt);
      break;
    }
    n->origin = c->from->nodes.data[tfsdk__val_node(p->feeds[i])];
    n->name = n->origin->name;
    n->where = n->origin->where;
    n->out[0] = p->feed_types[i];
    n->fold_tried = true;
    c->to->nodes.data[c->to->nodes.n++] = n;
  }
  tfsdk__attrlist_release(rt, none);
  return s;
}

/* What the user knows of a shape beyond the rule (set_shape) holds as well. */
static void add_known_extents(tfsdk__node *n, const tfsdk__node *from) {
  for (uint32_t o = 0; o < n->n_out; o++) {
    tfsdk_shape *a = &n->out[o].shape;
    const tfsdk_shape *b = &from->out[o].shape;
    if (a->rank < 0) *a = *b;
    for (int32_t i = 0; i < a->rank && a->rank == b->rank; i++)
      if (a->dim[i] < 0) a->dim[i] = b->dim[i];
  }
}

static bool changes_nothing(const tfsdk_graph *g, const tfsdk__node *n) {
  if ((n->op->def.flags & (TFSDK_OP_VIEW | EFFECTS)) != TFSDK_OP_VIEW || n->n_out != 1 ||
      n->n_control > 0 || n->in[0].id == 0)
    return false;
  const tfsdk_typed_shape *in =
      &g->nodes.data[tfsdk__val_node(n->in[0])]->out[tfsdk__val_index(n->in[0])];
  return in->dtype == n->out[0].dtype &&
         (n->out[0].dtype == TFSDK_RESOURCE || tfsdk_same_shape(&in->shape, &n->out[0].shape));
}

/* What the copy of a node waits for. Waiting for a pure node is waiting for what it waited for, and
 * for itself if it depends on anything. */
static tfsdk_status *map_control(copier *c, const tfsdk__node *from) {
  tfsdk_runtime *rt = c->w->rt;
  planning *p = c->to->planning;
  uint32_t set = 0, one;
  for (uint32_t k = 0; k < from->n_control; k++) {
    uint32_t id = c->stand_in[from->control[k]];
    if (id == NO_SLOT) continue;
    const tfsdk__node *n = c->to->nodes.data[id];
    TFSDK_TRY(join_sets(rt, p, set, carried_by(p, id), &set));
    if (!(n->op->def.flags & EFFECTS) && n->n_in == 0) continue;
    TFSDK_TRY(add_set(rt, p, &id, 1, &one));
    TFSDK_TRY(join_sets(rt, p, set, one, &set));
  }
  p->origin = from;
  p->waits = set;
  return NULL;
}

static tfsdk_status *make_copy(copier *c, const tfsdk__node *from, tfsdk__node **out) {
  tfsdk_runtime *rt = c->w->rt;
  int32_t room[16], *dtype = room;
  tfsdk__node *n = new_node(c, from->op, from->attrs, from->n_in, from->n_out);
  if (n == NULL) return TFSDK__NOMEM(rt);
  n->random = from->random;
  for (uint32_t i = 0; i < n->n_in; i++) {
    if (from->in[i].id == 0 || is_feed(c->w->p, from->in[i], &n->in[i])) continue;
    n->in[i] = c->value[c->first[tfsdk__val_node(from->in[i])] + tfsdk__val_index(from->in[i])];
  }
  tfsdk_status *s = tfsdk__planning_adopt(c->to, n);
  if (n->n_out > 16 && (dtype = tfsdk__alloc(rt, n->n_out * sizeof *dtype)) == NULL)
    s = TFSDK__NOMEM(rt);
  for (uint32_t o = 0; dtype != NULL && o < n->n_out; o++) dtype[o] = from->out[o].dtype;
  if (s == NULL) s = tfsdk__graph_infer(c->to, n, dtype);
  if (dtype != room) tfsdk__free(rt, dtype);
  if (s != NULL) {
    tfsdk__status_add(s, "op", "%s", from->op->def.name);
    tfsdk__status_add(s, "node", "%s", from->name);
    if (from->where) tfsdk__status_add(s, "where", "%s", from->where);
    tfsdk__node_release(rt, n);
    return s;
  }
  add_known_extents(n, from);
  *out = n;
  return NULL;
}

static tfsdk_status *copy_node(copier *c, const tfsdk__node *from) {
  tfsdk_runtime *rt = c->w->rt;
  uint32_t passes = c->w->s->passes;
  tfsdk_val *value = &c->value[c->first[from->id]];
  tfsdk__node *n = NULL;
  bool done = false;
  TFSDK_TRY(map_control(c, from));
  TFSDK_TRY(make_copy(c, from, &n));
  const uint32_t carries = c->to->planning->adopted;
  if (passes & TFSDK__PASS_SIMPLIFY) {
    if (changes_nothing(c->to, n)) {
      value[0] = n->in[0];
      done = true;
    } else {
      tfsdk_status *bad = rewrite(c, n, value, &done);
      if (bad != NULL) {
        tfsdk__status_add(bad, "op", "%s", from->op->def.name);
        tfsdk__status_add(bad, "node", "%s", from->name);
        tfsdk__node_release(rt, n);
        return bad;
      }
    }
    if (done) {
      tfsdk__node_release(rt, n);
      c->stand_in[from->id] = tfsdk__val_node(value[0]);
      for (uint32_t o = 0; o < from->n_out; o++)
        TFSDK_TRY(carry(rt, c->to->planning, tfsdk__val_node(value[o]), c->to->planning->waits));
      return NULL;
    }
  }
  if (!TFSDK__GROW(rt, &c->to->nodes, 1)) {
    tfsdk__node_release(rt, n);
    return TFSDK__NOMEM(rt);
  }
  n->id = (uint32_t)c->to->nodes.n; /* a rule that gave nothing may have emitted */
  c->to->planning->adopted = carries;
  tfsdk__node *kept = NULL;
  tfsdk_status *s = tfsdk__planning_merge(c->to, n, &kept);
  if (kept == n)
    c->to->nodes.data[c->to->nodes.n++] = n;
  else
    tfsdk__node_release(rt, n);
  if (s != NULL) return s;
  if ((passes & TFSDK__PASS_FOLD) && kept->n_out > 0) tfsdk__fold(c->to, tfsdk__val(kept->id, 0));
  c->stand_in[from->id] = kept->id;
  for (uint32_t o = 0; o < from->n_out; o++) value[o] = tfsdk__val(kept->id, o);
  return NULL;
}

static tfsdk_status *copy_all(copier *c) {
  tfsdk__work *w = c->w;
  size_t n = c->from->nodes.n, values = 0;
  c->need = tfsdk__zalloc(w->rt, n + 1);
  c->first = tfsdk__zalloc(w->rt, (n + 1) * sizeof *c->first);
  c->stand_in = tfsdk__alloc(w->rt, (n + 1) * sizeof *c->stand_in);
  if (c->need == NULL || c->first == NULL || c->stand_in == NULL) return TFSDK__NOMEM(w->rt);
  for (size_t i = 0; i < n; i++) {
    c->first[i] = (uint32_t)values;
    values += c->from->nodes.data[i]->n_out;
    c->stand_in[i] = NO_SLOT;
  }
  c->value = tfsdk__zalloc(w->rt, (values + 1) * sizeof *c->value);
  if (c->value == NULL) return TFSDK__NOMEM(w->rt);
  mark_needed(c);
  TFSDK_TRY(add_feeds(c));
  for (size_t i = 0; i < n; i++)
    if (c->need[i]) TFSDK_TRY(copy_node(c, c->from->nodes.data[i]));
  for (size_t i = 0; i < w->p->n_fetches; i++) {
    tfsdk_val v = w->p->fetches[i];
    uint32_t id = tfsdk__val_node(v);
    if (is_feed(w->p, v, &w->fetch[i])) continue;
    w->fetch[i] = c->from->nodes.data[id]->n_out == 0
                      ? tfsdk__val(c->stand_in[id], 0)
                      : c->value[c->first[id] + tfsdk__val_index(v)];
  }
  return NULL;
}

tfsdk_status *tfsdk__plan_graph(tfsdk__work *w) {
  copier c = {.w = w, .from = w->s->graph};
  planning p = {.session = w->s, .merge = (w->s->passes & TFSDK__PASS_MERGE) != 0};
  TFSDK_TRY(tfsdk_graph_create(w->rt, &w->p->graph));
  w->g = c.to = w->p->graph;
  c.to->planning = &p;
  uint32_t none;
  tfsdk_status *s = add_set(w->rt, &p, NULL, 0, &none);
  if (s == NULL) s = copy_all(&c);
  c.to->planning = NULL;
  tfsdk__free(w->rt, p.table);
  tfsdk__free(w->rt, c.need);
  tfsdk__free(w->rt, c.first);
  tfsdk__free(w->rt, c.stand_in);
  tfsdk__free(w->rt, c.value);
  for (size_t i = 0; i < p.sets.n; i++) tfsdk__free(w->rt, p.sets.data[i].node);
  tfsdk__free(w->rt, p.sets.data);
  tfsdk__free(w->rt, p.carried.data);
  return s;
}
