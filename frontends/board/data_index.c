/* data_index.c - /data/index: the runs and their tags. With since=STRUCTURE the tags are left out
 * while they are as they were, so that asking again and again costs little. */
#include <stdlib.h>
#include <time.h>

#include "request.h"

static void put_tags(text *t, const run *r) {
  json_open_at(t, "tags", '{');
  for (int kind = 0; kind < KINDS; kind++) {
    bool any = false;
    for (size_t i = 0; i < r->n; i++) {
      const series *x = r->all[i];
      if ((int)x->kind != kind) continue;
      if (!any) json_open_at(t, kind_names[kind], '[');
      any = true;
      json_text(t, x->tag);
    }
    if (any) json_close(t, ']');
  }
  json_close(t, '}');
  json_open_at(t, "descriptions", '{');
  for (size_t i = 0; i < r->n; i++)
    if (r->all[i]->description != NULL) json_text_at(t, r->all[i]->tag, r->all[i]->description);
  json_close(t, '}');
}

static void put_faults(text *t, const store *s) {
  json_open_at(t, "faults", '[');
  for (size_t i = 0; i < s->n_files; i++) {
    const file *f = s->files[i];
    if (f->fault == NULL || f->gone) continue;
    json_open(t, '{');
    json_text_at(t, "run", f->run->name);
    json_text_at(t, "text", f->fault);
    json_close(t, '}');
  }
  json_close(t, ']');
}

void data_index(request *q) {
  double since;
  struct timespec now;
  text *t = &q->out;
  store *s = q->s;
  if (!request_number(q, "since", -1, -1, 9e15, &since)) return;
  clock_gettime(CLOCK_REALTIME, &now);
  pthread_mutex_lock(&s->lock);
  bool tags = since < 0 || (uint64_t)since != s->structure;
  json_open(t, '{');
  json_text_at(t, "folder", s->folder);
  json_int_at(t, "generation", (int64_t)s->generation);
  json_int_at(t, "structure", (int64_t)s->structure);
  json_key(t, "loaded");
  json_bool(t, s->loaded);
  json_number_at(t, "now", (double)now.tv_sec + (double)now.tv_nsec * 1e-9);
  json_key(t, "out_of_memory");
  json_bool(t, s->out_of_memory);
  json_open_at(t, "runs", '[');
  for (size_t i = 0; i < s->n_runs; i++) {
    const run *r = s->runs[i];
    if (r->n_files == 0) continue;
    json_open(t, '{');
    json_text_at(t, "name", r->name);
    json_int_at(t, "step", r->step);
    json_number_at(t, "began", r->began);
    json_number_at(t, "latest", r->latest);
    json_int_at(t, "generation", (int64_t)r->generation);
    if (tags) put_tags(t, r);
    json_close(t, '}');
  }
  json_close(t, ']');
  if (tags) put_faults(t, s);
  json_close(t, '}');
  pthread_mutex_unlock(&s->lock);
}
