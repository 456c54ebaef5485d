/* Which nodes are wanted, in an order in which inputs come before their readers. */
#include "graph.h"

enum { WHITE, GREY, BLACK };

typedef struct frame {
  uint32_t node, next; /* its next input */
} frame;

static const char *looping(const graph *g) {
  for (size_t i = 0; i < g->n_nodes; i++)
    if (!g->node[i].gone && strcmp(g->node[i].op, "NextIteration") == 0) return g->node[i].name;
  return NULL;
}

static tfsdk_status *visit(graph *g, uint32_t root, frame *stack) {
  size_t n = 0;
  if (g->node[root].mark == BLACK) return NULL;
  stack[n++] = (frame){root, 0};
  g->node[root].mark = GREY;
  while (n > 0) {
    frame *f = &stack[n - 1];
    node *x = &g->node[f->node];
    if (f->next == x->n_in) {
      x->mark = BLACK;
      g->order[g->n_order++] = f->node;
      n--;
      continue;
    }
    const char *in = x->in[f->next++];
    span name = input_name(in);
    uint32_t at = graph_find(g, name.p, name.n);
    if (at == NOTHING)
      return GRAPH_FAIL(g, DATA_LOSS, "the node '%s' (%s) reads '%s', which is not there", x->name,
                        x->op, in);
    if (g->node[at].mark == GREY) {
      const char *loop = looping(g);
      if (loop != NULL)
        return GRAPH_FAIL(g, UNIMPLEMENTED,
                          "the node '%s' closes a loop of TensorFlow 1; such loops are not read",
                          loop);
      return GRAPH_FAIL(g, DATA_LOSS, "the nodes '%s' and '%s' need each other: a circle",
                        g->node[at].name, x->name);
    }
    if (g->node[at].mark == BLACK) continue;
    g->node[at].mark = GREY;
    stack[n++] = (frame){at, 0};
  }
  return NULL;
}

#define PASSES 64 /* over the nodes, which mostly come in order */

static bool saves(const node *n) {
  static const char *const ops[] = {
      "SaveV2",       "RestoreV2", "MergeV2Checkpoints", "Save",           "Restore", "SaveSlices",
      "RestoreSlice", "RestoreOp", "ShardedFilename",    "ShardedFilespec"};
  for (size_t i = 0; i < TFSDK_COUNT(ops); i++)
    if (strcmp(n->op, ops[i]) == 0) return true;
  return false;
}

static uint32_t input_at(const graph *g, const node *n, uint32_t k) {
  span name = input_name(n->in[k]);
  return graph_find(g, name.p, name.n);
}

/* A training program's own saving and restoring is not wanted: weights are read here. Marks such nodes, those that
 * need them, and those that nobody else needs. */
static tfsdk_status *leave_out_saving(const graph *g, bool *out) {
  bool again = true;
  for (size_t i = 0; i < g->n_nodes; i++) out[i] = g->node[i].gone || saves(&g->node[i]);
  for (int pass = 0; again && pass < PASSES; pass++) {
    again = false;
    for (size_t i = 0; i < g->n_nodes; i++)
      for (uint32_t k = 0; !out[i] && k < g->node[i].n_in; k++) {
        uint32_t at = input_at(g, &g->node[i], k);
        if (at == NOTHING || !out[at]) continue;
        out[i] = again = true;
      }
  }
  unsigned char *used = arena_get((arena *)(uintptr_t)&g->memory, g->n_nodes + 1);
  if (used == NULL) return NO_MEMORY(g);
  again = true;
  for (int pass = 0; again && pass < PASSES; pass++) {
    again = false;
    memset(used, 0, g->n_nodes);
    for (size_t i = 0; i < g->n_nodes; i++)
      for (uint32_t k = 0; !g->node[i].gone && k < g->node[i].n_in; k++) {
        uint32_t at = input_at(g, &g->node[i], k);
        if (at != NOTHING) used[at] |= out[i] ? 1 : 2;
      }
    for (size_t i = 0; i < g->n_nodes; i++)
      if (!out[i] && used[i] == 1 && strcmp(g->node[i].op, "VarHandleOp") != 0)
        out[i] = again = true;
  }
  return NULL;
}

tfsdk_status *order_nodes(graph *g, const char *const *wanted, uint32_t n_wanted) {
  frame *stack = arena_get(&g->memory, (g->n_nodes + 1) * sizeof *stack);
  g->order = arena_get(&g->memory, (g->n_nodes + 1) * sizeof *g->order);
  if (stack == NULL || g->order == NULL) return NO_MEMORY(g);
  for (uint32_t i = 0; i < n_wanted; i++) {
    span name = input_name(wanted[i]);
    uint32_t at = graph_find(g, name.p, name.n);
    if (at == NOTHING)
      return GRAPH_FAIL(g, NOT_FOUND, "there is no node '%.*s'", (int)name.n, name.p);
    TFSDK_TRY(visit(g, at, stack));
  }
  bool signatures = n_wanted == 0 && g->n_signatures > 0;
  for (size_t i = 0; signatures && i < g->n_signatures; i++) {
    const signature *s = &g->signature[i];
    for (uint32_t k = 0; k < s->n_in + s->n_out; k++) {
      const endpoint *e = k < s->n_in ? &s->in[k] : &s->out[k - s->n_in];
      span name = input_name(e->name);
      uint32_t at = graph_find(g, name.p, name.n);
      if (at == NOTHING)
        return GRAPH_FAIL(g, DATA_LOSS, "'%s' of the signature '%s' is '%s', which is not there",
                          e->key, s->key, e->name);
      TFSDK_TRY(visit(g, at, stack));
    }
  }
  bool *left_out = arena_get(&g->memory, (g->n_nodes + 1) * sizeof *left_out);
  if (left_out == NULL) return NO_MEMORY(g);
  if (g->message != MESSAGE_GRAPH) TFSDK_TRY(leave_out_saving(g, left_out));
  for (uint32_t i = 0; n_wanted == 0 && !signatures && i < g->n_nodes; i++)
    if (!g->node[i].gone && !left_out[i]) TFSDK_TRY(visit(g, i, stack));
  if (g->n_order == 0) return GRAPH_FAIL(g, INVALID_ARGUMENT, "the graph has no nodes");
  return NULL;
}
