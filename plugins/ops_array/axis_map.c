/* axis_map.c - see axis_map.h. */
#include "axis_map.h"

tfsdk_status *array_axis_map_begin(tfsdk_run *r, const int64_t *dim, int32_t rank,
                                   array_axis_map *out) {
  int64_t total = 1, *table;
  void *room;
  out->rank = rank;
  for (int32_t i = 0; i < rank; i++) {
    out->dim[i] = dim[i];
    total += dim[i];
  }
  TFSDK_TRY(r->api->workspace(r, (size_t)total * sizeof *table, &room));
  table = (int64_t *)room;
  for (int32_t i = 0; i < rank; i++) {
    out->at[i] = table;
    table += dim[i];
  }
  return NULL;
}

static void runs_below(const array_axis_map *m, int32_t axis, int64_t base, array_run_fn *fn,
                       void *user) {
  if (axis == m->rank) {
    fn(user, base, 1);
    return;
  }
  if (axis < m->rank - 1) {
    for (int64_t i = 0; i < m->dim[axis]; i++)
      runs_below(m, axis + 1, base + m->at[axis][i], fn, user);
    return;
  }
  for (int64_t i = 0, n; i < m->dim[axis]; i += n) {
    const int64_t *at = m->at[axis] + i;
    for (n = 1; i + n < m->dim[axis] && at[n] == at[0] + n; n++) {}
    fn(user, base + at[0], n);
  }
}

void array_axis_map_runs(const array_axis_map *m, array_run_fn *fn, void *user) {
  runs_below(m, 0, 0, fn, user);
}

typedef struct copy {
  array_sink *sink;
  const tfsdk_view *from;
} copy;

static void put_run(void *user, int64_t first, int64_t n) {
  const copy *c = (const copy *)user;
  array_put(c->sink, c->from, first, 1, n);
}

typedef struct job {
  const array_axis_map *map;
  const tfsdk_view *from;
} job;

static void write(array_sink *s, const void *user) {
  const job *j = (const job *)user;
  copy c = {s, j->from};
  array_axis_map_runs(j->map, put_run, &c);
}

tfsdk_status *array_axis_map_copy(tfsdk_run *r, const array_axis_map *m) {
  job j = {m, &r->in[0]};
  return array_write(r, 0, write, &j);
}
