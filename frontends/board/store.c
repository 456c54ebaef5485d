/* store.c - runs and their series; see store.h. */
#include "store.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "store_internal.h"

/* A series of so many points loses every second one; all the same its shape stays. */
#define MOST_POINTS ((size_t)1 << 20)
#define MOST_PLACES ((size_t)1 << 14)

const char *const kind_names[KINDS] = {"scalars",   "histograms", "images", "audio",    "text",
                                       "pr_curves", "hparams",    "graphs", "profiles", "tensors"};

void *store_grow(store *s, void *list, size_t n, size_t size) {
  void *p = (n & (n - 1)) != 0 ? list : realloc(list, (n == 0 ? 1 : 2 * n) * size);
  if (p == NULL) s->out_of_memory = true;
  return p;
}

char *store_copy(store *s, const char *from, size_t n) {
  char *out = malloc(n + 1);
  if (out == NULL) {
    s->out_of_memory = true;
    return NULL;
  }
  memcpy(out, from, n);
  out[n] = 0;
  return out;
}

/* ------------------------------------------------------------------------------------------ runs */

static size_t run_place(const store *s, const char *name, size_t n, bool *out_found) {
  size_t low = 0, high = s->n_runs;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const char *other = s->runs[middle]->name;
    int order = strncmp(other, name, n);
    if (order == 0 && other[n] != 0) order = 1;
    if (order == 0) {
      *out_found = true;
      return middle;
    }
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  *out_found = false;
  return low;
}

run *store_run(const store *s, const char *name) {
  bool found;
  size_t at = run_place(s, name, strlen(name), &found);
  return found ? s->runs[at] : NULL;
}

run *store_add_run(store *s, const char *name, size_t n) {
  bool found;
  size_t at = run_place(s, name, n, &found);
  if (found) return s->runs[at];
  void *list = store_grow(s, s->runs, s->n_runs, sizeof *s->runs);
  run *r = list != NULL ? calloc(1, sizeof *r) : NULL;
  if (list != NULL) s->runs = list;
  if (r == NULL || (r->name = store_copy(s, name, n)) == NULL) {
    free(r);
    s->out_of_memory = true;
    return NULL;
  }
  memmove(&s->runs[at + 1], &s->runs[at], (s->n_runs - at) * sizeof *s->runs);
  s->runs[at] = r;
  s->n_runs++;
  s->structure = ++s->generation;
  return r;
}

/* ---------------------------------------------------------------------------------------- series */

/* By tag, graphs and profiles behind the others of the same tag. */
static int series_order(const series *a, const char *tag, int group) {
  int order = strcmp(a->tag, tag);
  int other = a->kind == GRAPHS || a->kind == PROFILES ? (int)a->kind : 0;
  return order != 0 ? order : other - group;
}

static size_t series_place(const run *r, const char *tag, int group, bool *out_found) {
  size_t low = 0, high = r->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = series_order(r->all[middle], tag, group);
    if (order == 0) {
      *out_found = true;
      return middle;
    }
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  *out_found = false;
  return low;
}

series *run_series(const run *r, series_kind kind, const char *tag) {
  bool found;
  size_t at = series_place(r, tag, kind == GRAPHS || kind == PROFILES ? (int)kind : 0, &found);
  return found && r->all[at]->kind == kind ? r->all[at] : NULL;
}

series *store_add_series(store *s, run *r, series_kind kind, const char *tag) {
  bool found;
  size_t at = series_place(r, tag, kind == GRAPHS || kind == PROFILES ? (int)kind : 0, &found);
  if (found) return r->all[at];
  void *list = store_grow(s, r->all, r->n, sizeof *r->all);
  series *x = list != NULL ? calloc(1, sizeof *x) : NULL;
  if (list != NULL) r->all = list;
  if (x == NULL || (x->tag = store_copy(s, tag, strlen(tag))) == NULL) {
    free(x);
    s->out_of_memory = true;
    return NULL;
  }
  x->kind = kind;
  x->stride = 1;
  memmove(&r->all[at + 1], &r->all[at], (r->n - at) * sizeof *r->all);
  r->all[at] = x;
  r->n++;
  s->structure = ++s->generation;
  return x;
}

/* Room for one more value; false: this one is not kept. */
static bool make_room(store *s, series *x, size_t size, size_t most) {
  if (x->seen++ % x->stride != 0) return false;
  if (x->n == most) {
    char *p = x->list;
    for (size_t i = 0; i < x->n / 2; i++) memcpy(p + i * size, p + 2 * i * size, size);
    x->n /= 2;
    x->stride *= 2;
  }
  if (x->n < x->cap) return true;
  size_t cap = x->cap == 0 ? 16 : 2 * x->cap;
  void *p = realloc(x->list, cap * size);
  if (p == NULL) {
    s->out_of_memory = true;
    return false;
  }
  x->list = p;
  x->cap = cap;
  return true;
}

void store_add_point(store *s, series *x, int64_t step, double wall, double value) {
  if (!make_room(s, x, sizeof *x->points, MOST_POINTS)) return;
  x->points[x->n++] = (point){step, wall, value};
}

void store_add_place(store *s, series *x, const place *p) {
  if (make_room(s, x, sizeof *x->places, MOST_PLACES)) x->places[x->n++] = *p;
}

void store_restart(run *r, int64_t step) {
  for (size_t i = 0; i < r->n; i++) {
    series *x = r->all[i];
    if (x->kind == SCALARS)
      while (x->n > 0 && x->points[x->n - 1].step >= step) x->n--;
    else if (x->kind != GRAPHS && x->kind != HPARAMS)
      while (x->n > 0 && x->places[x->n - 1].step >= step) x->n--;
  }
}

void store_free(store *s) {
  for (size_t i = 0; i < s->n_runs; i++) {
    run *r = s->runs[i];
    for (size_t k = 0; k < r->n; k++) {
      free(r->all[k]->tag);
      free(r->all[k]->plugin);
      free(r->all[k]->description);
      free(r->all[k]->list);
      free(r->all[k]);
    }
    free(r->all);
    free(r->name);
    free(r);
  }
  for (size_t i = 0; i < s->n_files; i++) {
    free(s->files[i]->path);
    free(s->files[i]->fault);
    free(s->files[i]);
  }
  free(s->runs);
  free(s->files);
}
