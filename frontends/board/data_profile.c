/* data_profile.c - /data/profiles: the run metadata of a run; /data/profile: one as a time line.
 *
 * TaggedRunMetadata{tag 1, run_metadata 2{step_stats 1{dev_stats 1*{device 1, node_stats 2*,
 * thread_names 3*}}}}; NodeExecStats as in put_node (tensorflow/core/framework/step_stats.proto). */
#include <stdio.h>
#include <stdlib.h>

#include "request.h"
#include "tensor.h"

typedef struct stats {
  bytes name, label;
  int64_t start, begin, end, done;    /* microseconds */
  int64_t start_ns, begin_ns, end_ns; /* nanoseconds, 0 where they are not told */
  int64_t thread, memory, live;
} stats;

/* output 7{slot 1, tensor_description 3{dtype 1, shape 2, allocation_description 4{requested 1,
 * allocated 2}}} */
static void put_output(text *t, bytes output) {
  bytes description = proto_field(output, 3), shape = proto_field(description, 2);
  proto m = proto_of(proto_field(description, 4));
  int64_t size = 0;
  uint64_t dtype = 0;
  while (proto_next(&m))
    if ((proto_is(&m, 1, 0) && size == 0) || proto_is(&m, 2, 0)) size = (int64_t)m.number;
  m = proto_of(description);
  while (proto_next(&m))
    if (proto_is(&m, 1, 0)) dtype = m.number;
  json_open(t, '{');
  json_text_at(t, "type", tensor_type_name(dtype));
  json_int_at(t, "bytes", size);
  json_open_at(t, "shape", '[');
  m = proto_of(shape);
  while (proto_next(&m)) {
    if (!proto_is(&m, 2, 2)) continue;
    proto d = proto_of(m.in);
    int64_t extent = 0;
    while (proto_next(&d))
      if (proto_is(&d, 1, 0)) extent = (int64_t)d.number;
    json_int(t, extent);
  }
  json_close(t, ']');
  json_close(t, '}');
}

static void read_stats(bytes node, stats *x) {
  proto m = proto_of(node);
  memset(x, 0, sizeof *x);
  x->name = x->label = (bytes){"", 0};
  while (proto_next(&m)) {
    int64_t v = (int64_t)m.number;
    if (m.wire == 2) {
      if (m.field == 1) x->name = m.in;
      if (m.field == 8) x->label = m.in;
      if (m.field == 6) { /* AllocatorMemoryUsed{total_bytes 2, live_bytes 4} */
        proto a = proto_of(m.in);
        while (proto_next(&a)) {
          if (proto_is(&a, 2, 0)) x->memory += (int64_t)a.number;
          if (proto_is(&a, 4, 0)) x->live += (int64_t)a.number;
        }
      }
      continue;
    }
    switch (m.field) {
    case 2: x->start = v; break;
    case 3: x->begin = v; break;
    case 4: x->end = v; break;
    case 5: x->done = v; break;
    case 10: x->thread = v; break;
    case 13: x->start_ns = v; break;
    case 14: x->begin_ns = v; break;
    case 15: x->end_ns = v; break;
    default: break;
    }
  }
}

/* Microseconds from `zero` on. */
static void put_node(text *t, bytes node, int64_t zero) {
  stats x;
  read_stats(node, &x);
  bool fine = x.start_ns != 0 && x.start_ns / 1000 >= x.start - 1;
  double begin = fine ? (double)(x.start_ns - zero * 1000 + x.begin_ns) * 1e-3
                      : (double)(x.start - zero + x.begin);
  double took = fine ? (double)(x.end_ns - x.begin_ns) * 1e-3
                     : (double)((x.end > 0 ? x.end : x.done) - x.begin);
  json_open(t, '{');
  json_key(t, "name");
  json_string(t, x.name.p, x.name.n);
  json_key(t, "label");
  json_string(t, x.label.p, x.label.n);
  json_number_at(t, "begin", begin);
  json_number_at(t, "took", took > 0 ? took : 0);
  json_int_at(t, "thread", x.thread);
  json_int_at(t, "memory", x.memory);
  if (x.live != 0) json_int_at(t, "live", x.live);
  json_open_at(t, "outputs", '[');
  proto m = proto_of(node);
  while (proto_next(&m))
    if (proto_is(&m, 7, 2)) put_output(t, m.in);
  json_close(t, ']');
  json_close(t, '}');
}

static int64_t earliest(bytes step_stats) {
  int64_t least = INT64_MAX;
  proto devices = proto_of(step_stats);
  while (proto_next(&devices)) {
    if (!proto_is(&devices, 1, 2)) continue;
    proto nodes = proto_of(devices.in);
    while (proto_next(&nodes)) {
      stats x;
      if (!proto_is(&nodes, 2, 2)) continue;
      read_stats(nodes.in, &x);
      if (x.start < least) least = x.start;
    }
  }
  return least == INT64_MAX ? 0 : least;
}

static void put_device(text *t, bytes device, int64_t zero) {
  bytes name = proto_field(device, 1);
  proto m = proto_of(device);
  json_open(t, '{');
  json_key(t, "device");
  json_string(t, name.p, name.n);
  json_open_at(t, "threads", '{');
  while (proto_next(&m)) { /* thread_names 3*{key 1, value 2} */
    if (!proto_is(&m, 3, 2)) continue;
    proto e = proto_of(m.in);
    char key[24] = "0";
    while (proto_next(&e))
      if (proto_is(&e, 1, 0)) snprintf(key, sizeof key, "%u", (unsigned)e.number);
    bytes value = proto_field(m.in, 2);
    json_key(t, key);
    json_string(t, value.p, value.n);
  }
  json_close(t, '}');
  json_open_at(t, "nodes", '[');
  m = proto_of(device);
  while (proto_next(&m))
    if (proto_is(&m, 2, 2)) put_node(t, m.in, zero);
  json_close(t, ']');
  json_close(t, '}');
}

void data_profile(request *q) {
  place *at;
  size_t n;
  text *t = &q->out;
  if (!request_places(q, PROFILES, 1, &at, &n)) return;
  tfsdk_tensor *box = NULL;
  bytes data = {"", 0};
  tfsdk_status *s = n > 0 ? store_read(q->s, &at[0], &box, &data) : NULL;
  if (s != NULL) {
    request_fail_status(q, s);
  } else {
    bytes step_stats = proto_field(proto_field(data, 2), 1);
    int64_t zero = earliest(step_stats);
    proto m = proto_of(step_stats);
    json_open(t, '{');
    json_int_at(t, "step", n > 0 ? at[0].step : 0);
    json_open_at(t, "devices", '[');
    while (proto_next(&m))
      if (proto_is(&m, 1, 2)) put_device(t, m.in, zero);
    json_close(t, ']');
    json_close(t, '}');
  }
  tfsdk_tensor_release(box);
  free(at);
}

void data_profiles(request *q) {
  const char *name;
  text *t = &q->out;
  if (!request_need(q, "run", &name)) return;
  pthread_mutex_lock(&q->s->lock);
  const run *r = store_run(q->s, name);
  json_open(t, '{');
  json_open_at(t, "profiles", '[');
  for (size_t i = 0; r != NULL && i < r->n; i++) {
    const series *x = r->all[i];
    if (x->kind != PROFILES || x->n == 0) continue;
    json_open(t, '{');
    json_text_at(t, "tag", x->tag);
    json_int_at(t, "step", x->places[x->n - 1].step);
    json_number_at(t, "wall", x->places[x->n - 1].wall);
    json_close(t, '}');
  }
  json_close(t, ']');
  json_close(t, '}');
  pthread_mutex_unlock(&q->s->lock);
  if (r == NULL) request_fail(q, 404, "there is no run '%s'", name);
}
