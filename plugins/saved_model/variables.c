/* Variables. Those of TensorFlow's first years are values that can be written to (Variable, VariableV2); they become
 * resources, which is what this framework has. And which tensor of the weights' file belongs to which variable: as the
 * graph's own restoring says, which is found by its ops, whatever their names. */
#include <stdlib.h>

#include "graph.h"

static bool is_reference(const node *n) {
  return strcmp(n->op, "VariableV2") == 0 || strcmp(n->op, "Variable") == 0;
}

/* The node of an input's name; NULL: none. */
static node *maker(const graph *g, const char *in) {
  span s = input_name(in);
  uint32_t at = graph_find(g, s.p, s.n);
  return at != NOTHING ? &g->node[at] : NULL;
}

static tfsdk_status *set_inputs(graph *g, node *n, uint32_t from, const char *first,
                                const char *second) {
  const char **in = arena_get(&g->memory, (n->n_in + 2u) * sizeof *in);
  uint32_t m = 0;
  if (in == NULL) return NO_MEMORY(g);
  if (first != NULL) in[m++] = first;
  if (second != NULL) in[m++] = second;
  for (uint32_t k = from; k < n->n_in; k++) in[m++] = n->in[k];
  n->in = in;
  n->n_in = m;
  return NULL;
}

/* The type is the only attribute that ops on resources take; `dtype` of the variable says it. */
static tfsdk_status *set_type(graph *g, node *n, uint32_t variable) {
  const attribute *type = node_attr(&g->node[variable], "dtype");
  n->attr = arena_get(&g->memory, sizeof *n->attr);
  n->n_attr = 0;
  if (n->attr == NULL) return NO_MEMORY(g);
  if (type != NULL) n->attr[n->n_attr++] = *type;
  return NULL;
}

/* An op on a reference and its counterpart on a resource. */
static const struct {
  const char *reference, *resource;
} pairs[] = {{"Assign", "AssignVariableOp"},
             {"AssignAdd", "AssignAddVariableOp"},
             {"AssignSub", "AssignSubVariableOp"},
             {"IsVariableInitialized", "VarIsInitializedOp"},
             {"Identity", "ReadVariableOp"}};

static bool takes_reference(const node *n, size_t *out) {
  for (size_t i = 0; i < TFSDK_COUNT(pairs); i++)
    if (strcmp(n->op, pairs[i].reference) == 0) {
      *out = i;
      return true;
    }
  return false;
}

/* Readers that want the value, not the variable, get a node that reads it. */
static tfsdk_status *reading_node(graph *g, uint32_t variable, const char **out) {
  const char *name = arena_format(&g->memory, "%s/ReadVariableOp", g->node[variable].name);
  if (name == NULL) return NO_MEMORY(g);
  *out = name;
  node *n = graph_add_node(g);
  if (n == NULL) return NO_MEMORY(g);
  n->name = name;
  n->op = "ReadVariableOp";
  TFSDK_TRY(set_type(g, n, variable));
  return set_inputs(g, n, 0, g->node[variable].name, NULL);
}

tfsdk_status *variables_convert(graph *g) {
  size_t n_before = g->n_nodes;
  bool any = false;
  for (size_t i = 0; !any && i < n_before; i++) any = !g->node[i].gone && is_reference(&g->node[i]);
  if (!any) return NULL;
  const char **read = arena_get(&g->memory, (n_before + 1) * sizeof *read);
  if (read == NULL) return NO_MEMORY(g);
  for (uint32_t i = 0; i < n_before; i++) {
    if (g->node[i].gone || is_reference(&g->node[i])) continue;
    size_t pair = 0;
    for (uint32_t k = 0; k < g->node[i].n_in; k++) {
      const char *in = g->node[i].in[k];
      span name = input_name(in);
      uint32_t v = *in == '^' ? NOTHING : graph_find(g, name.p, name.n);
      if (v == NOTHING || !is_reference(&g->node[v])) continue;
      if (k == 0 && takes_reference(&g->node[i], &pair)) {
        node *n = &g->node[i];
        n->op = pairs[pair].resource;
        TFSDK_TRY(set_type(g, n, v)); /* validate_shape, use_locking have no effect here */
        if (strcmp(n->op, "VarIsInitializedOp") == 0) n->n_attr = 0;
        continue;
      }
      if (read[v] == NULL) TFSDK_TRY(reading_node(g, v, &read[v]));
      g->node[i].in[k] = read[v];
    }
  }
  for (size_t i = 0; i < n_before; i++)
    if (!g->node[i].gone && is_reference(&g->node[i])) g->node[i].op = "VarHandleOp";
  return graph_index(g);
}

/* ---------------------------------------------------------------------------------------- weights */

static uint32_t last_number(const char *in) {
  const char *colon = strrchr(in, ':');
  return colon != NULL ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
}

/* The i-th string of a constant; NULL if there is none. */
static const char *constant_text(graph *g, const char *in, uint32_t i) {
  const node *n = maker(g, in);
  tensor_value t;
  if (n == NULL || strcmp(n->op, "Const") != 0) return NULL;
  const attribute *a = node_attr(n, "value");
  span message = {NULL, 0}, text;
  tfsdk_status *s = a != NULL ? attr_text(g, n, a, &text, &message) : NULL;
  if (s == NULL && message.p != NULL) s = tensor_read(g, n->name, message, &t);
  if (s != NULL || message.p == NULL || t.dtype != TFSDK_STRING || i >= t.n_elem) {
    g->host->drop(g->host, s);
    return NULL;
  }
  span one = t.n_strings == 0 ? (span){"", 0} : t.strings[i < t.n_strings ? i : t.n_strings - 1];
  return arena_text(&g->memory, one.p, one.n);
}

/* Back through nodes that change nothing to the restoring op; the value is its output *out_index. */
static const node *restored(graph *g, const char *in, uint32_t *out_index) {
  for (int steps = 0; steps < 16; steps++) {
    const node *n = maker(g, in);
    if (n == NULL || n->gone) return NULL;
    if (strcmp(n->op, "RestoreV2") == 0) {
      *out_index = last_number(in);
      return n->n_in >= 3 ? n : NULL;
    }
    if (n->n_in == 0 || (strcmp(n->op, "Identity") != 0 && strcmp(n->op, "Cast") != 0)) return NULL;
    in = n->in[0];
  }
  return NULL;
}

tfsdk_status *weights_find(graph *g) {
  for (size_t i = 0; g->prefix != NULL && i < g->n_nodes; i++) {
    const node *n = &g->node[i];
    uint32_t at = 0;
    if (n->gone || n->n_in < 2 || strcmp(n->op, "AssignVariableOp") != 0) continue;
    const node *handle = maker(g, n->in[0]), *from = restored(g, n->in[1], &at);
    if (handle == NULL || from == NULL || strcmp(handle->op, "VarHandleOp") != 0) continue;
    const char *key = constant_text(g, from->in[1], at), *slice = constant_text(g, from->in[2], at);
    if (key == NULL) continue;
    weight *list = arena_grow(&g->memory, g->weight, g->n_weights, &g->cap_weights, sizeof *list);
    if (list == NULL) return NO_MEMORY(g);
    g->weight = list;
    weight *w = &list[g->n_weights++];
    w->handle = handle->name;
    w->key = key;
    w->slice = slice != NULL ? slice : "";
  }
  return NULL;
}
