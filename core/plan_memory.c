/* Where the values of a plan are, and when.
 *
 * A value that only kernels of this plan read gets a place in the arena: one block of memory for
 * all plans of a session, in which values take each other's places as soon as they are dead (pass
 * arena). What leaves the plan (fetches, new values of variables) or is made by steps that decide
 * at run time is a tensor of its own. Views share the memory of what they show. An element-wise
 * result takes over the place of an operand that dies there. */
#include "plan.h"

#define ALIGN 64

typedef struct block { /* a stretch of the arena, for one or more values one after another */
  uint64_t bytes, offset;
  uint32_t from, to; /* steps */
} block;

typedef struct planner {
  tfsdk__work *w;
  TFSDK__VEC(block) blocks;
  uint32_t *block_of; /* by slot; NO_SLOT */
} planner;

static const tfsdk__node *node_at(const tfsdk__work *w, uint32_t id) {
  return w->g->nodes.data[id];
}

uint8_t tfsdk__unit_kind(const tfsdk__work *w, const tfsdk__unit *u) {
  const tfsdk__node *n = node_at(w, u->member.data[0]);
  if (u->root != NO_SLOT) return TFSDK__STEP_CALL;
  if (u->member.n > 1) return TFSDK__STEP_GROUP;
  if ((n->op->def.flags & TFSDK_OP_VIEW) && n->n_out == 1 && n->in[0].id != 0 &&
      tfsdk_dtype_size(n->out[0].dtype) > 0 && n->out[0].dtype != TFSDK_RESOURCE &&
      tfsdk_shape_whole(&n->out[0].shape) && tfsdk_shape_elements(&n->out[0].shape) >= 0 &&
      tfsdk_shape_elements(&tfsdk__work_type(w, n->in[0])->shape) ==
          tfsdk_shape_elements(&n->out[0].shape))
    return TFSDK__STEP_ALIAS;
  if (strcmp(n->op->def.name, TFSDK__OP_VAR_READ) == 0) {
    const tfsdk_tensor *handle = w->fixed[tfsdk__work_value(w, n->in[0])];
    if (handle != NULL && handle->cell != NULL && handle->cell->dtype == n->out[0].dtype)
      return TFSDK__STEP_READ;
  }
  return tfsdk__work_planned(w, n->id) ? TFSDK__STEP_CALL : TFSDK__STEP_OPEN;
}

/* ---------------------------------------------------------------------------------- who uses what */

static uint32_t slot_of(const tfsdk__work *w, tfsdk_val v) { return tfsdk__work_value(w, v); }

static void note_read(tfsdk__work *w, uint32_t slot, uint32_t step, bool as_tensor) {
  tfsdk__slot *s = &w->p->slot[slot], *root = &w->p->slot[s->root];
  w->read[slot] = w->read[s->root] = step;
  if (as_tensor)
    s->wanted = root->wanted = true;
  else
    s->viewed = root->viewed = true;
}

static void note_node(tfsdk__work *w, uint32_t id, uint32_t step, uint8_t kind) {
  const tfsdk__node *n = node_at(w, id);
  for (uint32_t o = 0; o < n->n_out; o++) w->made[w->first[id] + o] = step;
  if (kind == TFSDK__STEP_ALIAS) {
    uint32_t from = slot_of(w, n->in[0]);
    w->p->slot[w->first[id]].root = w->p->slot[from].root;
  }
  for (uint32_t k = 0; k < n->n_in; k++) {
    if (!tfsdk__work_reads(w, n, k)) continue;
    bool data = kind != TFSDK__STEP_ALIAS || k == 0; /* the target shape is in the plan already */
    if (data) note_read(w, slot_of(w, n->in[k]), step, kind == TFSDK__STEP_OPEN);
  }
  for (uint32_t o = 0; o < n->n_out; o++)
    if (kind == TFSDK__STEP_CALL || kind == TFSDK__STEP_GROUP)
      w->p->slot[w->first[id] + o].viewed = true;
}

static void find_uses(tfsdk__work *w) {
  for (uint32_t i = 0; i < w->order.n; i++) {
    const tfsdk__unit *u = &w->units.data[w->order.data[i]];
    uint8_t kind = tfsdk__unit_kind(w, u);
    if (u->root != NO_SLOT) note_node(w, u->root, i, kind);
    for (size_t k = 0; k < u->member.n; k++) note_node(w, u->member.data[k], i, kind);
  }
  for (size_t i = 0; i < w->p->n_fetches; i++) {
    const tfsdk__node *n = node_at(w, tfsdk__val_node(w->fetch[i]));
    if (n->n_out == 0) continue;
    note_read(w, slot_of(w, w->fetch[i]), (uint32_t)w->order.n, true);
  }
}

/* A member's result that only members of its group read is nowhere but in scratch memory. */
static void find_inner(tfsdk__work *w) {
  for (uint32_t i = 0; i < w->order.n; i++) {
    const tfsdk__unit *u = &w->units.data[w->order.data[i]];
    if (u->member.n < 2 && u->root == NO_SLOT) continue;
    for (size_t k = 0; k < u->member.n; k++) {
      uint32_t slot = w->first[u->member.data[k]];
      if (w->read[slot] == i && !w->p->slot[slot].wanted)
        w->p->slot[slot].place = TFSDK__PLACE_NONE;
    }
  }
}

static void find_places(tfsdk__work *w) {
  tfsdk__plan *p = w->p;
  bool arena = (w->s->passes & TFSDK__PASS_ARENA) && !w->rt->alloc.guard;
  for (uint32_t i = 0; i < w->n_values; i++) {
    tfsdk__slot *s = &p->slot[i];
    if (w->fixed[i] != NULL && w->made[i] == NO_STEP) s->place = TFSDK__PLACE_FIXED;
  }
  for (uint32_t i = 0; arena && i < w->order.n; i++) {
    const tfsdk__unit *u = &w->units.data[w->order.data[i]];
    uint8_t kind = tfsdk__unit_kind(w, u);
    if ((kind != TFSDK__STEP_CALL && kind != TFSDK__STEP_GROUP) ||
        w->bound[tfsdk__unit_leader(u)].device != tfsdk__device_host(w->rt))
      continue;
    for (size_t k = 0; k <= u->member.n; k++) {
      uint32_t id = k < u->member.n ? u->member.data[k] : u->root;
      if (id == NO_SLOT) continue;
      for (uint32_t o = 0; o < node_at(w, id)->n_out; o++)
        if (!p->slot[w->first[id] + o].wanted) p->slot[w->first[id] + o].place = TFSDK__PLACE_ARENA;
    }
  }
  find_inner(w);
  for (uint32_t i = 0; i < w->n_values; i++)
    if (p->slot[i].root != i) p->slot[i].place = p->slot[p->slot[i].root].place;
}

/* -------------------------------------------------------------------------------- taking over places */

static uint64_t bytes_of(const tfsdk_typed_shape *t) {
  return (uint64_t)tfsdk_shape_elements(&t->shape) * tfsdk_dtype_size(t->dtype);
}

/* Inputs of the node that show this memory. */
static uint32_t reads_of(const tfsdk__work *w, const tfsdk__node *n, uint32_t root) {
  uint32_t uses = 0;
  for (uint32_t k = 0; k < n->n_in; k++)
    uses += tfsdk__work_reads(w, n, k) && w->p->slot[slot_of(w, n->in[k])].root == root;
  return uses;
}

static bool dies_at(const planner *m, uint32_t slot, uint32_t step, uint64_t bytes) {
  const tfsdk__work *w = m->w;
  return w->p->slot[slot].place == TFSDK__PLACE_ARENA && w->read[slot] == step &&
         m->block_of[slot] != NO_SLOT && m->blocks.data[m->block_of[slot]].bytes == bytes;
}

/* May output o of the node be written over input k? */
static bool writes_over(const tfsdk__node *n, uint32_t o, uint32_t k) {
  const tfsdk_opdef *def = &n->op->def;
  if (def->may_alias == NULL || o >= def->n_out || def->may_alias[o] < 0) return false;
  if (def->may_alias[o] == (int8_t)k) return true;
  return (def->flags & TFSDK_OP_COMMUTATIVE) && (def->flags & TFSDK_OP_ELEMENTWISE) && k < 2;
}

/* The dying input whose place output o of a single kernel takes; NO_SLOT: none. */
static uint32_t victim_of_call(const planner *m, const tfsdk__node *n, uint32_t o, uint32_t step) {
  const tfsdk__work *w = m->w;
  for (uint32_t k = 0; k < n->n_in; k++) {
    if (!tfsdk__work_reads(w, n, k) || !writes_over(n, o, k)) continue;
    uint32_t root = w->p->slot[slot_of(w, n->in[k])].root;
    if (dies_at(m, root, step, bytes_of(&n->out[o])) && reads_of(w, n, root) == 1 &&
        tfsdk__work_type(w, n->in[k])->dtype == n->out[o].dtype)
      return root;
  }
  return NO_SLOT;
}

/* The same in a group: tiles are read before they are written only if no member that comes after
 * the writer reads them; nor may the leader, whose other rows are yet to come. */
static uint32_t victim_in_group(const planner *m, const tfsdk__unit *u, size_t writer,
                                uint32_t step) {
  const tfsdk__work *w = m->w;
  const tfsdk__node *n = node_at(w, u->member.data[writer]);
  uint64_t bytes = bytes_of(&n->out[0]);
  for (size_t j = 0; j <= writer; j++) {
    const tfsdk__node *reader = node_at(w, u->member.data[j]);
    for (uint32_t k = 0; k < reader->n_in; k++) {
      if (!tfsdk__work_reads(w, reader, k)) continue;
      const tfsdk_typed_shape *t = tfsdk__work_type(w, reader->in[k]);
      uint32_t root = w->p->slot[slot_of(w, reader->in[k])].root;
      int64_t ignored;
      if (!dies_at(m, root, step, bytes) ||
          tfsdk__operand_kind(&n->out[0].shape, &t->shape, &ignored) != TFSDK__OPERAND_WHOLE ||
          tfsdk_dtype_size(t->dtype) != tfsdk_dtype_size(n->out[0].dtype))
        continue;
      bool free = u->root == NO_SLOT || reads_of(w, node_at(w, u->root), root) == 0;
      for (size_t i = writer + 1; free && i < u->member.n; i++)
        free = reads_of(w, node_at(w, u->member.data[i]), root) == 0;
      uint32_t own = reads_of(w, n, root);
      if (free && (own == 0 || (own == 1 && j == writer && writes_over(n, 0, k)))) return root;
    }
  }
  return NO_SLOT;
}

static tfsdk_status *give_block(planner *m, uint32_t slot, uint64_t bytes, uint32_t step,
                                uint32_t victim) {
  const tfsdk__work *w = m->w;
  uint32_t end = w->read[slot] == NO_STEP ? step : w->read[slot];
  if (victim != NO_SLOT) {
    m->block_of[slot] = m->block_of[victim];
    m->block_of[victim] = NO_SLOT; /* nobody else may take it over */
    m->blocks.data[m->block_of[slot]].to = end;
    w->p->slot[victim].offset = m->block_of[slot]; /* the same block, told later */
    return NULL;
  }
  if (!TFSDK__GROW(w->rt, &m->blocks, 1)) return TFSDK__NOMEM(w->rt);
  m->block_of[slot] = (uint32_t)m->blocks.n;
  m->blocks.data[m->blocks.n++] = (block){bytes, 0, step, end};
  return NULL;
}

static tfsdk_status *give_blocks(planner *m) {
  tfsdk__work *w = m->w;
  for (uint32_t i = 0; i < w->order.n; i++) {
    const tfsdk__unit *u = &w->units.data[w->order.data[i]];
    bool group = u->root != NO_SLOT || u->member.n > 1;
    if (tfsdk__unit_kind(w, u) == TFSDK__STEP_OPEN) continue;
    for (size_t k = 0; k <= u->member.n; k++) { /* the leader first */
      uint32_t id = k == 0 ? u->root : u->member.data[k - 1];
      if (id == NO_SLOT) continue;
      const tfsdk__node *n = node_at(w, id);
      for (uint32_t o = 0; o < n->n_out; o++) {
        uint32_t slot = w->first[id] + o;
        const tfsdk__slot *s = &w->p->slot[slot];
        if (s->place != TFSDK__PLACE_ARENA || s->root != slot) continue;
        uint32_t victim = group && k > 0 ? victim_in_group(m, u, k - 1, i)
                          : k == 0       ? NO_SLOT
                                         : victim_of_call(m, n, o, i);
        TFSDK_TRY(give_block(m, slot, bytes_of(&n->out[o]), i, victim));
        w->p->slot[slot].offset = m->block_of[slot];
      }
    }
  }
  return NULL;
}

/* ---------------------------------------------------------------------------------------- offsets */

typedef struct by_size {
  uint64_t bytes;
  uint32_t at;
} by_size;

static int larger_first(const void *a, const void *b) {
  const by_size *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

/* Large blocks first, each at the lowest place where nothing lives at the same time. */
static tfsdk_status *give_offsets(planner *m) {
  tfsdk__work *w = m->w;
  size_t n = m->blocks.n, done = 0;
  by_size *order = tfsdk__alloc(w->rt, (n + 1) * sizeof *order);
  uint32_t *placed = tfsdk__alloc(w->rt, (n + 1) * sizeof *placed); /* by rising offset */
  if (order == NULL || placed == NULL) {
    tfsdk__free(w->rt, order);
    tfsdk__free(w->rt, placed);
    return TFSDK__NOMEM(w->rt);
  }
  for (uint32_t i = 0; i < n; i++) order[i] = (by_size){m->blocks.data[i].bytes, i};
  qsort(order, n, sizeof *order, larger_first);
  for (size_t i = 0; i < n; i++) {
    block *b = &m->blocks.data[order[i].at];
    uint64_t at = 0, bytes = (b->bytes + ALIGN - 1) / ALIGN * ALIGN;
    for (size_t k = 0; k < done; k++) {
      const block *other = &m->blocks.data[placed[k]];
      if (other->from > b->to || other->to < b->from) continue;
      if (other->offset >= at + bytes) break;
      uint64_t end = other->offset + (other->bytes + ALIGN - 1) / ALIGN * ALIGN;
      if (end > at) at = end;
    }
    b->offset = at;
    if (at + bytes > w->p->arena_bytes) w->p->arena_bytes = at + bytes;
    size_t k = done++;
    for (; k > 0 && m->blocks.data[placed[k - 1]].offset > at; k--) placed[k] = placed[k - 1];
    placed[k] = order[i].at;
  }
  tfsdk__free(w->rt, order);
  tfsdk__free(w->rt, placed);
  return NULL;
}

static void tell_offsets(planner *m) {
  tfsdk__plan *p = m->w->p;
  for (uint32_t i = 0; i < m->w->n_values; i++) {
    tfsdk__slot *s = &p->slot[i];
    if (s->place == TFSDK__PLACE_ARENA && s->root == i)
      s->offset = m->blocks.data[s->offset].offset;
  }
  for (uint32_t i = 0; i < m->w->n_values; i++)
    if (p->slot[i].root != i) p->slot[i].offset = p->slot[p->slot[i].root].offset;
}

tfsdk_status *tfsdk__plan_memory(tfsdk__work *w) {
  planner m = {.w = w};
  tfsdk__plan *p = w->p;
  size_t n = w->n_values + 1u;
  p->n_slots = w->n_values;
  p->slot = tfsdk__zalloc(w->rt, n * sizeof *p->slot);
  w->made = tfsdk__alloc(w->rt, n * sizeof *w->made);
  w->read = tfsdk__alloc(w->rt, n * sizeof *w->read);
  m.block_of = tfsdk__alloc(w->rt, n * sizeof *m.block_of);
  tfsdk_status *s = TFSDK__NOMEM(w->rt);
  if (p->slot && w->made && w->read && m.block_of) {
    for (uint32_t i = 0; i < n; i++) {
      w->made[i] = w->read[i] = NO_STEP;
      m.block_of[i] = NO_SLOT;
      p->slot[i].root = i;
      p->slot[i].place = TFSDK__PLACE_TENSOR;
    }
    find_uses(w);
    find_places(w);
    s = give_blocks(&m);
    if (s == NULL) s = give_offsets(&m);
    if (s == NULL) tell_offsets(&m);
  }
  tfsdk__free(w->rt, m.block_of);
  tfsdk__free(w->rt, m.blocks.data);
  return s;
}
