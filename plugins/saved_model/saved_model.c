/* The reader `saved_model`: a graph file as records of nodes and of what else stands in it (io.h, "graphs"). */
#include <stdlib.h>

#include "graph.h"

typedef struct reader {
  graph g;
  size_t next; /* record: needs, nodes, signatures, weights */
} reader;

enum { KIND, NAME, OP, DEVICE, INPUTS, ATTRS, DTYPE, SHAPE, BYTES, STRINGS, COMPONENTS };
static const struct {
  const char *name;
  int32_t dtype, rank;
} component[COMPONENTS] = {{"kind", TFSDK_STRING, 0},   {"name", TFSDK_STRING, 0},
                           {"op", TFSDK_STRING, 0},     {"device", TFSDK_STRING, 0},
                           {"inputs", TFSDK_STRING, 1}, {"attrs", TFSDK_STRING, 1},
                           {"dtype", TFSDK_STRING, 0},  {"shape", TFSDK_INT64, 1},
                           {"bytes", TFSDK_UINT8, 1},   {"strings", TFSDK_STRING, 1}};

static void close_reader(void *self) {
  reader *r = self;
  const tfsdk_host *host = r->g.host;
  arena_release(&r->g.memory);
  if (r->g.content != NULL) host->realloc(host, r->g.content, r->g.content_bytes + 1, 0);
  host->realloc(host, r, sizeof *r, 0);
}

static tfsdk_status *load(graph *g, const char *path, const tfsdk_attrs *options) {
  const tfsdk_attrval *wanted = tfsdk_attr_find(options, "outputs");
  span def;
  TFSDK_TRY(source_open(g, path, options, &def));
  TFSDK_TRY(nodes_read(g, def));
  TFSDK_TRY(inline_calls(g));
  TFSDK_TRY(variables_convert(g));
  TFSDK_TRY(weights_find(g));
  return order_nodes(g, wanted != NULL ? wanted->v.strings : NULL, wanted != NULL ? wanted->n : 0);
}

static tfsdk_status *open_reader(void *self, const tfsdk_host *host, const char *path,
                                 const tfsdk_attrs *options, void **out_reader) {
  const struct { const tfsdk_host *host; } c = {host};
  (void)self;
  reader *r = host->realloc(host, NULL, 0, sizeof *r);
  if (r == NULL) return NO_MEMORY(&c);
  memset(r, 0, sizeof *r);
  r->g.host = r->g.memory.host = host;
  tfsdk_status *s = load(&r->g, path, options);
  if (s != NULL) {
    close_reader(r);
    return s;
  }
  *out_reader = r;
  return NULL;
}

static tfsdk_status *components(void *self, tfsdk_component *out, uint32_t cap, uint32_t *out_n) {
  (void)self;
  *out_n = COMPONENTS;
  for (uint32_t i = 0; i < COMPONENTS && i < cap; i++) {
    memset(&out[i], 0, sizeof out[i]);
    memcpy(out[i].name, component[i].name, strlen(component[i].name) + 1);
    out[i].type.dtype = component[i].dtype;
    out[i].type.shape.rank = component[i].rank;
    out[i].type.shape.dim[0] = -1;
  }
  return NULL;
}

/* ---------------------------------------------------------------------------------------- records */

/* n strings as a string tensor: offsets, then bytes. */
static tfsdk_status *give_list(tfsdk_record *r, uint32_t i, const span *list, uint64_t n) {
  int64_t dim = (int64_t)n;
  uint64_t bytes = 0;
  tfsdk_view v;
  for (uint64_t k = 0; k < n; k++) bytes += list[k].n;
  TFSDK_TRY(r->alloc(r, i, (uint32_t)component[i].rank, &dim, bytes, &v));
  uint64_t *offset = v.data, at = 0;
  char *to = (char *)(offset + n + 1);
  for (uint64_t k = 0; k < n; k++) {
    offset[k] = at;
    if (list[k].n > 0) memcpy(to + at, list[k].p, list[k].n);
    at += list[k].n;
  }
  offset[n] = at;
  return NULL;
}

static span of(const char *text) { return (span){text, strlen(text)}; }

static tfsdk_status *give_text(tfsdk_record *r, uint32_t i, const char *text) {
  span s = of(text);
  return give_list(r, i, &s, 1);
}

static tfsdk_status *give_head(tfsdk_record *r, const char *kind, const char *name, const char *op,
                               const char *device) {
  TFSDK_TRY(give_text(r, KIND, kind));
  TFSDK_TRY(give_text(r, NAME, name));
  TFSDK_TRY(give_text(r, OP, op));
  return give_text(r, DEVICE, device);
}

static tfsdk_status *give_tensor(reader *self, tfsdk_record *r, const node *n,
                                 const span *message) {
  tensor_value t;
  tfsdk_view v;
  int64_t rank = 0, bytes = 0;
  if (message == NULL) {
    TFSDK_TRY(give_text(r, DTYPE, ""));
    TFSDK_TRY(r->alloc(r, SHAPE, 1, &rank, 0, &v));
    TFSDK_TRY(r->alloc(r, BYTES, 1, &bytes, 0, &v));
    return give_list(r, STRINGS, NULL, 0);
  }
  TFSDK_TRY(tensor_read(&self->g, n->name, *message, &t));
  TFSDK_TRY(give_text(r, DTYPE, tfsdk_dtype_name(t.dtype)));
  rank = t.rank;
  TFSDK_TRY(r->alloc(r, SHAPE, 1, &rank, 0, &v));
  if (rank > 0) memcpy(v.data, t.dim, (size_t)rank * sizeof *t.dim);
  bytes = t.dtype == TFSDK_STRING ? 0 : (int64_t)t.bytes;
  TFSDK_TRY(r->alloc(r, BYTES, 1, &bytes, 0, &v));
  if (t.dtype != TFSDK_STRING) {
    if (bytes > 0) tensor_fill(&t, v.data);
    return give_list(r, STRINGS, NULL, 0);
  }
  span *list = arena_get(&self->g.memory, (size_t)(t.n_elem + 1) * sizeof *list);
  if (list == NULL) return NO_MEMORY(&self->g);
  for (uint64_t i = 0; i < t.n_elem; i++)
    list[i] = t.n_strings == 0 ? of("") : t.strings[i < t.n_strings ? i : t.n_strings - 1];
  return give_list(r, STRINGS, list, t.n_elem);
}

static tfsdk_status *give_node(reader *self, tfsdk_record *r, const node *n) {
  graph *g = &self->g;
  span *list = arena_get(&g->memory, (n->n_in + 2 * n->n_attr + 1u) * sizeof *list),
       tensor = {0, 0};
  if (list == NULL) return NO_MEMORY(g);
  TFSDK_TRY(give_head(r, "node", n->name, n->op, n->device));
  for (uint32_t i = 0; i < n->n_in; i++) list[i] = of(n->in[i]);
  TFSDK_TRY(give_list(r, INPUTS, list, n->n_in));
  uint32_t m = 0;
  for (uint32_t i = 0; i < n->n_attr; i++) {
    if (n->attr[i].name[0] == '_') continue; /* hints to TensorFlow's own passes */
    if (strcmp(n->attr[i].name, "config_proto") == 0) continue;
    list[m] = of(n->attr[i].name);
    TFSDK_TRY(attr_text(g, n, &n->attr[i], &list[m + 1], &tensor));
    if (list[m + 1].p == NULL) list[m + 1] = of("T"); /* the record's tensor */
    m += 2;
  }
  TFSDK_TRY(give_list(r, ATTRS, list, m));
  return give_tensor(self, r, n, tensor.p != NULL ? &tensor : NULL);
}

static tfsdk_status *give_signature(reader *self, tfsdk_record *r, const signature *s) {
  graph *g = &self->g;
  span *list = arena_get(&g->memory, (2 * s->n_in + 2 * s->n_out + 1u) * sizeof *list);
  if (list == NULL) return NO_MEMORY(g);
  TFSDK_TRY(give_head(r, "signature", s->key, s->method, ""));
  for (uint32_t i = 0; i < s->n_in; i++) {
    list[2 * i] = of(s->in[i].key);
    list[2 * i + 1] = of(s->in[i].name);
  }
  TFSDK_TRY(give_list(r, INPUTS, list, 2 * s->n_in));
  for (uint32_t i = 0; i < s->n_out; i++) {
    list[2 * i] = of(s->out[i].key);
    list[2 * i + 1] = of(s->out[i].name);
  }
  TFSDK_TRY(give_list(r, ATTRS, list, 2 * s->n_out));
  return give_tensor(self, r, NULL, NULL);
}

static tfsdk_status *give_weight(reader *self, tfsdk_record *r, const weight *w) {
  span list[2] = {of(w->key), of(w->slice)};
  TFSDK_TRY(give_head(r, "variable", w->handle, "tf_checkpoint", self->g.prefix));
  TFSDK_TRY(give_list(r, INPUTS, list, 2));
  TFSDK_TRY(give_list(r, ATTRS, NULL, 0));
  return give_tensor(self, r, NULL, NULL);
}

static tfsdk_status *give_need(reader *self, tfsdk_record *r, const need *n) {
  TFSDK_TRY(give_head(r, "need", n->what, n->name, n->by));
  TFSDK_TRY(give_list(r, INPUTS, NULL, 0));
  TFSDK_TRY(give_list(r, ATTRS, NULL, 0));
  return give_tensor(self, r, NULL, NULL);
}

static int64_t count(void *self) {
  const graph *g = &((reader *)self)->g;
  return (int64_t)(g->n_needs + g->n_order + g->n_signatures + g->n_weights);
}

static tfsdk_status *next(void *self, tfsdk_record *r, int32_t *out_end) {
  reader *x = self;
  graph *g = &x->g;
  size_t i = x->next;
  *out_end = (int64_t)i == count(x);
  if (*out_end) return NULL;
  x->next++;
  if (i < g->n_needs) return give_need(x, r, &g->need[i]);
  i -= g->n_needs;
  if (i < g->n_order) return give_node(x, r, &g->node[g->order[i]]);
  i -= g->n_order;
  if (i < g->n_signatures) return give_signature(x, r, &g->signature[i]);
  return give_weight(x, r, &g->weight[i - g->n_signatures]);
}

static const tfsdk_attrdef options[] = {
    {"tags", "list(string)", "[]", "which graph of a saved model; none: \"serve\", or the only one",
     0, 0},
    {"outputs", "list(string)", "[]",
     "names of nodes: they and what they need are read; none: what the signatures name, or all", 0,
     0},
    {"content", "list(int)", "[]",
     "in place of a file: the number of bytes, then the bytes, eight to a number", 0, 0}};

static const tfsdk_readerdef readers[] = {{
    .struct_size = sizeof(tfsdk_readerdef),
    .n_option = TFSDK_COUNT(options),
    .attr_size = sizeof(tfsdk_attrdef),
    .name = "saved_model",
    .extensions = ".pb .pbtxt .meta",
    .doc = "Graphs as TensorFlow writes them: a folder with a saved model, or a file with a "
           "GraphDef, a MetaGraphDef or "
           "a SavedModel, in the wire form or the text form. Functions come as their nodes.",
    .option = options,
    .open = open_reader,
    .components = components,
    .next = next,
    .count = count,
    .close = close_reader,
}};
TFSDK_UNIT_READERS(saved_model, readers);
