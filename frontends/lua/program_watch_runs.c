/* program_watch_runs.c - finds event files below a folder and reads their scalars as they come. */
#include "program_watch.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH 32 /* of folders: links may go in circles */

/* One more element at the end of an array, or NULL. */
static void *grow(watch *w, void *list, size_t n, size_t size) {
  void *p = (n & (n - 1)) != 0 ? list : realloc(list, (n == 0 ? 1 : 2 * n) * size);
  if (p == NULL) w->out_of_memory = 1;
  return p;
}

static char *copy_text(watch *w, const char *text, size_t n) {
  char *out = malloc(n + 1);
  if (out == NULL) {
    w->out_of_memory = 1;
    return NULL;
  }
  memcpy(out, text, n);
  out[n] = 0;
  return out;
}

/* --------------------------------------------------------------------------------------- runs */

static watch_run *find_run(watch *w, const char *name, size_t n) {
  size_t at = 0;
  for (; at < w->n_runs; at++) {
    int order = strncmp(w->runs[at]->name, name, n);
    if (order == 0 && w->runs[at]->name[n] == 0) return w->runs[at];
    if (order >= 0) break;
  }
  void *list = grow(w, w->runs, w->n_runs, sizeof *w->runs);
  watch_run *run = list != NULL ? calloc(1, sizeof *run) : NULL;
  if (list != NULL) w->runs = list;
  if (run == NULL || (run->name = copy_text(w, name, n)) == NULL) {
    free(run);
    w->out_of_memory = 1;
    return NULL;
  }
  memmove(&w->runs[at + 1], &w->runs[at], (w->n_runs - at) * sizeof *w->runs);
  w->runs[at] = run;
  w->n_runs++;
  return run;
}

/* By tag, in alphabetical order: found by halving, for a run may have thousands. */
static watch_series *find_series(watch *w, watch_run *run, const char *tag, size_t n) {
  size_t low = 0, high = run->n_series;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const char *other = run->series[middle]->tag;
    int order = strncmp(other, tag, n);
    if (order == 0 && other[n] == 0) return run->series[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  void *list = grow(w, run->series, run->n_series, sizeof *run->series);
  watch_series *s = list != NULL ? calloc(1, sizeof *s) : NULL;
  if (list != NULL) run->series = list;
  if (s == NULL || (s->tag = copy_text(w, tag, n)) == NULL) {
    free(s);
    w->out_of_memory = 1;
    return NULL;
  }
  s->stride = 1;
  s->low = INFINITY;
  s->high = -INFINITY;
  memmove(&run->series[low + 1], &run->series[low], (run->n_series - low) * sizeof *run->series);
  run->series[low] = s;
  run->n_series++;
  return s;
}

static void add_value(watch_series *s, int64_t step, double value) {
  s->step = step;
  s->value = value;
  s->fresh = 1;
  if (isfinite(value) && value < s->low) s->low = value;
  if (isfinite(value) && value > s->high) s->high = value;
  if (s->count++ % s->stride != 0) return;
  if (s->n_points == WATCH_POINTS) {
    for (uint32_t i = 0; i < WATCH_POINTS / 2; i++) s->point[i] = s->point[2 * i];
    s->n_points = WATCH_POINTS / 2;
    s->stride *= 2;
  }
  s->point[s->n_points++] = (float)value;
}

static void add_event(watch_run *run, int64_t step, double wall_time) {
  if (wall_time > run->wall_time) run->wall_time = wall_time;
  if (run->n_recent > 0) {
    uint64_t last = (run->n_recent - 1) % WATCH_RECENT;
    if (run->recent[last].step == step) return;
    if (step < run->recent[last].step) run->n_recent = 0; /* the run began anew */
  }
  run->recent[run->n_recent % WATCH_RECENT].step = step;
  run->recent[run->n_recent++ % WATCH_RECENT].wall_time = wall_time;
  run->step = step;
}

double watch_rate(const watch_run *run) {
  uint64_t n = run->n_recent < WATCH_RECENT ? run->n_recent : WATCH_RECENT;
  if (n < 2) return 0;
  uint64_t last = (run->n_recent - 1) % WATCH_RECENT, first = (run->n_recent - n) % WATCH_RECENT;
  double seconds = run->recent[last].wall_time - run->recent[first].wall_time;
  return seconds > 0 ? (double)(run->recent[last].step - run->recent[first].step) / seconds : 0;
}

double watch_monitored(const watch_run *run, const char *name) {
  for (size_t i = 0; i < run->n_series; i++) {
    const watch_series *s = run->series[i];
    if (s->count > 0 && strncmp(s->tag, "monitor/", 8) == 0 && strcmp(s->tag + 8, name) == 0)
      return s->value;
  }
  return NAN;
}

/* -------------------------------------------------------------------------------------- files */

/* Places of the components that are read; the plugin's record names them. */
enum { AT_NEXT, AT_TIME, AT_STEP, AT_TAG, AT_VALUE, AT_COUNT };
static const char *const component_names[AT_COUNT] = {"next", "wall_time", "step", "tag", "value"};
#define MOST_COMPONENTS 32

static void take_record(watch *w, watch_file *f, tfsdk_tensor *const *out, const int *at) {
  tfsdk_view v[AT_COUNT];
  uint64_t n;
  for (int i = 0; i < AT_COUNT; i++) {
    tfsdk_status *s = tfsdk_tensor_view(out[at[i]], &v[i]);
    if (s == NULL) continue;
    tfsdk_status_release(s);
    return;
  }
  const char *tag = tfsdk_view_string(&v[AT_TAG], 0, &n);
  watch_run *run = w->runs[f->run];
  f->offset = *(const int64_t *)v[AT_NEXT].data;
  if (memchr(tag, 0, (size_t)n) != NULL) n = strlen(tag);
  int64_t step = *(const int64_t *)v[AT_STEP].data;
  /* A monitor counts steps in its own way: they tell nothing of the run's. */
  if (n < 8 || memcmp(tag, "monitor/", 8) != 0)
    add_event(run, step, *(const double *)v[AT_TIME].data);
  else if (*(const double *)v[AT_TIME].data > run->wall_time)
    run->wall_time = *(const double *)v[AT_TIME].data;
  watch_series *s = find_series(w, run, tag, (size_t)n);
  if (s == NULL || (w->filter != NULL && strstr(s->tag, w->filter) == NULL)) return;
  add_value(s, step, *(const double *)v[AT_VALUE].data);
  if (w->on_value != NULL) w->on_value(run, s);
}

static tfsdk_status *read_all(watch *w, watch_file *f, tfsdk_dataset *d, tfsdk_iterator *it) {
  tfsdk_tensor *out[MOST_COMPONENTS];
  uint32_t n = tfsdk_dataset_components(d);
  int at[AT_COUNT], end = 0;
  for (int i = 0; i < AT_COUNT; i++) {
    at[i] = -1;
    for (uint32_t k = 0; k < n && k < MOST_COMPONENTS; k++)
      if (strcmp(tfsdk_dataset_name(d, k), component_names[i]) == 0) at[i] = (int)k;
    if (at[i] < 0 || n > MOST_COMPONENTS) return NULL; /* a reader that is not the one meant */
  }
  for (;;) {
    TFSDK_TRY(tfsdk_iterator_next(it, out, &end));
    if (end) return NULL;
    take_record(w, f, out, at);
    for (uint32_t k = 0; k < n; k++) tfsdk_tensor_release(out[k]);
  }
}

static tfsdk_status *read_file(watch *w, watch_file *f) {
  tfsdk_attrval options[2] = {tfsdk_a_int("offset", f->offset), tfsdk_a_bool("scalars_only", 1)};
  tfsdk_dataset *d = NULL;
  tfsdk_iterator *it = NULL;
  tfsdk_status *s = tfsdk_dataset_from_file(w->rt, f->path, "tfevents", options, 2, &d);
  if (s == NULL) s = tfsdk_iterator_create(d, &it);
  if (s == NULL) s = read_all(w, f, d, it);
  tfsdk_iterator_release(it);
  tfsdk_dataset_release(d);
  if (s == NULL || d == NULL) return s;
  const char *text = tfsdk_status_message(s);
  f->fault = copy_text(w, text, strlen(text));
  tfsdk_status_release(s);
  return NULL;
}

static void note_file(watch *w, const char *path) {
  for (size_t i = 0; i < w->n_files; i++)
    if (strcmp(w->files[i].path, path) == 0) return;
  void *list = grow(w, w->files, w->n_files, sizeof *w->files);
  char *copy = copy_text(w, path, strlen(path));
  if (list != NULL) w->files = list;
  if (list == NULL || copy == NULL) {
    free(copy);
    return;
  }
  watch_file *f = &w->files[w->n_files++];
  memset(f, 0, sizeof *f);
  f->path = copy;
  f->size = -1;
}

static int by_path(const void *a, const void *b) {
  return strcmp(((const watch_file *)a)->path, ((const watch_file *)b)->path);
}

static void scan(watch *w, const char *folder, int depth) {
  DIR *d = opendir(folder);
  char path[4096];
  struct stat st;
  if (d == NULL) return;
  for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
    if (e->d_name[0] == '.') continue;
    int n = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (n < 0 || (size_t)n >= sizeof path || stat(path, &st) != 0) continue;
    if (S_ISDIR(st.st_mode) && depth < DEPTH)
      scan(w, path, depth + 1);
    else if (S_ISREG(st.st_mode) && strstr(e->d_name, "tfevents") != NULL)
      note_file(w, path);
  }
  closedir(d);
}

/* Finds the file's run again each time: runs are sorted in. */
static int set_run(watch *w, watch_file *f) {
  const char *name = f->path + strlen(w->folder), *slash;
  name += strspn(name, "/");
  slash = strrchr(name, '/');
  watch_run *run = slash == NULL ? find_run(w, ".", 1) : find_run(w, name, (size_t)(slash - name));
  for (f->run = 0; run != NULL && w->runs[f->run] != run;) f->run++;
  return run != NULL;
}

tfsdk_status *watch_update(watch *w) {
  size_t before = w->n_files;
  scan(w, w->folder, 0);
  /* Files of one run follow one another in the order of their names, which begin with the time. */
  if (w->n_files != before) qsort(w->files, w->n_files, sizeof *w->files, by_path);
  for (size_t i = 0; i < w->n_files; i++) {
    watch_file *f = &w->files[i];
    struct stat st;
    if (f->fault != NULL || stat(f->path, &st) != 0 || (int64_t)st.st_size == f->size) continue;
    if (!set_run(w, f)) continue;
    f->size = (int64_t)st.st_size;
    TFSDK_TRY(read_file(w, f));
  }
  return NULL;
}

void watch_close(watch *w) {
  for (size_t i = 0; i < w->n_runs; i++) {
    watch_run *run = w->runs[i];
    for (size_t k = 0; k < run->n_series; k++) {
      free(run->series[k]->tag);
      free(run->series[k]);
    }
    free(run->series);
    free(run->name);
    free(run);
  }
  for (size_t i = 0; i < w->n_files; i++) {
    free(w->files[i].path);
    free(w->files[i].fault);
  }
  free(w->runs);
  free(w->files);
}
