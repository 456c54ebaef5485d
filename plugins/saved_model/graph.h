/* What the files of this plugin share: a graph as it stands in a file.
 *
 *   source.c    bytes of a file, a folder or memory; which message they are; which graph of several
 *   text.c      protobuf's text form becomes the wire form
 *   nodes.c     nodes and functions of a GraphDef
 *   inline.c    calls of functions become the functions' nodes
 *   variables.c reference variables become resources; where the weights lie
 *   order.c     what is wanted, so that inputs come before their readers
 *   value.c     attributes and tensors
 *   saved_model.c  the reader
 */
#ifndef TFSDK_SAVED_MODEL_GRAPH_H
#define TFSDK_SAVED_MODEL_GRAPH_H

#include "wire.h"

#define NOTHING UINT32_MAX

/* Memory that is given back all at once. */
typedef struct arena {
  const tfsdk_host *host;
  struct arena_block *last;
} arena;
void *arena_get(arena *a, size_t bytes); /* zeroed; NULL when memory is out */
char *arena_text(arena *a, const char *text, size_t n);
char *arena_format(arena *a, const char *format, ...) TFSDK_PRINTF(2, 3);
void arena_release(arena *a);
/* Room for one more element of an array in the arena; the old array stays behind. */
void *arena_grow(arena *a, void *array, size_t n, size_t *cap, size_t size);

typedef struct attribute {
  const char *name;
  span value; /* an AttrValue */
} attribute;

typedef struct node {
  const char *name, *op, *device;
  const char **in; /* "n", "n:1", "n:output:0" (inside functions), "^n" */
  attribute *attr;
  uint32_t n_in, n_attr;
  uint8_t mark;   /* order.c */
  bool gone;      /* a call that became nodes; a node that another stands for */
  uint32_t order; /* where it stood in the file */
} node;

typedef struct function {
  const char *name;
  const char **arg, **result, **ret; /* ret: by result, "n:output:0" */
  const char **control;
  node *nodes;
  uint32_t n_arg, n_result, n_nodes, n_control;
} function;

typedef struct endpoint { /* one input or output of a signature */
  const char *key, *name;
} endpoint;
typedef struct signature {
  const char *key, *method;
  endpoint *in, *out;
  uint32_t n_in, n_out;
} signature;

typedef struct weight { /* where a variable's value lies */
  const char *handle;   /* the node's name */
  const char *key, *slice;
} weight;

typedef struct need {
  const char *what, *name, *by;
} need;

enum message { MESSAGE_GRAPH = 1, MESSAGE_META = 2, MESSAGE_SAVED = 3 };

typedef struct graph {
  const tfsdk_host *host; /* first: TFSDK_FAIL(graph, ...) works */
  arena memory;
  const char *path; /* as it was given: for messages */

  const char *prefix; /* of the weights: FOLDER/variables/variables, or NULL */
  enum message message;
  bool no_memory; /* a text could not be copied: what looks like damage is this */
  char *content;  /* owned */
  size_t content_bytes;

  node *node;
  function *function;
  signature *signature;
  weight *weight;
  need *need;
  size_t n_nodes, n_functions, n_signatures, n_weights, n_needs;
  size_t cap_nodes, cap_functions, cap_signatures, cap_weights, cap_needs;
  uint32_t *table; /* names to nodes */
  size_t table_size;
  uint32_t *order; /* wanted nodes, inputs first */
  size_t n_order;
} graph;

#define GRAPH_FAIL(g, code, format, ...)                                                           \
  TFSDK_FAIL(g, code, "%s: " format, (g)->path, ##__VA_ARGS__)
#define NO_MEMORY(c) TFSDK_FAIL(c, RESOURCE_EXHAUSTED, "out of memory")

/* All of this plugin's errors about a file name it. */
tfsdk_status *source_open(graph *g, const char *path, const tfsdk_attrs *options, span *out_graph);
tfsdk_status *text_to_wire(graph *g, span text, enum message message, span *out);
tfsdk_status *nodes_read(graph *g, span graph_def);
tfsdk_status *inline_calls(graph *g);
tfsdk_status *variables_convert(graph *g);
tfsdk_status *weights_find(graph *g);
tfsdk_status *order_nodes(graph *g, const char *const *wanted, uint32_t n_wanted);

node *graph_add_node(graph *g);
/* NOTHING when there is none of that name (of n bytes). */
uint32_t graph_find(const graph *g, const char *name, size_t n);
tfsdk_status *graph_index(graph *g); /* after nodes were added: DATA_LOSS names one that is twice */
/* The name in an input: without "^" and ":1". */
span input_name(const char *in);
const attribute *node_attr(const node *n, const char *name);
/* The string, type or flag of an attribute; NULL, 0 when it is absent. */
span attr_string(const node *n, const char *name);

/* A tensor's message. */
typedef struct tensor_value {
  int32_t dtype;
  uint32_t rank;
  int64_t dim[TFSDK_MAX_RANK];
  uint64_t n_elem, bytes;
  span content; /* its bytes, or */
  span message; /* fields with numbers, the last of which fills the rest */
  uint32_t field;
  span *strings;
  uint64_t n_strings;
} tensor_value;
tfsdk_status *tensor_read(graph *g, const char *node, span message, tensor_value *out);
/* n_elem * size bytes, or the strings through `strings`. */
void tensor_fill(const tensor_value *t, void *to);
/* An attribute as text for the host: see io.h. *out NULL: a tensor. */
tfsdk_status *attr_text(graph *g, const node *n, const attribute *a, span *out, span *out_tensor);

#endif
