/* data_scalars.c - /data/scalars: curves of one tag, smoothed, with as many points as the screen
 * has room for; /data/scalars.csv: all of them.
 *
 * Smoothing sees every point and comes before points are left out, so a curve does not change with
 * the width of the window. Of each group of neighbours the first, the least, the greatest and the
 * last stay: no peak is lost. */
#include <math.h>
#include <stdlib.h>

#include "request.h"

#define MOST_RUNS 4096

typedef struct names {
  const char *name[MOST_RUNS];
  size_t n;
} names;

static void add_name(void *user, const char *value) {
  names *all = (names *)user;
  if (all->n < MOST_RUNS) all->name[all->n++] = value;
}

/* TensorBoard's: an exponential moving average, divided by how much of it there is yet. What is not
 * finite stays as it is and moves nothing. A constant series stays what it is to the bit. */
static void smooth(const series *x, double weight, double *out) {
  double last = 0, part = 1;
  bool constant = true;
  for (size_t i = 1; i < x->n; i++) constant = constant && x->points[i].value == x->points[0].value;
  for (size_t i = 0; i < x->n; i++) {
    double v = x->points[i].value;
    if (isfinite(v) && !constant && weight > 0) {
      last = last * weight + (1 - weight) * v;
      part *= weight;
      v = last / (1 - part);
    }
    out[i] = v;
  }
}

/* Which of the points from `first` to `end` to show; returns how many. */
static size_t thin(const series *x, size_t first, size_t end, size_t most, uint32_t *out) {
  size_t n = end - first, groups = most / 4, k = 0;
  if (n <= most) {
    for (size_t i = first; i < end; i++) out[k++] = (uint32_t)i;
    return k;
  }
  for (size_t g = 0; g < groups; g++) {
    size_t from = first + n * g / groups, to = first + n * (g + 1) / groups;
    size_t pick[4] = {from, from, from, to - 1};
    for (size_t i = from; i < to; i++) {
      double v = x->points[i].value;
      if (!isfinite(v)) continue;
      if (!isfinite(x->points[pick[1]].value) || v < x->points[pick[1]].value) pick[1] = i;
      if (!isfinite(x->points[pick[2]].value) || v > x->points[pick[2]].value) pick[2] = i;
    }
    if (pick[1] > pick[2]) {
      size_t swap = pick[1];
      pick[1] = pick[2];
      pick[2] = swap;
    }
    for (int i = 0; i < 4; i++)
      if (i == 0 || pick[i] != pick[i - 1]) out[k++] = (uint32_t)pick[i];
  }
  return k;
}

static double x_of(const run *r, const point *p, char axis) {
  return axis == 's' ? (double)p->step : axis == 'r' ? p->wall - r->began : p->wall;
}

static void put_curve(request *q, const run *r, const series *x, char axis, double from, double to,
                      size_t most, double weight) {
  text *t = &q->out;
  uint32_t *shown = malloc((most + 4) * sizeof *shown);
  double *soft = weight > 0 ? malloc((x->n + 1) * sizeof *soft) : NULL;
  if (shown == NULL || (weight > 0 && soft == NULL)) {
    t->failed = true;
    free(shown);
    free(soft);
    return;
  }
  size_t first = 0, end = x->n;
  while (first < end && x_of(r, &x->points[first], axis) < from) first++;
  while (end > first && x_of(r, &x->points[end - 1], axis) > to) end--;
  if (first > 0) first--; /* the line goes on to both sides */
  if (end < x->n) end++;
  size_t n = thin(x, first, end, most, shown);
  if (soft != NULL) smooth(x, weight, soft);
  json_open(t, '{');
  json_text_at(t, "run", r->name);
  json_int_at(t, "count", (int64_t)x->n);
  json_number_at(t, "began", r->began);
  json_open_at(t, "step", '[');
  for (size_t i = 0; i < n; i++) json_int(t, x->points[shown[i]].step);
  json_close(t, ']');
  json_open_at(t, "wall", '[');
  for (size_t i = 0; i < n; i++) json_number(t, x->points[shown[i]].wall);
  json_close(t, ']');
  json_open_at(t, "value", '[');
  for (size_t i = 0; i < n; i++) json_number(t, x->points[shown[i]].value);
  json_close(t, ']');
  if (soft != NULL) {
    json_open_at(t, "smoothed", '[');
    for (size_t i = 0; i < n; i++) json_number(t, (double)(float)soft[shown[i]]);
    json_close(t, ']');
  }
  json_close(t, '}');
  free(shown);
  free(soft);
}

/* The next run of the question: those that are named, or all. */
static run *nth_run(const store *s, const names *asked, size_t i) {
  if (asked->n == 0) return s->runs[i]->n_files > 0 ? s->runs[i] : NULL;
  return store_run(s, asked->name[i]);
}

static bool read_runs(request *q, names *asked) {
  asked->n = 0;
  request_each(q, "run", add_name, asked);
  for (size_t i = 0; i < asked->n; i++) {
    pthread_mutex_lock(&q->s->lock);
    bool there = store_run(q->s, asked->name[i]) != NULL;
    pthread_mutex_unlock(&q->s->lock);
    if (there) continue;
    request_fail(q, 404, "there is no run '%s'", asked->name[i]);
    return false;
  }
  return true;
}

void data_scalars(request *q) {
  const char *tag, *axis = request_text(q, "x");
  double most, weight, from, to;
  text *t = &q->out;
  names *asked = malloc(sizeof *asked);
  if (asked == NULL) {
    t->failed = true;
    return;
  }
  if (axis == NULL) axis = "step";
  if (strcmp(axis, "step") != 0 && strcmp(axis, "relative") != 0 && strcmp(axis, "wall") != 0) {
    request_fail(q, 400, "x is step, relative or wall, not '%s'", axis);
  } else if (request_need(q, "tag", &tag) && request_number(q, "points", 1000, 4, 1e6, &most) &&
             request_number(q, "smooth", 0, 0, 0.9999, &weight) &&
             request_number(q, "from", -INFINITY, -1e300, 1e300, &from) &&
             request_number(q, "to", INFINITY, -1e300, 1e300, &to) && read_runs(q, asked)) {
    json_open(t, '{');
    json_text_at(t, "tag", tag);
    json_open_at(t, "runs", '[');
    pthread_mutex_lock(&q->s->lock);
    for (size_t i = 0; i < (asked->n > 0 ? asked->n : q->s->n_runs); i++) {
      const run *r = nth_run(q->s, asked, i);
      const series *x = r != NULL ? run_series(r, SCALARS, tag) : NULL;
      if (x != NULL) put_curve(q, r, x, axis[0], from, to, (size_t)most, weight);
    }
    pthread_mutex_unlock(&q->s->lock);
    json_close(t, ']');
    json_close(t, '}');
  }
  free(asked);
}

static void csv_field(text *t, const char *s) {
  if (strpbrk(s, ",\"\r\n") == NULL) {
    text_put(t, s);
    return;
  }
  text_put(t, "\"");
  for (; *s != 0; s++) text_raw(t, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
  text_put(t, "\"");
}

static void csv_number(text *t, double x) {
  if (isnan(x))
    text_put(t, "NaN");
  else if (isinf(x))
    text_put(t, x < 0 ? "-Infinity" : "Infinity");
  else
    text_format(t, (double)(float)x == x ? "%.9g" : "%.17g", x);
}

/* One run: TensorBoard's columns; several: the run in front of them. */
void data_scalars_csv(request *q) {
  const char *tag;
  text *t = &q->out;
  names *asked = malloc(sizeof *asked);
  if (asked == NULL) {
    t->failed = true;
    return;
  }
  if (request_need(q, "tag", &tag) && read_runs(q, asked)) {
    bool several = asked->n != 1;
    q->type = "text/csv; charset=utf-8";
    q->file_name = "scalars.csv";
    text_put(t, several ? "Run,Wall time,Step,Value\r\n" : "Wall time,Step,Value\r\n");
    pthread_mutex_lock(&q->s->lock);
    for (size_t i = 0; i < (asked->n > 0 ? asked->n : q->s->n_runs); i++) {
      const run *r = nth_run(q->s, asked, i);
      const series *x = r != NULL ? run_series(r, SCALARS, tag) : NULL;
      for (size_t k = 0; x != NULL && k < x->n; k++) {
        if (several) {
          csv_field(t, r->name);
          text_put(t, ",");
        }
        text_format(t, "%.6f,%lld,", x->points[k].wall, (long long)x->points[k].step);
        csv_number(t, x->points[k].value);
        text_put(t, "\r\n");
      }
    }
    pthread_mutex_unlock(&q->s->lock);
  }
  free(asked);
}
