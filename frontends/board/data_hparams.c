/* data_hparams.c - /data/hparams: a row for each run with hyperparameters, and the latest values of
 * its metrics.
 *
 * HParamsPluginData{experiment 2, session_start_info 3, session_end_info 4} is the content of the
 * tag's metadata. Experiment{hparam_infos 4*{name 1, display_name 2}, metric_infos 5*{name 1{group 1,
 * tag 2}, display_name 3}}; SessionStartInfo{hparams 1*{key 1, value 2}, group_name 4, start_time_secs
 * 5}; SessionEndInfo{status 1, end_time_secs 2}; Value{number 2, string 3, bool 4}
 * (tensorboard/plugins/hparams/plugin_data.proto, api.proto, google/protobuf/struct.proto). */
#include <stdlib.h>

#include "request.h"

/* Value{metadata 9{plugin_data 1{content 2}}} */
static bytes content(bytes value) { return proto_field(proto_field(proto_field(value, 9), 1), 2); }

static void put_value(text *t, bytes value) {
  proto m = proto_of(value);
  bool any = false;
  while (!any && proto_next(&m)) {
    any = true;
    if (proto_is(&m, 2, 1))
      json_number(t, proto_double(&m));
    else if (proto_is(&m, 3, 2))
      json_string(t, m.in.p, m.in.n);
    else if (proto_is(&m, 4, 0))
      json_bool(t, m.number != 0);
    else
      any = false;
  }
  if (!any) json_null(t);
}

static void put_start(text *t, bytes start) {
  proto m = proto_of(start);
  json_open_at(t, "hparams", '{');
  while (proto_next(&m)) {
    if (!proto_is(&m, 1, 2)) continue;
    bytes key = proto_field(m.in, 1);
    json_key_n(t, key.p, key.n);
    put_value(t, proto_field(m.in, 2));
  }
  json_close(t, '}');
  bytes group = proto_field(start, 4);
  json_key(t, "group");
  json_string(t, group.p, group.n);
  m = proto_of(start);
  while (proto_next(&m))
    if (proto_is(&m, 5, 1)) json_number_at(t, "started", proto_double(&m));
}

static void put_end(text *t, bytes end) {
  static const char *const states[] = {"unknown", "success", "failure", "running"};
  proto m = proto_of(end);
  while (proto_next(&m)) {
    if (proto_is(&m, 1, 0) && m.number < 4) json_text_at(t, "status", states[m.number]);
    if (proto_is(&m, 2, 1)) json_number_at(t, "ended", proto_double(&m));
  }
}

/* The names that an experiment lists, in its order. */
static void put_infos(text *t, bytes experiment) {
  json_open_at(t, "hparam_names", '[');
  proto m = proto_of(experiment);
  while (proto_next(&m)) {
    if (!proto_is(&m, 4, 2)) continue;
    bytes name = proto_field(m.in, 1);
    json_string(t, name.p, name.n);
  }
  json_close(t, ']');
  json_open_at(t, "metric_names", '[');
  m = proto_of(experiment);
  while (proto_next(&m)) {
    if (!proto_is(&m, 5, 2)) continue;
    bytes name = proto_field(m.in, 1);
    bytes group = proto_field(name, 1), tag = proto_field(name, 2);
    json_open(t, '{');
    json_key(t, "group");
    json_string(t, group.p, group.n);
    json_key(t, "tag");
    json_string(t, tag.p, tag.n);
    json_close(t, '}');
  }
  json_close(t, ']');
}

typedef struct row {
  const run *r;
  place start, end, experiment; /* path NULL: none */
} row;

static place last_of(const run *r, const char *tag) {
  const series *x = run_series(r, HPARAMS, tag);
  return x != NULL && x->n > 0 ? x->places[x->n - 1] : (place){0, 0, NULL, 0, 0};
}

static void put_metrics(text *t, const run *r) {
  json_open_at(t, "metrics", '{');
  for (size_t i = 0; i < r->n; i++)
    if (r->all[i]->kind == SCALARS && r->all[i]->n > 0)
      json_number_at(t, r->all[i]->tag, r->all[i]->points[r->all[i]->n - 1].value);
  json_close(t, '}');
}

/* Calls fn with the content at a place. */
static void with(request *q, const place *p, void (*fn)(text *t, bytes part), uint32_t field) {
  tfsdk_tensor *box;
  bytes value = {"", 0};
  if (p->path == NULL || q->status != 200) return;
  tfsdk_status *s = store_read(q->s, p, &box, &value);
  if (s != NULL)
    request_fail_status(q, s);
  else
    fn(&q->out, proto_field(content(value), field));
  tfsdk_tensor_release(box);
}

void data_hparams(request *q) {
  text *t = &q->out;
  store *s = q->s;
  pthread_mutex_lock(&s->lock);
  row *rows = calloc(s->n_runs + 1, sizeof *rows);
  size_t n = 0;
  for (size_t i = 0; rows != NULL && i < s->n_runs; i++) {
    if (s->runs[i]->n_files == 0) continue;
    row x = {s->runs[i], last_of(s->runs[i], "_hparams_/session_start_info"),
             last_of(s->runs[i], "_hparams_/session_end_info"),
             last_of(s->runs[i], "_hparams_/experiment")};
    if (x.start.path != NULL || x.experiment.path != NULL) rows[n++] = x;
  }
  pthread_mutex_unlock(&s->lock);
  t->failed = rows == NULL;
  json_open(t, '{');
  json_open_at(t, "experiments", '[');
  for (size_t i = 0; i < n; i++) {
    if (rows[i].experiment.path == NULL) continue;
    json_open(t, '{');
    json_text_at(t, "run", rows[i].r->name);
    with(q, &rows[i].experiment, put_infos, 2);
    json_close(t, '}');
  }
  json_close(t, ']');
  json_open_at(t, "sessions", '[');
  for (size_t i = 0; i < n && q->status == 200; i++) {
    if (rows[i].start.path == NULL) continue;
    json_open(t, '{');
    json_text_at(t, "run", rows[i].r->name);
    with(q, &rows[i].start, put_start, 3);
    with(q, &rows[i].end, put_end, 4);
    pthread_mutex_lock(&s->lock);
    if (q->status == 200) put_metrics(t, rows[i].r);
    pthread_mutex_unlock(&s->lock);
    json_close(t, '}');
  }
  free(rows);
  if (q->status != 200) return;
  json_close(t, ']');
  json_close(t, '}');
}
