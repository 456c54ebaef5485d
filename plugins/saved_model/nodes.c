/* Nodes and functions of a GraphDef, and the table of names. */
#include "graph.h"

#define MANY (1u << 22) /* nodes of one graph: more is damage */

static tfsdk_status *bad(graph *g, const char *what) {
  if (g->no_memory) return NO_MEMORY(g);
  return GRAPH_FAIL(g, DATA_LOSS, "%s is damaged: its bytes are no message", what);
}

/* NULL: a NUL is in it, which no name has; or memory is out, which bad() says. */
static const char *text_of(graph *g, span s) {
  if (s.n > 0 && memchr(s.p, 0, s.n) != NULL) return NULL;
  const char *text = arena_text(&g->memory, s.p, s.n);
  g->no_memory = g->no_memory || text == NULL;
  return text;
}

static tfsdk_status *read_attr(graph *g, node *n, size_t *cap, span entry) {
  wire w = wire_of(entry);
  attribute a = {"", {"", 0}};
  while (wire_next(&w)) {
    if (wire_is(&w, 1, 2) && (a.name = text_of(g, w.bytes)) == NULL) return bad(g, "an attribute");
    if (wire_is(&w, 2, 2)) a.value = w.bytes;
  }
  if (w.wrong) return bad(g, "an attribute");
  attribute *list = arena_grow(&g->memory, n->attr, n->n_attr, cap, sizeof *list);
  if (list == NULL) return NO_MEMORY(g);
  n->attr = list;
  n->attr[n->n_attr++] = a;
  return NULL;
}

static tfsdk_status *read_node(graph *g, span message, node *n) {
  wire w = wire_of(message);
  size_t cap = 0, cap_attr = 0;
  n->name = n->op = n->device = "";
  while (wire_next(&w)) {
    const char *text = NULL;
    if (w.field <= 4 && w.kind == 2 && (text = text_of(g, w.bytes)) == NULL)
      return bad(g, "a node");
    if (wire_is(&w, 1, 2)) n->name = text;
    if (wire_is(&w, 2, 2)) n->op = text;
    if (wire_is(&w, 4, 2)) n->device = text;
    if (wire_is(&w, 3, 2)) {
      const char **list =
          arena_grow(&g->memory, (void *)(uintptr_t)n->in, n->n_in, &cap, sizeof *list);
      if (list == NULL) return NO_MEMORY(g);
      n->in = list;
      n->in[n->n_in++] = text;
    }
    if (wire_is(&w, 5, 2)) TFSDK_TRY(read_attr(g, n, &cap_attr, w.bytes));
  }
  if (w.wrong) return bad(g, "a node");
  if (n->name[0] == 0 || n->op[0] == 0)
    return GRAPH_FAIL(g, DATA_LOSS, "a node has no %s", n->name[0] == 0 ? "name" : "op");
  return NULL;
}

static tfsdk_status *add_text(graph *g, const char ***list, uint32_t *n, size_t *cap, span s) {
  const char **more = arena_grow(&g->memory, (void *)(uintptr_t)*list, *n, cap, sizeof *more);
  const char *text = text_of(g, s);
  if (more == NULL) return NO_MEMORY(g);
  if (text == NULL) return bad(g, "a function");
  more[(*n)++] = text;
  *list = more;
  return NULL;
}

static tfsdk_status *arg_name(graph *g, span arg, span *out) {
  wire w = wire_of(arg);
  out->p = "";
  out->n = 0;
  while (wire_next(&w))
    if (wire_is(&w, 1, 2)) *out = w.bytes;
  return w.wrong ? bad(g, "a function's argument") : NULL;
}

/* signature: OpDef{name 1, input_arg 2*, output_arg 3*} */
static tfsdk_status *read_signature(graph *g, function *f, span message) {
  wire w = wire_of(message);
  size_t cap_in = 0, cap_out = 0;
  while (wire_next(&w)) {
    span name;
    if (wire_is(&w, 1, 2) && (f->name = text_of(g, w.bytes)) == NULL) return bad(g, "a function");
    if (wire_is(&w, 2, 2)) {
      TFSDK_TRY(arg_name(g, w.bytes, &name));
      TFSDK_TRY(add_text(g, &f->arg, &f->n_arg, &cap_in, name));
    }
    if (wire_is(&w, 3, 2)) {
      TFSDK_TRY(arg_name(g, w.bytes, &name));
      TFSDK_TRY(add_text(g, &f->result, &f->n_result, &cap_out, name));
    }
  }
  return w.wrong ? bad(g, "a function") : NULL;
}

static tfsdk_status *read_entry(graph *g, span message, span *key, span *value) {
  wire w = wire_of(message);
  key->p = value->p = "";
  key->n = value->n = 0;
  while (wire_next(&w)) {
    if (wire_is(&w, 1, 2)) *key = w.bytes;
    if (wire_is(&w, 2, 2)) *value = w.bytes;
  }
  return w.wrong ? bad(g, "a function") : NULL;
}

static tfsdk_status *read_function(graph *g, span message, function *f) {
  wire w = wire_of(message);
  size_t cap = 0, cap_control = 0;
  f->name = "";
  while (wire_next(&w))
    if (wire_is(&w, 1, 2)) TFSDK_TRY(read_signature(g, f, w.bytes));
  f->ret = arena_get(&g->memory, (f->n_result + 1) * sizeof *f->ret);
  if (f->ret == NULL) return NO_MEMORY(g);
  w = wire_of(message);
  while (wire_next(&w)) {
    span key, value;
    if (wire_is(&w, 3, 2)) {
      node *list = arena_grow(&g->memory, f->nodes, f->n_nodes, &cap, sizeof *list);
      if (list == NULL) return NO_MEMORY(g);
      f->nodes = list;
      memset(&f->nodes[f->n_nodes], 0, sizeof *list);
      TFSDK_TRY(read_node(g, w.bytes, &f->nodes[f->n_nodes]));
      f->n_nodes++;
    }
    if (wire_is(&w, 4, 2)) {
      TFSDK_TRY(read_entry(g, w.bytes, &key, &value));
      for (uint32_t i = 0; i < f->n_result; i++)
        if (span_is(key, f->result[i]) && (f->ret[i] = text_of(g, value)) == NULL)
          return bad(g, "a function");
    }
    if (wire_is(&w, 6, 2)) {
      TFSDK_TRY(read_entry(g, w.bytes, &key, &value));
      TFSDK_TRY(add_text(g, &f->control, &f->n_control, &cap_control, value));
    }
  }
  if (w.wrong) return bad(g, "a function");
  for (uint32_t i = 0; i < f->n_result; i++)
    if (f->ret[i] == NULL)
      return GRAPH_FAIL(g, DATA_LOSS, "the function '%s' does not say what its result '%s' is",
                        f->name, f->result[i]);
  return NULL;
}

node *graph_add_node(graph *g) {
  if (g->n_nodes >= MANY) return NULL;
  node *list = arena_grow(&g->memory, g->node, g->n_nodes, &g->cap_nodes, sizeof *list);
  if (list == NULL) return NULL;
  g->node = list;
  node *n = &g->node[g->n_nodes];
  memset(n, 0, sizeof *n);
  n->order = (uint32_t)g->n_nodes++;
  n->name = n->op = n->device = "";
  return n;
}

tfsdk_status *nodes_read(graph *g, span graph_def) {
  wire w = wire_of(graph_def);
  while (wire_next(&w)) {
    if (wire_is(&w, 1, 2)) {
      node *n = graph_add_node(g);
      if (n == NULL) return NO_MEMORY(g);
      TFSDK_TRY(read_node(g, w.bytes, n));
    }
    if (!wire_is(&w, 2, 2)) continue;
    wire lib = wire_of(w.bytes);
    while (wire_next(&lib)) {
      if (!wire_is(&lib, 1, 2)) continue;
      function *list =
          arena_grow(&g->memory, g->function, g->n_functions, &g->cap_functions, sizeof *list);
      if (list == NULL) return NO_MEMORY(g);
      g->function = list;
      memset(&list[g->n_functions], 0, sizeof *list);
      TFSDK_TRY(read_function(g, lib.bytes, &list[g->n_functions]));
      g->n_functions++;
    }
    if (lib.wrong) return bad(g, "the library of functions");
  }
  if (w.wrong) return bad(g, "the graph");
  return graph_index(g);
}

/* ------------------------------------------------------------------------------------------ names */

static uint64_t hash(const char *s, size_t n) { /* FNV-1a */
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 1099511628211u;
  return h;
}

uint32_t graph_find(const graph *g, const char *name, size_t n) {
  if (g->table_size == 0) return NOTHING;
  for (size_t i = hash(name, n) & (g->table_size - 1);; i = (i + 1) & (g->table_size - 1)) {
    uint32_t at = g->table[i];
    if (at == 0) return NOTHING;
    const char *other = g->node[at - 1].name;
    if (strncmp(other, name, n) == 0 && other[n] == 0) return at - 1;
  }
}

tfsdk_status *graph_index(graph *g) {
  size_t size = 64;
  while (size < 2 * g->n_nodes) size *= 2;
  g->table = arena_get(&g->memory, size * sizeof *g->table);
  g->table_size = 0;
  if (g->table == NULL) return NO_MEMORY(g);
  g->table_size = size;
  for (uint32_t k = 0; k < g->n_nodes; k++) {
    const char *name = g->node[k].name;
    if (g->node[k].gone) continue;
    if (graph_find(g, name, strlen(name)) != NOTHING)
      return GRAPH_FAIL(g, DATA_LOSS, "two nodes are called '%s'", name);
    size_t i = hash(name, strlen(name)) & (size - 1);
    while (g->table[i] != 0) i = (i + 1) & (size - 1);
    g->table[i] = k + 1;
  }
  return NULL;
}

span input_name(const char *in) {
  span s = {in, 0};
  if (*s.p == '^') s.p++;
  s.n = strcspn(s.p, ":");
  return s;
}

const attribute *node_attr(const node *n, const char *name) {
  for (uint32_t i = 0; i < n->n_attr; i++)
    if (strcmp(n->attr[i].name, name) == 0) return &n->attr[i];
  return NULL;
}

span attr_string(const node *n, const char *name) {
  const attribute *a = node_attr(n, name);
  span s = {NULL, 0};
  wire w = wire_of(a != NULL ? a->value : s);
  while (wire_next(&w))
    if (wire_is(&w, 2, 2)) s = w.bytes;
  return s;
}
