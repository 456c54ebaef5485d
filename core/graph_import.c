/* Graphs from files: the records of a graph reader (io.h) become nodes. */
#include <sys/stat.h>

#include "internal.h"

#define FORMAT 1 /* the newest format of saved models that is known here */

enum { KIND, NAME, OP, DEVICE, INPUTS, ATTRS, DTYPE, SHAPE, BYTES, STRINGS, COMPONENTS };
static const char *const component[COMPONENTS] = {"kind",  "name",  "op",    "device", "inputs",
                                                  "attrs", "dtype", "shape", "bytes",  "strings"};

typedef struct importer {
  tfsdk_graph *g;
  tfsdk_runtime *rt;
  const char *path;
  tfsdk_import_options o;
  tfsdk__map nodes; /* name in the file -> id + 1 */
  TFSDK__VEC(char *) names;
  TFSDK__VEC(void *) scratch; /* of the present record */
  tfsdk_tensor *rec[COMPONENTS];
  tfsdk_view view[COMPONENTS];
  tfsdk__buf missing; /* ops that nobody provides */
  uint32_t n_missing;
  bool no_memory;
} importer;

/* ----------------------------------------------------------------------------- strings of records */

static void *scratch(importer *m, size_t bytes) {
  void *p = TFSDK__GROW(m->rt, &m->scratch, 1) ? tfsdk__zalloc(m->rt, bytes) : NULL;
  if (p != NULL) m->scratch.data[m->scratch.n++] = p;
  m->no_memory = m->no_memory || p == NULL;
  return p;
}

static void drop_record(importer *m) {
  for (size_t i = 0; i < m->scratch.n; i++) tfsdk__free(m->rt, m->scratch.data[i]);
  m->scratch.n = 0;
  for (int i = 0; i < COMPONENTS; i++) {
    tfsdk_tensor_release(m->rec[i]);
    m->rec[i] = NULL;
  }
}

static size_t count(const importer *m, int what) { return (size_t)m->view[what].n_elem; }

/* String i of a component: *out_n bytes, and NUL behind them. */
static tfsdk_status *text(importer *m, int what, size_t i, const char **out, size_t *out_n) {
  const uint64_t *offset = m->view[what].data;
  size_t n = (size_t)(offset[i + 1] - offset[i]);
  char *p = scratch(m, n + 1);
  if (p == NULL) return TFSDK__NOMEM(m->rt);
  memcpy(p, (const char *)(offset + count(m, what) + 1) + offset[i], n);
  *out = p;
  if (out_n != NULL) *out_n = n;
  return NULL;
}

/* --------------------------------------------------------------------------------------- attributes */

static tfsdk_status *bad_attr(importer *m, const char *node, const char *attr, const char *value) {
  if (m->no_memory) return TFSDK__NOMEM(m->rt);
  return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                            "the attribute '%s' of the node '%s' is of another kind than its op's "
                            "record says: '%.40s'",
                            attr, node, value);
}

/* Cuts the next "LENGTH:VALUE" off a list. */
static bool next_item(const char **p, size_t *left, const char **out, size_t *out_n) {
  size_t n = 0, i = 0;
  while (i < *left && (*p)[i] >= '0' && (*p)[i] <= '9' && n < SIZE_MAX / 16)
    n = n * 10 + (size_t)((*p)[i++] - '0');
  if (i == 0 || i >= *left || (*p)[i] != ':' || n > *left - i - 1) return false;
  *out = *p + i + 1;
  *out_n = n;
  *p += i + 1 + n;
  *left -= i + 1 + n;
  return true;
}

static bool read_shape(const char *p, tfsdk_shape *out) {
  memset(out, 0, sizeof *out);
  if (*p == '?') {
    out->rank = -1;
    return true;
  }
  while (*p != 0) {
    char *end;
    long long v = strtoll(p, &end, 10);
    if (end == p || out->rank == TFSDK_MAX_RANK) return false;
    out->dim[out->rank++] = v;
    p = *end == ',' ? end + 1 : end;
    if (*end != ',' && *end != 0) return false;
  }
  return true;
}

/* A letter and text, as a value of that kind (not a list). The text is NUL-ended. */
static bool read_value(importer *m, int32_t kind, const char *v, tfsdk_attrval *out) {
  static const char letters[] = {0, 'i', 'f', 'b', 's', 't', 'h'};
  if (kind < TFSDK_ATTR_INT || kind > TFSDK_ATTR_SHAPE) return false;
  bool whole = kind == TFSDK_ATTR_FLOAT && v[0] == 'i';
  if (v[0] != letters[kind] && !whole) return false;
  out->kind = kind;
  switch (kind) {
  case TFSDK_ATTR_STRING: out->v.s = v + 1; return true;
  case TFSDK_ATTR_FLOAT: out->v.f = strtod(v + 1, NULL); return true;
  case TFSDK_ATTR_SHAPE: {
    tfsdk_shape *s = scratch(m, sizeof *s);
    if (s == NULL || !read_shape(v + 1, s)) return false;
    out->n = s->rank < 0 ? (uint32_t)TFSDK_UNKNOWN_RANK : (uint32_t)s->rank;
    out->v.ints = s->dim;
    return true;
  }
  default: out->v.i = strtoll(v + 1, NULL, 10); return true;
  }
}

static tfsdk_status *read_list(importer *m, int32_t kind, const char *v, size_t n,
                               tfsdk_attrval *out, bool *ok) {
  static const int32_t member[] = {TFSDK_ATTR_INT,   TFSDK_ATTR_FLOAT, TFSDK_ATTR_STRING,
                                   TFSDK_ATTR_DTYPE, TFSDK_ATTR_BOOL,  TFSDK_ATTR_SHAPE};
  size_t items = 0, left = n, item_n;
  const char *p = v, *item;
  *ok = false;
  while (left > 0) {
    if (!next_item(&p, &left, &item, &item_n)) return NULL;
    items++;
  }
  int64_t *ints = scratch(m, (items + 1) * sizeof *ints);
  const char **strings = scratch(m, (items + 1) * sizeof *strings);
  tfsdk_shape *shapes =
      kind == TFSDK_ATTR_LIST_SHAPE ? scratch(m, (items + 1) * sizeof *shapes) : NULL;
  if (!ints || !strings || (kind == TFSDK_ATTR_LIST_SHAPE && !shapes)) return TFSDK__NOMEM(m->rt);
  p = v;
  left = n;
  for (size_t i = 0; i < items; i++) {
    tfsdk_attrval one = {0};
    (void)next_item(&p, &left, &item, &item_n);
    char *copy = scratch(m, item_n + 1);
    if (copy == NULL) return TFSDK__NOMEM(m->rt);
    memcpy(copy, item, item_n);
    if (!read_value(m, member[kind - TFSDK_ATTR_LIST_INT], copy, &one)) return NULL;
    if (kind == TFSDK_ATTR_LIST_STRING)
      strings[i] = one.v.s;
    else if (kind == TFSDK_ATTR_LIST_SHAPE)
      (void)read_shape(copy + 1, &shapes[i]);
    else
      memcpy(&ints[i], &one.v, sizeof ints[i]);
  }
  out->kind = kind;
  out->n = (uint32_t)items;
  if (kind == TFSDK_ATTR_LIST_STRING)
    out->v.strings = strings;
  else if (kind == TFSDK_ATTR_LIST_SHAPE)
    out->v.shapes = shapes;
  else
    out->v.ints = ints; /* of floats, too: the same bytes */
  *ok = true;
  return NULL;
}

/* The record's tensor. */
static tfsdk_status *read_tensor(importer *m, tfsdk_tensor **out) {
  const char *type;
  TFSDK_TRY(text(m, DTYPE, 0, &type, NULL));
  int32_t dtype = tfsdk_dtype_find(type);
  uint32_t rank = (uint32_t)count(m, SHAPE);
  const int64_t *dim = m->view[SHAPE].data;
  if (dtype == 0 || rank > TFSDK_MAX_RANK)
    return tfsdk__status_make(TFSDK_DATA_LOSS, "a tensor has no type, or too many axes");
  if (dtype != TFSDK_STRING)
    return tfsdk_tensor_create(m->rt, dtype, rank, dim, m->view[BYTES].data,
                               (size_t)m->view[BYTES].byte_size, out);
  size_t n = count(m, STRINGS);
  const char **list = scratch(m, (n + 1) * sizeof *list);
  size_t *length = scratch(m, (n + 1) * sizeof *length);
  if (list == NULL || length == NULL) return TFSDK__NOMEM(m->rt);
  for (size_t i = 0; i < n; i++) TFSDK_TRY(text(m, STRINGS, i, &list[i], &length[i]));
  int64_t elements;
  uint64_t bytes;
  TFSDK_TRY(tfsdk__shape_bytes(m->rt, dtype, rank, dim, &elements, &bytes));
  if ((size_t)elements != n)
    return tfsdk__status_make(TFSDK_DATA_LOSS, "a tensor has %zu strings for %lld elements", n,
                              (long long)elements);
  return tfsdk_tensor_create_strings(m->rt, rank, dim, list, length, out);
}

/* Attributes of TensorFlow that an op's record lacks here: do they change what is computed? Those that say "no" or
 * nothing do not, nor do those of this list, which are about how, or are told otherwise. */
static bool harmless(const char *name, const char *v, size_t n) {
  static const char *const known[] = {"use_cudnn_on_gpu",
                                      "debug_name",
                                      "container",
                                      "shared_name",
                                      "validate_shape",
                                      "use_locking",
                                      "allowed_devices",
                                      "config",
                                      "executor_type",
                                      "Index",
                                      "Tidx",
                                      "Tshape",
                                      "Tparams",
                                      "parallel_iterations"};
  if (n == 0 || strcmp(v, "b0") == 0 || strcmp(v, "i0") == 0 || strcmp(v, "f0") == 0 ||
      strcmp(v, "s") == 0 || strcmp(v, "l") == 0)
    return true;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i], name) == 0) return true;
  return false;
}

static tfsdk_status *read_attrs(importer *m, const tfsdk__op *op, const char *node,
                                tfsdk_attrval *out, size_t *out_n, tfsdk_tensor **out_tensor) {
  for (size_t i = 0; i + 1 < count(m, ATTRS); i += 2) {
    const char *name, *v;
    size_t n, k = 0;
    TFSDK_TRY(text(m, ATTRS, i, &name, NULL));
    TFSDK_TRY(text(m, ATTRS, i + 1, &v, &n));
    while (k < op->def.n_attr && strcmp(op->def.attr[k].name, name) != 0) k++;
    if (k == op->def.n_attr) {
      if (harmless(name, v, n)) continue;
      return tfsdk__status_make(
          TFSDK_UNIMPLEMENTED, "the attribute '%s' of the node '%s' is not known here", name, node);
    }
    if (n == 0) continue; /* no value: the default */
    tfsdk_attrval *a = &out[*out_n];
    int32_t kind = op->attr[k].kind;
    bool ok;
    memset(a, 0, sizeof *a);
    a->name = name;
    if (kind == TFSDK_ATTR_TENSOR) {
      if (strcmp(v, "T") != 0 || *out_tensor != NULL) return bad_attr(m, node, name, v);
      TFSDK_TRY(read_tensor(m, out_tensor));
      *a = tfsdk_a_tensor(name, *out_tensor);
      ok = true;
    } else if (kind >= TFSDK_ATTR_LIST_INT) {
      ok = v[0] == 'l';
      if (ok) TFSDK_TRY(read_list(m, kind, v + 1, n - 1, a, &ok));
    } else {
      ok = read_value(m, kind, v, a);
    }
    if (!ok) return bad_attr(m, node, name, v);
    ++*out_n;
  }
  return NULL;
}

/* ------------------------------------------------------------------------------------------- inputs */

static const tfsdk__node *node_named(const importer *m, const char *name) {
  uintptr_t id = (uintptr_t)tfsdk__map_get(&m->nodes, name);
  return id != 0 ? m->g->nodes.data[id - 1] : NULL;
}

/* How many values output argument i is. */
static uint32_t argument_size(const tfsdk__node *n, uint32_t i) {
  const tfsdk__argtype *t = &n->op->out[i];
  if (t->kind == TFSDK__TYPE_LIST_N) return (uint32_t)n->attrs->list[t->n_attr].v.i;
  if (t->kind == TFSDK__TYPE_LIST_TYPES) return n->attrs->list[t->type_attr].n;
  return 1;
}

/* "n", "n:1", "n:output:1" as a value. `reader` is for messages. */
static tfsdk_status *find_value(importer *m, char *in, const char *reader, tfsdk_val *out) {
  for (uint32_t i = 0; i < m->o.n_map; i++) {
    const char *name = m->o.map_name[i];
    size_t n = strlen(in);
    bool same = strcmp(name, in) == 0 || (strncmp(name, in, n) == 0 && !strcmp(name + n, ":0"));
    if (!same) continue;
    *out = m->o.map_val[i];
    return NULL;
  }
  char *colon = strchr(in, ':');
  if (colon != NULL) *colon = 0;
  const tfsdk__node *n = node_named(m, in);
  if (n == NULL)
    return tfsdk__status_make(TFSDK_DATA_LOSS, "'%s' reads '%s', which did not come before it",
                              reader, in);
  uint32_t index = 0;
  const char *rest = colon != NULL ? colon + 1 : "0", *second = strchr(rest, ':');
  if (second != NULL) {
    size_t k = (size_t)(second - rest);
    uint32_t a = 0;
    while (a < n->op->def.n_out &&
           (strncmp(n->op->def.out[a].name, rest, k) != 0 || n->op->def.out[a].name[k] != 0))
      index += argument_size(n, a++);
    if (a == n->op->def.n_out)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                                "'%s' reads the output '%.*s' of '%s' (%s), which has none of "
                                "that name",
                                reader, (int)k, rest, in, n->op->def.name);
    rest = second + 1;
  }
  unsigned long number = strtoul(rest, NULL, 10);
  if (number >= n->n_out || index + number >= n->n_out)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "'%s' reads output %lu of '%s' (%s), which has %u", reader, number,
                              in, n->op->def.name, n->n_out);
  *out = tfsdk__val(n->id, index + (uint32_t)number);
  return NULL;
}

static tfsdk_status *tell(importer *m, tfsdk_import_fact *f) {
  f->struct_size = sizeof *f;
  return m->o.fact != NULL ? m->o.fact(m->o.user, f) : NULL;
}

static bool is_mapped(const importer *m, const char *name) {
  size_t n = strlen(name);
  for (uint32_t i = 0; i < m->o.n_map; i++)
    if (strncmp(m->o.map_name[i], name, n) == 0 &&
        (m->o.map_name[i][n] == 0 || strcmp(m->o.map_name[i] + n, ":0") == 0))
      return true;
  return false;
}

static tfsdk_status *emit(importer *m, const char *name, const char *op, const char *device,
                          tfsdk_val *out) {
  tfsdk_ctx *c = &m->g->ctx.base;
  tfsdk__op *record;
  TFSDK_TRY(tfsdk__op_find(m->rt, op, &record));
  tfsdk_val *in = scratch(m, (count(m, INPUTS) + 1) * sizeof *in);
  tfsdk_val *control = scratch(m, (count(m, INPUTS) + 1) * sizeof *control);
  tfsdk_attrval *attr = scratch(m, (count(m, ATTRS) + 1) * sizeof *attr);
  size_t n_in = 0, n_control = 0, n_attr = 0;
  tfsdk_tensor *tensor = NULL;
  if (!in || !control || !attr) return TFSDK__NOMEM(m->rt);
  for (size_t i = 0; i < count(m, INPUTS); i++) {
    const char *s;
    TFSDK_TRY(text(m, INPUTS, i, &s, NULL));
    if (*s != '^') {
      TFSDK_TRY(find_value(m, (char *)(uintptr_t)s, name, &in[n_in++]));
      continue;
    }
    const tfsdk__node *n = node_named(m, s + 1);
    if (n == NULL)
      return tfsdk__status_make(TFSDK_DATA_LOSS,
                                "'%s' waits for '%s', which did not come before it", name, s + 1);
    control[n_control++] = tfsdk__val(n->id, 0);
  }
  tfsdk_status *s = read_attrs(m, record, name, attr, &n_attr, &tensor);
  if (s == NULL) s = tfsdk_ctx_push_control(c, NULL, 0);
  if (s == NULL) {
    s = n_control > 0 ? tfsdk_ctx_push_control(c, control, n_control) : NULL;
    if (s == NULL) {
      s = device[0] != 0 ? tfsdk_ctx_push_device(c, device) : NULL;
      if (s == NULL) {
        tfsdk_graph_set_name(m->g, name);
        s = c->api->emit(c, op, in, n_in, attr, n_attr, out, 1);
        if (device[0] != 0) tfsdk_ctx_pop_device(c);
      }
      if (n_control > 0) tfsdk_ctx_pop_control(c);
    }
    tfsdk_ctx_pop_control(c);
  }
  tfsdk_tensor_release(tensor);
  return s;
}

static void note_missing(importer *m, const char *op) {
  char quoted[300];
  snprintf(quoted, sizeof quoted, "'%s'", op);
  if (m->missing.s != NULL && strstr(m->missing.s, quoted) != NULL) return;
  if (m->n_missing < 20) tfsdk__buf_add(&m->missing, "%s%s", m->n_missing > 0 ? ", " : "", quoted);
  if (m->n_missing == 20) tfsdk__buf_add(&m->missing, " and more");
  m->n_missing++;
}

static tfsdk_status *take_node(importer *m, const char *name, const char *op) {
  const char *device;
  tfsdk_val v = {0};
  if (is_mapped(m, name)) return NULL;
  TFSDK_TRY(text(m, DEVICE, 0, &device, NULL));
  tfsdk__device *there; /* one that this machine lacks, or another cluster's, is no wish of ours */
  tfsdk_status *gone = device[0] != 0 ? tfsdk__device_find(m->rt, device, &there) : NULL;
  if (gone != NULL) device = "";
  tfsdk_status_release(gone);
  if (m->n_missing > 0) { /* the import is lost: what else is missing? */
    if (!tfsdk_op_known(m->rt, op)) note_missing(m, op);
    return NULL;
  }
  tfsdk_status *s = emit(m, name, op, device, &v);
  if (s != NULL && tfsdk_status_code(s) == TFSDK_NOT_FOUND && !tfsdk_op_known(m->rt, op)) {
    note_missing(m, op);
    tfsdk_status_release(s);
    return NULL;
  }
  if (s != NULL) {
    tfsdk__status_add(s, "op", "%s", op);
    tfsdk__status_add(s, "node", "%s", name);
    return s;
  }
  if (!TFSDK__GROW(m->rt, &m->names, 1)) return TFSDK__NOMEM(m->rt);
  char *key = tfsdk__strdup(m->rt, name);
  if (key == NULL) return TFSDK__NOMEM(m->rt);
  m->names.data[m->names.n++] = key;
  uintptr_t id = tfsdk__val_node(v);
  if (v.id == 0) id = m->g->nodes.n - 1; /* an op without outputs */
  if (!tfsdk__map_put(m->rt, &m->nodes, key, (void *)(id + 1))) return TFSDK__NOMEM(m->rt);
  tfsdk_import_fact f = {.kind = "node", .name = name, .val = tfsdk__val((uint32_t)id, 0)};
  return tell(m, &f);
}

/* ------------------------------------------------------------------------------------ other records */

static tfsdk_status *take_signature(importer *m, const char *name, const char *method) {
  for (int side = 0; side < 2; side++) {
    int what = side == 0 ? INPUTS : ATTRS;
    for (size_t i = 0; i + 1 < count(m, what); i += 2) {
      tfsdk_import_fact f = {
          .kind = side == 0 ? "input" : "output", .signature = name, .method = method};
      const char *value;
      char *copy;
      TFSDK_TRY(text(m, what, i, &f.key, NULL));
      TFSDK_TRY(text(m, what, i + 1, &value, NULL));
      f.name = value;
      if ((copy = scratch(m, strlen(value) + 1)) == NULL) return TFSDK__NOMEM(m->rt);
      memcpy(copy, value, strlen(value) + 1);
      TFSDK_TRY(find_value(m, copy, name, &f.val));
      TFSDK_TRY(tell(m, &f));
    }
  }
  return NULL;
}

static tfsdk_status *take_variable(importer *m, const char *handle, const char *reader) {
  const tfsdk__node *n = node_named(m, handle);
  tfsdk_import_fact f = {.kind = "variable", .reader = reader};
  tfsdk_attrs a;
  if (n == NULL) return NULL; /* not wanted */
  a = tfsdk__attrlist_view(n->attrs);
  f.name = tfsdk_attr_string(&a, "shared_name");
  if (f.name[0] == 0) f.name = n->name;
  f.val = tfsdk__val(n->id, 0);
  TFSDK_TRY(text(m, DEVICE, 0, &f.path, NULL));
  f.key = f.slice = "";
  if (count(m, INPUTS) > 0) TFSDK_TRY(text(m, INPUTS, 0, &f.key, NULL));
  if (count(m, INPUTS) > 1) TFSDK_TRY(text(m, INPUTS, 1, &f.slice, NULL));
  return tell(m, &f);
}

static tfsdk_status *take_need(importer *m, const char *what, const char *name) {
  if (strcmp(what, "format") == 0 && atoi(name) > FORMAT)
    return tfsdk__status_make(TFSDK_INCOMPATIBLE,
                              "it was saved in format %s; this version (%s) reads formats up to %d",
                              name, tfsdk_version(), FORMAT);
  if (strcmp(what, "op") == 0 && !tfsdk_op_known(m->rt, name)) {
    const char *plugin;
    TFSDK_TRY(text(m, DEVICE, 0, &plugin, NULL));
    return tfsdk__status_make(TFSDK_NOT_FOUND,
                              "it needs the op '%s' of the plugin '%s', which is not here", name,
                              plugin);
  }
  return NULL;
}

static tfsdk_status *take_record(importer *m) {
  const char *kind, *name, *op;
  for (int i = 0; i < COMPONENTS; i++) TFSDK_TRY(tfsdk_tensor_view(m->rec[i], &m->view[i]));
  TFSDK_TRY(text(m, KIND, 0, &kind, NULL));
  TFSDK_TRY(text(m, NAME, 0, &name, NULL));
  TFSDK_TRY(text(m, OP, 0, &op, NULL));
  if (strcmp(kind, "node") == 0) return take_node(m, name, op);
  if (m->n_missing > 0) return NULL;
  if (strcmp(kind, "signature") == 0) return take_signature(m, name, op);
  if (strcmp(kind, "variable") == 0) return take_variable(m, name, op);
  if (strcmp(kind, "need") == 0) return take_need(m, name, op);
  return NULL;
}

/* --------------------------------------------------------------------------------------------- all */

static tfsdk_status *open_file(importer *m, tfsdk_iterator **out) {
  const char *reader = m->o.reader;
  tfsdk_dataset *d = NULL;
  struct stat st;
  tfsdk_attrval option[3];
  size_t n = 0;
  int64_t *content = NULL;
  if (reader == NULL && (m->o.content != NULL || (stat(m->path, &st) == 0 && S_ISDIR(st.st_mode))))
    reader = "saved_model";
  if (m->o.n_tags > 0) {
    option[n] = tfsdk_a_("tags", TFSDK_ATTR_LIST_STRING);
    option[n].n = m->o.n_tags;
    option[n++].v.strings = m->o.tags;
  }
  if (m->o.n_outputs > 0) {
    option[n] = tfsdk_a_("outputs", TFSDK_ATTR_LIST_STRING);
    option[n].n = m->o.n_outputs;
    option[n++].v.strings = m->o.outputs;
  }
  if (m->o.content != NULL) {
    size_t words = (m->o.content_bytes + 7) / 8;
    if (words > UINT32_MAX - 1)
      return tfsdk__status_make(TFSDK_RESOURCE_EXHAUSTED, "a graph of %zu bytes is too large",
                                m->o.content_bytes);
    content = tfsdk__zalloc(m->rt, (words + 1) * sizeof *content);
    if (content == NULL) return TFSDK__NOMEM(m->rt);
    content[0] = (int64_t)m->o.content_bytes;
    if (m->o.content_bytes > 0) memcpy(content + 1, m->o.content, m->o.content_bytes);
    option[n++] = tfsdk_a_ints("content", content, (uint32_t)words + 1);
  }
  tfsdk_status *s = tfsdk_dataset_from_file(m->rt, m->path, reader, option, n, &d);
  bool fits = s == NULL && tfsdk_dataset_components(d) == COMPONENTS;
  for (uint32_t i = 0; fits && i < COMPONENTS; i++)
    fits = strcmp(tfsdk_dataset_name(d, i), component[i]) == 0;
  if (s == NULL && !fits)
    s = tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "%s: its reader reads no graphs", m->path);
  if (s == NULL) s = tfsdk_iterator_create(d, out);
  tfsdk_dataset_release(d);
  tfsdk__free(m->rt, content);
  return s;
}

tfsdk_status *tfsdk_graph_import(tfsdk_graph *g, const char *path,
                                 const tfsdk_import_options *options) {
  importer m = {.g = g, .rt = g->ctx.rt, .path = path};
  tfsdk_iterator *it = NULL;
  int32_t end = 0;
  bool scope = false;
  if (options != NULL)
    TFSDK_TRY(tfsdk__take(&m.o, sizeof m.o, options, options->struct_size, "tfsdk_import_options"));
  tfsdk_status *s = open_file(&m, &it);
  if (s == NULL && m.o.prefix != NULL && m.o.prefix[0] != 0) {
    s = tfsdk_ctx_push_name_scope(&g->ctx.base, m.o.prefix);
    scope = s == NULL;
  }
  while (s == NULL) {
    s = tfsdk_iterator_next(it, m.rec, &end);
    if (s != NULL || end) break;
    s = take_record(&m);
    drop_record(&m);
  }
  if (s == NULL && m.n_missing > 0)
    s = tfsdk__status_make(TFSDK_NOT_FOUND, "no plugin provides %s %s",
                           m.n_missing > 1 ? "the ops" : "the op", m.missing.s);
  if (s != NULL) {
    if (strstr(tfsdk_status_message(s), path) == NULL) tfsdk__status_prefix(s, "%s", path);
    tfsdk__status_add(s, "path", "%s", path);
  }
  if (scope) tfsdk_ctx_pop_name_scope(&g->ctx.base);
  tfsdk_iterator_release(it);
  drop_record(&m);
  tfsdk__free(m.rt, m.scratch.data);
  for (size_t i = 0; i < m.names.n; i++) tfsdk__free(m.rt, m.names.data[i]);
  tfsdk__free(m.rt, m.names.data);
  tfsdk__map_deinit(m.rt, &m.nodes);
  tfsdk__buf_deinit(&m.missing);
  return s;
}
