/* Calls of functions become the functions' nodes, with the call's name before theirs. Inside a function an input is an
 * argument's name, or "node:output argument:index"; outside, what the call gave is "call:result". */
#include <stdio.h>
#include <stdlib.h>

#include "graph.h"

#define DEEP 64         /* functions in functions */
#define MANY (1u << 20) /* nodes that calls become */

static const function *called(graph *g, const node *n) {
  const char *name = n->op;
  span callee = {name, strlen(name)};
  if (strcmp(name, "PartitionedCall") == 0 || strcmp(name, "StatefulPartitionedCall") == 0) {
    const attribute *a = node_attr(n, "f");
    wire w = wire_of(a != NULL ? a->value : (span){NULL, 0});
    while (wire_next(&w)) { /* AttrValue.func 10: NameAttrList{name 1} */
      if (!wire_is(&w, 10, 2)) continue;
      wire f = wire_of(w.bytes);
      while (wire_next(&f))
        if (wire_is(&f, 1, 2)) callee = f.bytes;
    }
  }
  for (size_t i = 0; i < g->n_functions; i++)
    if (span_is(callee, g->function[i].name)) return &g->function[i];
  return NULL;
}

typedef struct call {
  const function *f;
  const char *name; /* of the call: before its nodes' names */
  const char **arg; /* what stands for the arguments, in the graph's words */
  const char **control;
  uint32_t n_control;
} call;

static const char *function_node(const function *f, span name) {
  for (uint32_t i = 0; i < f->n_nodes; i++)
    if (span_is(name, f->nodes[i].name)) return f->nodes[i].name;
  return NULL;
}

/* An input of a node of the function in the graph's words. */
static tfsdk_status *outside(graph *g, const call *c, const char *in, const char **out) {
  span name = input_name(in);
  if (*in != '^')
    for (uint32_t i = 0; i < c->f->n_arg; i++)
      if (span_is(name, c->f->arg[i])) {
        *out = c->arg[i];
        return NULL;
      }
  if (function_node(c->f, name) == NULL)
    return GRAPH_FAIL(g, DATA_LOSS, "in the function '%s' there is no '%s'", c->f->name, in);
  *out = arena_format(&g->memory, "%s%s/%s", *in == '^' ? "^" : "", c->name, in + (*in == '^'));
  return *out != NULL ? NULL : NO_MEMORY(g);
}

static tfsdk_status *expand(graph *g, const call *c) {
  for (uint32_t i = 0; i < c->f->n_nodes; i++) {
    const node *from = &c->f->nodes[i];
    node *n = g->n_nodes < MANY ? graph_add_node(g) : NULL;
    if (n == NULL)
      return GRAPH_FAIL(g, RESOURCE_EXHAUSTED, "its functions become more than %u nodes", MANY);
    n->name = arena_format(&g->memory, "%s/%s", c->name, from->name);
    n->op = from->op;
    n->device = from->device;
    n->attr = from->attr;
    n->n_attr = from->n_attr;
    n->in = arena_get(&g->memory, (from->n_in + c->n_control + 1u) * sizeof *n->in);
    if (n->name == NULL || n->in == NULL) return NO_MEMORY(g);
    for (uint32_t k = 0; k < from->n_in; k++) TFSDK_TRY(outside(g, c, from->in[k], &n->in[k]));
    n->n_in = from->n_in;
    for (uint32_t k = 0; k < c->n_control; k++) n->in[n->n_in++] = c->control[k];
  }
  return NULL;
}

/* What a call's results are, in the graph's words; by call. */
typedef struct done {
  const char *name;
  const char **result;
  const char **control;
  uint32_t n_result, n_control;
} done;

static tfsdk_status *make_call(graph *g, uint32_t at, const function *f, done *d) {
  const node n = g->node[at]; /* the array moves */
  call c = {.f = f, .name = n.name};
  c.arg = arena_get(&g->memory, (n.n_in + 1u) * sizeof *c.arg);
  c.control = arena_get(&g->memory, (n.n_in + 1u) * sizeof *c.control);
  if (c.arg == NULL || c.control == NULL) return NO_MEMORY(g);
  uint32_t n_arg = 0;
  for (uint32_t i = 0; i < n.n_in; i++)
    if (n.in[i][0] == '^')
      c.control[c.n_control++] = n.in[i];
    else
      c.arg[n_arg++] = n.in[i];
  if (n_arg != f->n_arg)
    return GRAPH_FAIL(g, DATA_LOSS, "'%s' calls the function '%s' with %u inputs; it has %u",
                      n.name, f->name, n_arg, f->n_arg);
  g->node[at].gone = true;
  TFSDK_TRY(expand(g, &c));
  d->name = n.name;
  d->n_result = f->n_result;
  d->result = arena_get(&g->memory, (f->n_result + 1u) * sizeof *d->result);
  d->control = arena_get(&g->memory, (f->n_result + f->n_control + 1u) * sizeof *d->control);
  if (d->result == NULL || d->control == NULL) return NO_MEMORY(g);
  for (uint32_t i = 0; i < f->n_result; i++) {
    TFSDK_TRY(outside(g, &c, f->ret[i], &d->result[i]));
    span name = input_name(d->result[i]);
    d->control[d->n_control] = arena_format(&g->memory, "^%.*s", (int)name.n, name.p);
    if (d->control[d->n_control++] == NULL) return NO_MEMORY(g);
  }
  for (uint32_t i = 0; i < f->n_control; i++) {
    span name = {f->control[i], strlen(f->control[i])};
    if (function_node(f, name) == NULL) continue;
    d->control[d->n_control] = arena_format(&g->memory, "^%s/%s", c.name, f->control[i]);
    if (d->control[d->n_control++] == NULL) return NO_MEMORY(g);
  }
  return NULL;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const done *)a)->name, ((const done *)b)->name);
}

static const done *find(const done *list, size_t n, span name) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t mid = (low + high) / 2;
    int order = strncmp(list[mid].name, name.p, name.n);
    if (order == 0 && list[mid].name[name.n] != 0) order = 1;
    if (order == 0) return &list[mid];
    if (order < 0)
      low = mid + 1;
    else
      high = mid;
  }
  return NULL;
}

/* "call:2" or "call:output:2": the last number; none is 0. */
static uint32_t index_of(const char *in) {
  const char *colon = strrchr(in, ':');
  if (colon == NULL || colon[1] < '0' || colon[1] > '9') return 0;
  unsigned long v = strtoul(colon + 1, NULL, 10);
  return v < NOTHING ? (uint32_t)v : NOTHING;
}

static tfsdk_status *redirect(graph *g, const done *list, size_t n_list, const char **in,
                              const char *reader) {
  for (int depth = 0; **in != '^'; depth++) { /* a result may be another call's */
    const done *d = find(list, n_list, input_name(*in));
    if (d == NULL) return NULL;
    uint32_t i = index_of(*in);
    if (i >= d->n_result || depth > DEEP)
      return GRAPH_FAIL(g, DATA_LOSS, "'%s' reads '%s'; that call has %u results", reader, *in,
                        d->n_result);
    *in = d->result[i];
  }
  return NULL;
}

/* A node that waits for a call waits for what the call computes. */
static tfsdk_status *redirect_controls(graph *g, const done *list, size_t n_list, node *n) {
  size_t more = 0;
  for (int depth = 0; depth < DEEP; depth++) {
    more = 0;
    for (uint32_t k = 0; k < n->n_in; k++) {
      const done *d = n->in[k][0] == '^' ? find(list, n_list, input_name(n->in[k])) : NULL;
      if (d != NULL) more += d->n_control + 1;
    }
    if (more == 0) return NULL;
    if (n->n_in + more > MANY) break;
    const char **in = arena_get(&g->memory, (n->n_in + more) * sizeof *in);
    uint32_t m = 0;
    if (in == NULL) return NO_MEMORY(g);
    for (uint32_t k = 0; k < n->n_in; k++) {
      const done *d = n->in[k][0] == '^' ? find(list, n_list, input_name(n->in[k])) : NULL;
      if (d == NULL)
        in[m++] = n->in[k];
      else
        for (uint32_t i = 0; i < d->n_control; i++) in[m++] = d->control[i];
    }
    n->in = in;
    n->n_in = m;
  }
  return GRAPH_FAIL(g, DATA_LOSS, "the node '%s' waits for calls in calls without end", n->name);
}

tfsdk_status *inline_calls(graph *g) {
  done *list = NULL;
  size_t n_list = 0, cap = 0, level_end = g->n_nodes;
  int depth = 0;
  if (g->n_functions == 0) return NULL;
  for (size_t i = 0; i < g->n_nodes; i++) { /* what calls become is looked at as well */
    if (i == level_end) {
      level_end = g->n_nodes;
      if (++depth > DEEP)
        return GRAPH_FAIL(g, DATA_LOSS, "its functions call one another without end");
    }
    const function *f = called(g, &g->node[i]);
    if (f == NULL) continue;
    done *more = arena_grow(&g->memory, list, n_list, &cap, sizeof *list);
    if (more == NULL) return NO_MEMORY(g);
    list = more;
    memset(&list[n_list], 0, sizeof *list);
    TFSDK_TRY(make_call(g, (uint32_t)i, f, &list[n_list]));
    n_list++;
  }
  if (n_list == 0) return NULL;
  qsort(list, n_list, sizeof *list, by_name);
  for (size_t i = 0; i < g->n_nodes; i++) {
    node *n = &g->node[i];
    if (n->gone) continue;
    for (uint32_t k = 0; k < n->n_in; k++) TFSDK_TRY(redirect(g, list, n_list, &n->in[k], n->name));
    TFSDK_TRY(redirect_controls(g, list, n_list, n));
  }
  for (size_t i = 0; i < g->n_signatures; i++) {
    signature *s = &g->signature[i];
    for (uint32_t k = 0; k < s->n_out; k++)
      TFSDK_TRY(redirect(g, list, n_list, &s->out[k].name, s->key));
  }
  return graph_index(g);
}
