/* A graph of a file, its variables' values, and its signatures: all that is needed to run it. */
#include "plan.h"

typedef struct model_value {
  char *signature, *method, *key, *name;
  tfsdk_val val;
  bool output;
} model_value;

typedef struct model_weight {
  char *variable, *path, *reader, *key;
  tfsdk_val handle;
} model_weight;

struct tfsdk_model {
  tfsdk_runtime *rt;
  tfsdk_graph *graph;
  tfsdk_session *session;
  TFSDK__VEC(model_value) values;
  TFSDK__VEC(model_weight) weights;
};

/* ------------------------------------------------------------------------------------------ loading */

static tfsdk_status *note_value(tfsdk_model *m, const tfsdk_import_fact *f) {
  if (!TFSDK__GROW(m->rt, &m->values, 1)) return TFSDK__NOMEM(m->rt);
  model_value *v = &m->values.data[m->values.n++];
  *v = (model_value){tfsdk__strdup(m->rt, f->signature),
                     tfsdk__strdup(m->rt, f->method),
                     tfsdk__strdup(m->rt, f->key),
                     tfsdk__strdup(m->rt, f->name),
                     f->val,
                     strcmp(f->kind, "output") == 0};
  return v->signature && v->method && v->key && v->name ? NULL : TFSDK__NOMEM(m->rt);
}

static tfsdk_status *note_weight(tfsdk_model *m, const tfsdk_import_fact *f) {
  if (f->slice[0] != 0)
    return tfsdk__status_make(TFSDK_UNIMPLEMENTED,
                              "the variable '%s' is a slice of '%s', which is not read", f->name,
                              f->key);
  for (size_t i = 0; i < m->weights.n; i++)
    if (strcmp(m->weights.data[i].variable, f->name) == 0) return NULL;
  if (!TFSDK__GROW(m->rt, &m->weights, 1)) return TFSDK__NOMEM(m->rt);
  model_weight *w = &m->weights.data[m->weights.n++];
  *w = (model_weight){tfsdk__strdup(m->rt, f->name), tfsdk__strdup(m->rt, f->path),
                      tfsdk__strdup(m->rt, f->reader), tfsdk__strdup(m->rt, f->key), f->val};
  return w->variable && w->path && w->reader && w->key ? NULL : TFSDK__NOMEM(m->rt);
}

static tfsdk_status *note(void *user, const tfsdk_import_fact *f) {
  if (strcmp(f->kind, "variable") == 0) return note_weight(user, f);
  return strcmp(f->kind, "node") == 0 ? NULL : note_value(user, f);
}

/* Weights of one file come in one reading. */
static tfsdk_status *fill(tfsdk_model *m) {
  size_t n = m->weights.n;
  if (n == 0) return NULL;
  const char **names = tfsdk__alloc(m->rt, n * sizeof *names);
  tfsdk_tensor **value = tfsdk__zalloc(m->rt, n * sizeof *value);
  tfsdk_status *s = names != NULL && value != NULL ? NULL : TFSDK__NOMEM(m->rt);
  for (size_t i = 0; s == NULL && i < n; i++) {
    names[i] = m->weights.data[i].key;
    if (strcmp(m->weights.data[i].path, m->weights.data[0].path) != 0)
      s = tfsdk__status_make(TFSDK_UNIMPLEMENTED, "its weights lie in several files");
  }
  if (s == NULL)
    s = tfsdk_file_read(m->rt, m->weights.data[0].path, m->weights.data[0].reader, names, n, 0,
                        value);
  for (size_t i = 0; s == NULL && i < n; i++) {
    const tfsdk__node *h = m->graph->nodes.data[tfsdk__val_node(m->weights.data[i].handle)];
    tfsdk_attrs a = tfsdk__attrlist_view(h->attrs);
    tfsdk__cell *c;
    s = tfsdk__cells_get(m->rt, &m->session->cells, m->weights.data[i].variable,
                         (int32_t)tfsdk_attr_int(&a, "dtype"), &h->out[0].shape, &c);
    if (s == NULL) s = tfsdk__cell_assign(c, value[i]);
    if (s != NULL) tfsdk__status_prefix(s, "the variable '%s'", m->weights.data[i].variable);
  }
  for (size_t i = 0; value != NULL && i < n; i++) tfsdk_tensor_release(value[i]);
  tfsdk__free(m->rt, names);
  tfsdk__free(m->rt, value);
  return s;
}

tfsdk_status *tfsdk_model_load(tfsdk_runtime *rt, const char *path,
                               const tfsdk_import_options *options, tfsdk_model **out) {
  tfsdk_import_options o = {0};
  *out = NULL;
  if (options != NULL)
    TFSDK_TRY(tfsdk__take(&o, sizeof o, options, options->struct_size, "tfsdk_import_options"));
  tfsdk_model *m = tfsdk__zalloc(rt, sizeof *m);
  if (m == NULL) return TFSDK__NOMEM(rt);
  m->rt = rt;
  tfsdk__runtime_retain(rt);
  o.struct_size = sizeof o;
  o.fact = note;
  o.user = m;
  tfsdk_status *s = tfsdk_graph_create(rt, &m->graph);
  if (s == NULL) s = tfsdk_graph_import(m->graph, path, &o);
  if (s == NULL) tfsdk_graph_finalize(m->graph);
  if (s == NULL) s = tfsdk_session_create(m->graph, NULL, &m->session);
  if (s == NULL) s = fill(m);
  if (s != NULL) {
    if (strstr(tfsdk_status_message(s), path) == NULL) tfsdk__status_prefix(s, "%s", path);
    tfsdk_model_release(m);
    return s;
  }
  *out = m;
  return NULL;
}

void tfsdk_model_release(tfsdk_model *m) {
  if (m == NULL) return;
  tfsdk_runtime *rt = m->rt;
  for (size_t i = 0; i < m->values.n; i++) {
    model_value *v = &m->values.data[i];
    char *all[] = {v->signature, v->method, v->key, v->name};
    for (int k = 0; k < 4; k++) tfsdk__free(rt, all[k]);
  }
  for (size_t i = 0; i < m->weights.n; i++) {
    model_weight *w = &m->weights.data[i];
    char *all[] = {w->variable, w->path, w->reader, w->key};
    for (int k = 0; k < 4; k++) tfsdk__free(rt, all[k]);
  }
  tfsdk__free(rt, m->values.data);
  tfsdk__free(rt, m->weights.data);
  tfsdk_session_release(m->session);
  tfsdk_graph_release(m->graph);
  tfsdk__free(rt, m);
  tfsdk__runtime_unref(rt);
}

tfsdk_session *tfsdk_model_session(tfsdk_model *m) { return m->session; }
tfsdk_graph *tfsdk_model_graph(tfsdk_model *m) { return m->graph; }

void tfsdk_model_each(tfsdk_model *m, int (*fn)(void *user, const tfsdk_import_fact *fact),
                      void *user) {
  for (size_t i = 0; i < m->values.n; i++) {
    const model_value *v = &m->values.data[i];
    tfsdk_import_fact f = {.struct_size = sizeof f,
                           .kind = v->output ? "output" : "input",
                           .name = v->name,
                           .signature = v->signature,
                           .method = v->method,
                           .key = v->key,
                           .val = v->val};
    if (fn(user, &f) != 0) return;
  }
}

/* ------------------------------------------------------------------------------------------ running */

/* "serving_default", else the only one. NULL: the file has none. */
static tfsdk_status *choose(const tfsdk_model *m, const char *asked, const char **out) {
  const char *first = NULL, *serving = NULL;
  bool several = false;
  for (size_t i = 0; i < m->values.n; i++) {
    const char *s = m->values.data[i].signature;
    if (asked != NULL && strcmp(asked, s) == 0) {
      *out = s;
      return NULL;
    }
    if (strcmp(s, "serving_default") == 0) serving = s;
    if (first != NULL && strcmp(first, s) != 0) several = true;
    if (first == NULL) first = s;
  }
  *out = serving != NULL ? serving : first;
  if (asked == NULL && (!several || serving != NULL)) return NULL;
  tfsdk__buf names = {0};
  for (size_t i = 0; i < m->values.n; i++) {
    const char *s = m->values.data[i].signature;
    bool seen = false;
    for (size_t k = 0; k < i; k++) seen = seen || strcmp(m->values.data[k].signature, s) == 0;
    if (!seen) tfsdk__buf_add(&names, "%s'%s'", names.n ? ", " : "", s);
  }
  tfsdk_status *st =
      asked != NULL
          ? tfsdk__status_make(TFSDK_NOT_FOUND, "the model has no signature '%s'%s%s", asked,
                               names.n ? "; there are " : "", names.n ? names.s : "")
          : tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "name one of the signatures %s", names.s);
  tfsdk__buf_deinit(&names);
  return st;
}

static tfsdk_status *find(const tfsdk_model *m, const char *signature, bool output, const char *key,
                          tfsdk_val *out) {
  tfsdk__buf names = {0};
  if (signature == NULL) return tfsdk_graph_find(m->graph, key, out);
  for (size_t i = 0; i < m->values.n; i++) {
    const model_value *v = &m->values.data[i];
    if (v->output != output || strcmp(v->signature, signature) != 0) continue;
    if (strcmp(v->key, key) == 0) {
      *out = v->val;
      tfsdk__buf_deinit(&names);
      return NULL;
    }
    tfsdk__buf_add(&names, "%s'%s'", names.n ? ", " : "", v->key);
  }
  tfsdk_status *s = tfsdk__status_make(
      TFSDK_NOT_FOUND, "the signature '%s' has no %s '%s'; there %s %s", signature,
      output ? "output" : "input", key, names.n ? "are" : "is none", names.n ? names.s : "");
  tfsdk__buf_deinit(&names);
  return s;
}

/* An input that was left out is named here, and not when its placeholder has no value. */
static tfsdk_status *check_inputs(const tfsdk_model *m, const char *signature,
                                  const char *const *names, size_t n) {
  for (size_t i = 0; signature != NULL && i < m->values.n; i++) {
    const model_value *v = &m->values.data[i];
    bool given = v->output || strcmp(v->signature, signature) != 0;
    for (size_t k = 0; !given && k < n; k++) given = strcmp(v->key, names[k]) == 0;
    const tfsdk__node *node = m->graph->nodes.data[tfsdk__val_node(v->val)];
    if (!given && node->n_in == 0)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                                "the input '%s' of the signature '%s' is missing", v->key,
                                signature);
  }
  return NULL;
}

tfsdk_status *tfsdk_model_run(tfsdk_model *m, const char *signature, const char *const *in_names,
                              tfsdk_tensor *const *in, size_t n_in, const char *const *out_names,
                              size_t n_out, tfsdk_tensor **out) {
  for (size_t i = 0; i < n_out; i++) out[i] = NULL;
  TFSDK_TRY(choose(m, signature, &signature));
  tfsdk_val *val = tfsdk__zalloc(m->rt, (n_in + n_out + 1) * sizeof *val);
  if (val == NULL) return TFSDK__NOMEM(m->rt);
  tfsdk_status *s = check_inputs(m, signature, in_names, n_in);
  for (size_t i = 0; s == NULL && i < n_in; i++)
    s = find(m, signature, false, in_names[i], &val[i]);
  for (size_t i = 0; s == NULL && i < n_out; i++)
    s = find(m, signature, true, out_names[i], &val[n_in + i]);
  if (s == NULL) s = tfsdk_session_run(m->session, val + n_in, n_out, val, in, n_in, out);
  tfsdk__free(m->rt, val);
  return s;
}
