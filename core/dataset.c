/* Datasets and iterators: what all kinds have in common, and the public calls. */
#include "dataset.h"

static void release_names(tfsdk_dataset *d) {
  for (uint32_t i = 0; d->name != NULL && i < d->n; i++) tfsdk__free(d->rt, d->name[i]);
  tfsdk__free(d->rt, d->name);
}

static tfsdk_status *make(tfsdk_runtime *rt, const tfsdk__dataset_kind *kind, tfsdk_dataset **out) {
  tfsdk_dataset *d = tfsdk__zalloc(rt, kind->dataset_bytes);
  if (d == NULL) return TFSDK__NOMEM(rt);
  atomic_init(&d->refs, 1);
  d->rt = rt;
  d->kind = kind;
  tfsdk__runtime_retain(rt);
  *out = d;
  return NULL;
}

/* Names tell components apart, so that no two are the same; "" is none. */
static tfsdk_status *copy_names(tfsdk_dataset *d, const char *const *names) {
  d->name = tfsdk__zalloc(d->rt, (d->n + 1) * sizeof *d->name);
  if (d->name == NULL) return TFSDK__NOMEM(d->rt);
  for (uint32_t i = 0; i < d->n; i++) {
    const char *name = names != NULL && names[i] != NULL ? names[i] : "";
    for (uint32_t j = 0; j < i && *name != 0; j++)
      TFSDK_REQUIRE(d->rt, strcmp(name, d->name[j]) != 0,
                    "components %u and %u are both called '%s'", j, i, name);
    d->name[i] = tfsdk__strdup(d->rt, name);
    if (d->name[i] == NULL) return TFSDK__NOMEM(d->rt);
  }
  return NULL;
}

tfsdk_status *tfsdk__dataset_source(tfsdk_runtime *rt, const tfsdk__dataset_kind *kind, uint32_t n,
                                    const char *const *names, tfsdk_dataset **out) {
  tfsdk_dataset *d = NULL;
  TFSDK_REQUIRE(rt, n > 0, "%s: a dataset needs at least one component", kind->name);
  TFSDK_TRY(make(rt, kind, &d));
  d->n = d->width = n;
  tfsdk_status *s = copy_names(d, names);
  if (s != NULL) {
    tfsdk__status_prefix(s, "%s", kind->name);
    release_names(d);
    tfsdk__free(rt, d);
    tfsdk__runtime_unref(rt);
    return s;
  }
  *out = d;
  return NULL;
}

tfsdk_status *tfsdk__dataset_over(tfsdk_dataset *input, const tfsdk__dataset_kind *kind,
                                  tfsdk_dataset **out) {
  tfsdk_dataset *d = NULL;
  TFSDK_TRY(make(input->rt, kind, &d));
  d->input = tfsdk_dataset_retain(input);
  d->rows = input->rows;
  d->n = input->n;
  d->width = input->width;
  d->name = input->name;
  *out = d;
  return NULL;
}

tfsdk_dataset *tfsdk_dataset_retain(tfsdk_dataset *d) {
  atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed);
  return d;
}

void tfsdk_dataset_release(tfsdk_dataset *d) {
  while (d != NULL && atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) == 1) {
    tfsdk_dataset *input = d->input;
    tfsdk_runtime *rt = d->rt;
    if (d->kind->release != NULL) d->kind->release(d);
    if (input == NULL) release_names(d);
    tfsdk__free(rt, d);
    tfsdk__runtime_unref(rt);
    d = input;
  }
}

uint32_t tfsdk_dataset_components(const tfsdk_dataset *d) { return d->n; }

const char *tfsdk_dataset_name(const tfsdk_dataset *d, uint32_t i) {
  return i < d->n ? d->name[i] : "";
}

void tfsdk_named_tensors_release(tfsdk_named_tensor *list, size_t n) {
  for (size_t i = 0; list != NULL && i < n; i++) {
    free(list[i].name);
    tfsdk_tensor_release(list[i].tensor);
  }
  free(list);
}

/* ------------------------------------------------------------------------------------------- links
 */

void tfsdk__link_drop(tfsdk__link *l, const tfsdk__item *item, size_t n) {
  if (l->d->rows != NULL) return;
  for (size_t i = 0; i < n * l->d->width; i++) tfsdk_tensor_release(item[i].tensor);
}

static void close_chain(tfsdk__link *l) {
  while (l != NULL) {
    tfsdk__link *input = l->input;
    if (l->d->kind->close != NULL) l->d->kind->close(l);
    tfsdk__free(l->rt, l);
    l = input;
  }
}

/* Opens from the source on, so that each link finds its input ready. */
static tfsdk_status *open_chain(tfsdk_dataset *d, tfsdk__link **out) {
  tfsdk__link *input = NULL;
  if (d->input != NULL) TFSDK_TRY(open_chain(d->input, &input));
  tfsdk__link *l = tfsdk__zalloc(d->rt, d->kind->link_bytes);
  if (l == NULL) {
    close_chain(input);
    return TFSDK__NOMEM(d->rt);
  }
  l->d = d;
  l->rt = d->rt;
  l->input = input;
  tfsdk_status *s = d->kind->open != NULL ? d->kind->open(l) : NULL;
  if (s != NULL) {
    close_chain(l);
    return s;
  }
  *out = l;
  return NULL;
}

/* --------------------------------------------------------------------------------------- iterators
 */

tfsdk_status *tfsdk_iterator_create(tfsdk_dataset *d, tfsdk_iterator **out) {
  tfsdk_iterator *it;
  tfsdk__link *last;
  *out = NULL;
  TFSDK_TRY(open_chain(d, &last));
  it = tfsdk__zalloc(d->rt, sizeof *it + d->width * sizeof it->item[0]);
  if (it == NULL) {
    close_chain(last);
    return TFSDK__NOMEM(d->rt);
  }
  pthread_mutex_init(&it->lock, NULL);
  it->d = tfsdk_dataset_retain(d);
  it->last = last;
  *out = it;
  return NULL;
}

void tfsdk_iterator_release(tfsdk_iterator *it) {
  if (it == NULL) return;
  tfsdk_dataset *d = it->d;
  close_chain(it->last);
  pthread_mutex_destroy(&it->lock);
  tfsdk__free(d->rt, it->message);
  tfsdk__free(d->rt, it);
  tfsdk_dataset_release(d);
}

/* Turns the row that was pulled into tensors. */
static tfsdk_status *slice(tfsdk_iterator *it, tfsdk_tensor **out) {
  for (uint32_t i = 0; i < it->d->n; i++) {
    tfsdk_status *s = tfsdk__dataset_gather(it->d->rows, i, &it->item[0].row, -1, &out[i]);
    if (s == NULL) continue;
    while (i > 0) tfsdk_tensor_release(out[--i]);
    return s;
  }
  return NULL;
}

static tfsdk_status *pull(tfsdk_iterator *it, tfsdk_tensor **out, int32_t *out_end) {
  bool end = it->ended;
  if (it->code != TFSDK_OK)
    return tfsdk__status_make(it->code, "%s",
                              it->message ? it->message : "the iterator has failed");
  tfsdk_status *s = end ? NULL : tfsdk__link_next(it->last, it->item, &end);
  if (s == NULL && !end) {
    if (it->d->rows != NULL)
      s = slice(it, out);
    else
      for (uint32_t i = 0; i < it->d->n; i++) out[i] = it->item[i].tensor;
  }
  if (s != NULL) {
    it->code = tfsdk_status_code(s);
    it->message = tfsdk__strdup(it->d->rt, tfsdk_status_message(s));
    return s;
  }
  it->ended = end;
  it->given += !end;
  *out_end = end;
  return NULL;
}

tfsdk_status *tfsdk_iterator_next(tfsdk_iterator *it, tfsdk_tensor **out, int32_t *out_end) {
  *out_end = 0;
  pthread_mutex_lock(&it->lock);
  tfsdk_status *s = pull(it, out, out_end);
  pthread_mutex_unlock(&it->lock);
  if (s != NULL || *out_end != 0)
    for (uint32_t i = 0; i < it->d->n; i++) out[i] = NULL;
  return s;
}
