/* data_projector.c - /data/projector: which embeddings there are; /data/projector/points: one of
 * them, seen along its three axes of greatest variance.
 *
 * Paths in a run's projector_config.pbtxt are relative to the run's folder, and must stay below the
 * log folder: a log that came from elsewhere shows nothing else of this machine. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tfsdk/shape.h>
#include <unistd.h>

#include "config.h"
#include "request.h"

#define MOST_CONFIG ((size_t)1 << 20)
#define MOST_TABLE  ((size_t)1 << 28)
#define AXES        3
#define ROUNDS      60

static bool folder_of(const store *s, const char *run_name, char out[PATH_MAX]) {
  int n = strcmp(run_name, ".") == 0 ? snprintf(out, PATH_MAX, "%s", s->folder)
                                     : snprintf(out, PATH_MAX, "%s/%s", s->folder, run_name);
  return n > 0 && n < PATH_MAX;
}

/* The path that a config means. Of a checkpoint's prefix the folder must be there. */
static bool resolve(request *q, const char *folder, const char *path, char out[PATH_MAX]) {
  char joined[PATH_MAX], root[PATH_MAX], real[PATH_MAX];
  int n = path[0] == '/' ? snprintf(joined, PATH_MAX, "%s", path)
                         : snprintf(joined, PATH_MAX, "%s/%s", folder, path);
  char *slash = n > 0 && n < PATH_MAX ? strrchr(joined, '/') : NULL;
  bool inside = false;
  if (slash != NULL && strcmp(slash, "/..") != 0) {
    *slash = 0;
    if (realpath(q->s->folder, root) != NULL && realpath(joined, real) != NULL) {
      size_t k = strlen(root);
      inside = strncmp(real, root, k) == 0 && (real[k] == 0 || real[k] == '/') &&
               snprintf(joined, PATH_MAX, "%s/%s", real, slash + 1) < PATH_MAX;
      /* a link may lead out all the same */
      if (inside && realpath(joined, real) != NULL)
        inside = strncmp(real, root, k) == 0 && real[k] == '/';
    }
  }
  if (inside)
    memcpy(out, joined, strlen(joined) + 1);
  else
    request_fail(q, 403, "'%s' is not below the log folder", path);
  return inside;
}

static bool load_config(const char *folder, config *out) {
  char path[PATH_MAX];
  memset(out, 0, sizeof *out);
  if (snprintf(path, sizeof path, "%s/projector_config.pbtxt", folder) >= (int)sizeof path)
    return false;
  char *source = config_load(path, MOST_CONFIG, NULL);
  bool fine = source != NULL && config_read(source, out);
  free(source);
  if (!fine) config_free(out);
  return fine;
}

static void put_embeddings(text *t, const char *run_name, const char *folder) {
  config c;
  if (!load_config(folder, &c)) return;
  for (size_t i = 0; i < c.n; i++) {
    const embedding *e = &c.all[i];
    if (e->tensor_name == NULL && e->tensor_path == NULL) continue;
    json_open(t, '{');
    json_text_at(t, "run", run_name);
    json_text_at(t, "name", e->tensor_name != NULL ? e->tensor_name : e->tensor_path);
    json_key(t, "metadata");
    json_bool(t, e->metadata_path != NULL);
    json_close(t, '}');
  }
  config_free(&c);
}

void data_projector(request *q) {
  char folder[PATH_MAX];
  text *t = &q->out;
  store *s = q->s;
  json_open(t, '{');
  json_open_at(t, "embeddings", '[');
  pthread_mutex_lock(&s->lock);
  bool root = store_run(s, ".") != NULL;
  size_t n = s->n_runs;
  const char **names = malloc((n + 1) * sizeof *names);
  for (size_t i = 0; names != NULL && i < n; i++) names[i] = s->runs[i]->name;
  pthread_mutex_unlock(&s->lock);
  if (!root) put_embeddings(t, ".", s->folder);
  for (size_t i = 0; names != NULL && i < n; i++)
    if (folder_of(s, names[i], folder)) put_embeddings(t, names[i], folder);
  t->failed = t->failed || names == NULL;
  free(names);
  json_close(t, ']');
  json_close(t, '}');
}

/* ---------------------------------------------------------------------------------------- points */

typedef struct matrix {
  float *p;                  /* rows one after another */
  size_t rows, columns, all; /* all: rows there were before some were left out */
} matrix;

/* Row i of what is shown is row `i * all / rows` of what there is. */
static size_t source_row(const matrix *m, size_t i) { return i * m->all / m->rows; }

static tfsdk_status *read_checkpoint(request *q, const char *path, const char *name, size_t most,
                                     matrix *out) {
  static const char *const endings[][2] = {{".index", "tf_checkpoint"}, {".json", "checkpoint"}};
  char beside[PATH_MAX];
  const char *reader = NULL;
  tfsdk_tensor *x = NULL;
  tfsdk_view v;
  for (int i = 0; i < 2; i++)
    if (snprintf(beside, sizeof beside, "%s%s", path, endings[i][0]) < (int)sizeof beside &&
        access(beside, R_OK) == 0)
      reader = endings[i][1];
  TFSDK_TRY(tfsdk_file_read(q->s->rt, path, reader, &name, 1, 1, &x));
  tfsdk_status *s = tfsdk_tensor_view(x, &v);
  if (s == NULL && v.rank != 2) {
    request_fail(q, 404, "'%s' has %u axes; an embedding has 2", name, (unsigned)v.rank);
  } else if (s == NULL) {
    out->all = (size_t)v.dim[0];
    out->columns = (size_t)v.dim[1];
    out->rows = out->all < most ? out->all : most;
    out->p = malloc((out->rows * out->columns + 1) * sizeof *out->p);
    for (size_t i = 0; out->p != NULL && i < out->rows; i++)
      for (size_t k = 0; k < out->columns; k++)
        out->p[i * out->columns + k] =
            (float)tfsdk_view_number(&v, (int64_t)(source_row(out, i) * out->columns + k));
  }
  tfsdk_tensor_release(x);
  return s;
}

/* Rows of numbers between tabs, all of the same length. */
static bool read_table(const char *path, size_t most, matrix *out) {
  size_t columns = 1, lines = 0;
  char *table = config_load(path, MOST_TABLE, NULL), *at;
  if (table == NULL) return false;
  for (const char *p = table; *p != 0 && *p != '\n'; p++) columns += *p == '\t';
  for (const char *p = table; *p != 0; p = strchr(p, '\n') != NULL ? strchr(p, '\n') + 1 : "")
    lines += *p != '\n';
  out->all = lines;
  out->rows = lines < most ? lines : most;
  out->columns = columns;
  out->p = calloc(out->rows * columns + 1, sizeof *out->p);
  at = table;
  for (size_t i = 0, line = 0; out->p != NULL && i < out->rows; i++) {
    for (; line < source_row(out, i); line++) at = strchr(at, '\n') + 1;
    for (size_t k = 0; k < columns; k++) {
      char *end;
      out->p[i * columns + k] = strtof(at, &end);
      at = *end == '\t' ? end + 1 : end;
    }
  }
  free(table);
  return out->p != NULL;
}

static void center(matrix *m) {
  for (size_t k = 0; k < m->columns; k++) {
    double sum = 0;
    for (size_t i = 0; i < m->rows; i++) sum += (double)m->p[i * m->columns + k];
    for (size_t i = 0; i < m->rows; i++)
      m->p[i * m->columns + k] = (float)((double)m->p[i * m->columns + k] - sum / (double)m->rows);
  }
}

/* The axes of greatest variance: power iteration on the covariance, which is never made; each axis
 * is kept upright to those before it. Returns the variance along it. */
static double next_axis(const matrix *m, double *axes, size_t which, double *room) {
  size_t d = m->columns;
  double *v = axes + which * d, length = 0;
  for (size_t k = 0; k < d; k++) v[k] = 1 / (1 + (double)((k * 7 + which * 13) % 31));
  for (int round = 0; round < ROUNDS; round++) {
    memset(room, 0, d * sizeof *room);
    for (size_t i = 0; round > 0 && i < m->rows; i++) {
      const float *x = m->p + i * d;
      double dot = 0;
      for (size_t k = 0; k < d; k++) dot += (double)x[k] * v[k];
      for (size_t k = 0; k < d; k++) room[k] += dot * (double)x[k];
    }
    if (round == 0) memcpy(room, v, d * sizeof *room);
    for (size_t a = 0; a < which; a++) {
      double dot = 0;
      for (size_t k = 0; k < d; k++) dot += room[k] * axes[a * d + k];
      for (size_t k = 0; k < d; k++) room[k] -= dot * axes[a * d + k];
    }
    length = 0;
    for (size_t k = 0; k < d; k++) length += room[k] * room[k];
    length = sqrt(length);
    for (size_t k = 0; k < d; k++) v[k] = length > 1e-12 ? room[k] / length : 0;
  }
  return length / (double)(m->rows > 0 ? m->rows : 1);
}

static void put_points(text *t, matrix *m) {
  size_t d = m->columns;
  double *axes = calloc((AXES + 1) * d + 1, sizeof *axes), total = 0;
  if (axes == NULL) {
    t->failed = true;
    return;
  }
  center(m);
  for (size_t i = 0; i < m->rows * d; i++) total += (double)m->p[i] * (double)m->p[i];
  total /= (double)(m->rows > 0 ? m->rows : 1);
  json_int_at(t, "rows", (int64_t)m->all);
  json_int_at(t, "columns", (int64_t)d);
  json_open_at(t, "variance", '[');
  for (size_t a = 0; a < AXES; a++) {
    double along = a < d ? next_axis(m, axes, a, axes + AXES * d) : 0;
    json_number(t, total > 0 ? (double)(float)(along / total) : 0);
  }
  json_close(t, ']');
  json_open_at(t, "points", '[');
  for (size_t i = 0; i < m->rows; i++) {
    json_open(t, '[');
    for (size_t a = 0; a < AXES; a++) {
      double dot = 0;
      for (size_t k = 0; k < d; k++) dot += (double)m->p[i * d + k] * axes[a * d + k];
      json_number(t, (double)(float)dot);
    }
    json_close(t, ']');
  }
  json_close(t, ']');
  free(axes);
}

/* A table between tabs; its first line names the columns where there are several. */
static void put_metadata(text *t, const char *path, const matrix *m) {
  char *table = config_load(path, MOST_TABLE, NULL), *at = table;
  if (table == NULL) return;
  bool names = memchr(table, '\t', strcspn(table, "\n")) != NULL;
  json_open_at(t, "metadata_columns", '[');
  for (bool more = names; more;) {
    size_t n = strcspn(at, "\t\r\n");
    json_string(t, at, n);
    more = at[n] == '\t';
    at += n + (more ? 1 : 0);
  }
  if (!names) json_text(t, "label");
  if (names) at += strcspn(at, "\n") + (strchr(at, '\n') != NULL ? 1 : 0);
  json_close(t, ']');
  json_open_at(t, "metadata", '[');
  for (size_t i = 0, line = 0; i < m->rows; i++) {
    for (; *at != 0 && line < source_row(m, i); line++)
      at += strcspn(at, "\n") + (strchr(at, '\n') != NULL ? 1 : 0);
    json_open(t, '[');
    for (bool more = *at != 0; more;) {
      size_t n = strcspn(at, "\t\r\n");
      json_string(t, at, n);
      more = at[n] == '\t';
      at += n + (more ? 1 : 0);
    }
    json_close(t, ']');
  }
  json_close(t, ']');
  free(table);
}

/* -1 if there is none of that name. */
static int find(const config *c, const char *name) {
  for (size_t i = 0; i < c->n; i++) {
    const char *is = c->all[i].tensor_name != NULL ? c->all[i].tensor_name : c->all[i].tensor_path;
    if (is != NULL && strcmp(is, name) == 0) return (int)i;
  }
  return -1;
}

static void answer(request *q, const char *folder, const config *c, const embedding *e,
                   size_t most) {
  char path[PATH_MAX];
  matrix m = {NULL, 0, 0, 0};
  const char *from = e->tensor_path != NULL ? e->tensor_path : c->checkpoint;
  if (from == NULL) {
    request_fail(q, 404, "projector_config.pbtxt names neither a checkpoint nor a tensor_path");
    return;
  }
  if (!resolve(q, folder, from, path)) return;
  if (e->tensor_path != NULL) {
    if (!read_table(path, most, &m)) request_fail(q, 404, "'%s' cannot be read", e->tensor_path);
  } else {
    tfsdk_status *s = read_checkpoint(q, path, e->tensor_name, most, &m);
    if (s != NULL) request_fail_status(q, s);
  }
  if (q->status == 200 && m.p == NULL) request_fail(q, 500, "no memory");
  if (q->status == 200) {
    json_open(&q->out, '{');
    put_points(&q->out, &m);
    if (e->metadata_path != NULL && resolve(q, folder, e->metadata_path, path))
      put_metadata(&q->out, path, &m);
    if (q->status == 200) json_close(&q->out, '}');
  }
  free(m.p);
}

void data_projector_points(request *q) {
  const char *run_name, *name;
  double most;
  char folder[PATH_MAX];
  config c;
  if (!request_need(q, "run", &run_name) || !request_need(q, "name", &name) ||
      !request_number(q, "points", 5000, 1, 100000, &most))
    return;
  pthread_mutex_lock(&q->s->lock);
  bool there = strcmp(run_name, ".") == 0 || store_run(q->s, run_name) != NULL;
  pthread_mutex_unlock(&q->s->lock);
  if (!there) {
    request_fail(q, 404, "there is no run '%s'", run_name);
  } else if (!folder_of(q->s, run_name, folder) || !load_config(folder, &c)) {
    request_fail(q, 404, "the run '%s' has no projector_config.pbtxt that can be read", run_name);
  } else {
    int at = find(&c, name);
    if (at < 0)
      request_fail(q, 404, "the run '%s' has no embedding '%s'", run_name, name);
    else
      answer(q, folder, &c, &c.all[at], (size_t)most);
    config_free(&c);
  }
}
