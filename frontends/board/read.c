/* read.c - finds event files below the folder and reads what has come. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "store_internal.h"

#define DEPTH 32 /* of folders */

/* Places of the components that are read; the plugin's record names them. */
enum { NEXT, OFFSET, TIME, STEP, KIND, TAG, PLUGIN, VALUE, DATA, COUNT };
static const char *const names[COUNT] = {"next", "offset", "wall_time", "step", "kind",
                                         "tag",  "plugin", "value",     "data"};
#define MOST_COMPONENTS 32

typedef struct source {
  tfsdk_dataset *d;
  tfsdk_iterator *it;
  uint32_t n;
  int at[COUNT];
  tfsdk_tensor *out[MOST_COMPONENTS];
  tfsdk_view v[COUNT];
} source;

static tfsdk_status *source_open(store *s, const char *path, int64_t offset, source *out) {
  tfsdk_attrval options[1] = {tfsdk_a_int("offset", offset)};
  memset(out, 0, sizeof *out);
  TFSDK_TRY(tfsdk_dataset_from_file(s->rt, path, "tfevents", options, 1, &out->d));
  out->n = tfsdk_dataset_components(out->d);
  for (int i = 0; i < COUNT; i++) {
    out->at[i] = -1;
    for (uint32_t k = 0; k < out->n && k < MOST_COMPONENTS; k++)
      if (strcmp(tfsdk_dataset_name(out->d, k), names[i]) == 0) out->at[i] = (int)k;
  }
  return tfsdk_iterator_create(out->d, &out->it);
}

static void source_drop(source *x) {
  for (uint32_t i = 0; i < x->n && i < MOST_COMPONENTS; i++) {
    tfsdk_tensor_release(x->out[i]);
    x->out[i] = NULL;
  }
}

static void source_close(source *x) {
  source_drop(x);
  tfsdk_iterator_release(x->it);
  tfsdk_dataset_release(x->d);
}

/* The next record, lent in x->v until the next call. */
static tfsdk_status *source_next(source *x, int *out_end) {
  source_drop(x);
  *out_end = 1;
  if (x->n > MOST_COMPONENTS) return NULL; /* a reader that is not the one meant */
  for (int i = 0; i < COUNT; i++)
    if (x->at[i] < 0) return NULL;
  TFSDK_TRY(tfsdk_iterator_next(x->it, x->out, out_end));
  for (int i = 0; !*out_end && i < COUNT; i++)
    TFSDK_TRY(tfsdk_tensor_view(x->out[x->at[i]], &x->v[i]));
  return NULL;
}

static bytes source_bytes(const source *x, int which) {
  uint64_t n;
  const char *p = tfsdk_view_string(&x->v[which], 0, &n);
  return (bytes){p, (size_t)n};
}
static int64_t source_int(const source *x, int which) { return *(const int64_t *)x->v[which].data; }
static double source_double(const source *x, int which) {
  return *(const double *)x->v[which].data;
}

tfsdk_status *store_read(store *s, const place *p, tfsdk_tensor **out_box, bytes *out) {
  source x;
  int end = 0;
  *out_box = NULL;
  tfsdk_status *st = source_open(s, p->path, p->offset, &x);
  for (uint32_t i = 0; st == NULL && !end && i <= p->index; i++) st = source_next(&x, &end);
  if (st == NULL && !end && source_int(&x, OFFSET) == p->offset) {
    *out = source_bytes(&x, DATA);
    *out_box = tfsdk_tensor_retain(x.out[x.at[DATA]]);
  }
  source_close(&x);
  return st;
}

/* --------------------------------------------------------------------------------------- records */

/* SummaryMetadata{plugin_data 1, display_name 2, summary_description 3} is field 9 of a value. */
static void note_metadata(store *s, series *x, const source *src) {
  bytes plugin = source_bytes(src, PLUGIN), data = source_bytes(src, DATA);
  bytes metadata = proto_field(data, 9), description = proto_field(metadata, 3);
  if (x->plugin == NULL && plugin.n > 0) x->plugin = store_copy(s, plugin.p, plugin.n);
  if (x->description == NULL && description.n > 0)
    x->description = store_copy(s, description.p, description.n);
}

static series_kind kind_of(bytes kind, bytes plugin) {
  static const struct {
    const char *name;
    series_kind kind;
  } kinds[] = {{"scalar", SCALARS}, {"histogram", HISTOGRAMS}, {"image", IMAGES}, {"audio", AUDIO}},
    plugins[] = {
        {"scalars", SCALARS}, {"histograms", HISTOGRAMS}, {"images", IMAGES},  {"audio", AUDIO},
        {"text", TEXT},       {"pr_curves", CURVES},      {"hparams", HPARAMS}};
  for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++)
    if (bytes_are(plugin, plugins[i].name)) return plugins[i].kind;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (bytes_are(kind, kinds[i].name)) return kinds[i].kind;
  return TENSORS;
}

/* A value of a summary. Only the first of a tag has metadata, so the series says what the later
 * ones are. */
static void take_value(store *s, file *f, const source *src, const place *at) {
  bytes tag = source_bytes(src, TAG), kind = source_bytes(src, KIND);
  char *name = store_copy(s, tag.p, tag.n);
  if (name == NULL) return;
  series *x = store_add_series(s, f->run, kind_of(kind, source_bytes(src, PLUGIN)), name);
  free(name);
  if (x == NULL) return;
  if (x->n == 0 && x->plugin == NULL) note_metadata(s, x, src);
  /* A monitor counts steps in its own way: they tell nothing of the run's. */
  if (at->step > f->run->step && strncmp(x->tag, "monitor/", 8) != 0) f->run->step = at->step;
  if (x->kind != SCALARS)
    store_add_place(s, x, at);
  else if (bytes_are(kind, "scalar"))
    store_add_point(s, x, at->step, at->wall, source_double(src, VALUE));
}

/* TaggedRunMetadata{tag 1}, SessionLog{status 1: 1 is START} */
static void take_event(store *s, file *f, const source *src, const place *at) {
  bytes kind = source_bytes(src, KIND), data = source_bytes(src, DATA);
  series *x = NULL;
  if (bytes_are(kind, "graph_def") || bytes_are(kind, "meta_graph_def")) {
    x = store_add_series(s, f->run, GRAPHS, bytes_are(kind, "graph_def") ? "graph" : "meta graph");
  } else if (bytes_are(kind, "tagged_run_metadata")) {
    bytes tag = proto_field(data, 1);
    char *name = store_copy(s, tag.p, tag.n);
    if (name != NULL) x = store_add_series(s, f->run, PROFILES, name);
    free(name);
  } else if (bytes_are(kind, "session_log")) {
    proto m = proto_of(data);
    while (proto_next(&m))
      if (proto_is(&m, 1, 0) && m.number == 1 && at->step > 0) store_restart(f->run, at->step);
  }
  if (x != NULL) store_add_place(s, x, at);
}

static void take_record(store *s, file *f, const source *src) {
  int64_t offset = source_int(src, OFFSET);
  f->index = offset == f->event ? f->index + 1 : 0;
  f->event = offset;
  f->offset = source_int(src, NEXT);
  place at = {source_int(src, STEP), source_double(src, TIME), f->path, offset, f->index};
  run *r = f->run;
  bytes kind = source_bytes(src, KIND);
  bool event = memchr(kind.p, '_', kind.n) != NULL || bytes_are(kind, "empty");
  if (r->began == 0 || at.wall < r->began) r->began = at.wall;
  if (at.wall > r->latest) r->latest = at.wall;
  r->generation = ++s->generation;
  if (event)
    take_event(s, f, src, &at);
  else
    take_value(s, f, src, &at);
}

/* ----------------------------------------------------------------------------------------- files */

static void set_fault(store *s, file *f, const char *what) {
  pthread_mutex_lock(&s->lock);
  f->fault = store_copy(s, what, strlen(what));
  s->structure = ++s->generation;
  pthread_mutex_unlock(&s->lock);
}

static tfsdk_status *read_file(store *s, file *f) {
  source x;
  int end = 0;
  tfsdk_status *st = source_open(s, f->path, f->offset, &x);
  bool opened = x.d != NULL;
  f->event = -1;
  while (st == NULL && *s->stop == 0) {
    st = source_next(&x, &end);
    if (st != NULL || end) break;
    pthread_mutex_lock(&s->lock);
    take_record(s, f, &x);
    pthread_mutex_unlock(&s->lock);
  }
  source_close(&x);
  if (st == NULL || !opened) return st;
  set_fault(s, f, tfsdk_status_message(st));
  tfsdk_status_release(st);
  return NULL;
}

/* The folder of the file below the log folder. */
static run *run_of(store *s, const char *path) {
  const char *name = path + strlen(s->folder);
  name += strspn(name, "/");
  const char *slash = strrchr(name, '/');
  return slash == NULL ? store_add_run(s, ".", 1) : store_add_run(s, name, (size_t)(slash - name));
}

static void note_file(store *s, const char *path) {
  for (size_t i = 0; i < s->n_files; i++)
    if (strcmp(s->files[i]->path, path) == 0) return;
  file *f = calloc(1, sizeof *f);
  char *copy = store_copy(s, path, strlen(path));
  pthread_mutex_lock(&s->lock);
  void *list = store_grow(s, s->files, s->n_files, sizeof *s->files);
  if (list != NULL) s->files = list;
  run *r = list != NULL && copy != NULL ? run_of(s, path) : NULL;
  if (r != NULL && f != NULL) {
    f->path = copy;
    f->run = r;
    f->size = -1;
    r->n_files++;
    s->files[s->n_files++] = f;
    s->structure = ++s->generation;
  } else {
    s->out_of_memory = true;
    free(copy);
    free(f);
  }
  pthread_mutex_unlock(&s->lock);
}

/* Names end with a number that tells one process' writers apart: 10 comes behind 9. */
static int by_path(const void *a, const void *b) {
  return strverscmp((*(file *const *)a)->path, (*(file *const *)b)->path);
}

/* The folders that lead to one: a link back to any of them would go in circles. */
typedef struct way {
  const struct way *before;
  dev_t device;
  ino_t inode;
} way;

static bool is_circle(const way *w, const struct stat *st) {
  for (; w != NULL; w = w->before)
    if (w->device == st->st_dev && w->inode == st->st_ino) return true;
  return false;
}

static void scan(store *s, const char *folder, const way *before, int depth) {
  DIR *d = opendir(folder);
  char path[4096];
  struct stat st;
  if (d == NULL) return;
  if (fstat(dirfd(d), &st) != 0 || is_circle(before, &st)) {
    closedir(d);
    return;
  }
  way here = {before, st.st_dev, st.st_ino};
  for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
    if (e->d_name[0] == '.') continue;
    int n = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (n < 0 || (size_t)n >= sizeof path || stat(path, &st) != 0) continue;
    if (S_ISDIR(st.st_mode) && depth < DEPTH)
      scan(s, path, &here, depth + 1);
    else if (S_ISREG(st.st_mode) && strstr(e->d_name, "tfevents") != NULL)
      note_file(s, path);
  }
  closedir(d);
}

static void set_gone(store *s, file *f, bool gone) {
  pthread_mutex_lock(&s->lock);
  f->gone = gone;
  f->run->n_files += gone ? (size_t)-1 : 1;
  s->structure = ++s->generation;
  pthread_mutex_unlock(&s->lock);
}

tfsdk_status *store_update(store *s) {
  size_t before = s->n_files;
  scan(s, s->folder, NULL, 0);
  /* Files of one run follow one another in the order of their names, which begin with the time. */
  pthread_mutex_lock(&s->lock);
  if (s->n_files != before) qsort(s->files, s->n_files, sizeof(file *), by_path);
  pthread_mutex_unlock(&s->lock);
  for (size_t i = 0; i < s->n_files && *s->stop == 0; i++) {
    file *f = s->files[i];
    struct stat st;
    bool gone = stat(f->path, &st) != 0;
    if (gone != f->gone) set_gone(s, f, gone);
    if (gone || f->fault != NULL || (int64_t)st.st_size == f->size) continue;
    if ((int64_t)st.st_size < f->offset) {
      set_fault(s, f, "the file has become shorter");
      continue;
    }
    f->size = (int64_t)st.st_size;
    TFSDK_TRY(read_file(s, f));
  }
  pthread_mutex_lock(&s->lock);
  s->loaded = true;
  pthread_mutex_unlock(&s->lock);
  return NULL;
}
