/* data_graph.c - /data/graph: the nodes of a run's latest graph.
 *
 * GraphDef{node 1*}; NodeDef{name 1, op 2, input 3*, device 4, attr 5*{key 1, value 2}};
 * AttrValue{list 1, s 2, i 3, f 4, b 5, type 6, shape 7, tensor 8, func 10};
 * TensorShapeProto{dim 2*{size 1}, unknown_rank 3} (tensorflow/core/framework). */
#include <ctype.h>
#include <stdlib.h>

#include "request.h"
#include "tensor.h"

#define MOST_TEXT 200 /* of an attribute's text */

/* An extent that is not known is -1; no rank: null. */
static void put_shape(text *t, bytes shape) {
  proto m = proto_of(shape);
  bool unknown = false;
  while (proto_next(&m)) unknown = unknown || (proto_is(&m, 3, 0) && m.number != 0);
  if (unknown) {
    json_null(t);
    return;
  }
  m = proto_of(shape);
  json_open(t, '[');
  while (proto_next(&m)) {
    if (!proto_is(&m, 2, 2)) continue;
    proto d = proto_of(m.in);
    int64_t extent = 0;
    while (proto_next(&d))
      if (proto_is(&d, 1, 0)) extent = (int64_t)d.number;
    json_int(t, extent);
  }
  json_close(t, ']');
}

static bool printable(bytes b) {
  for (size_t i = 0; i < b.n; i++)
    if (!isprint((unsigned char)b.p[i])) return false;
  return true;
}

static void describe_tensor(text *t, bytes message) {
  tensor x;
  if (!tensor_read(message, &x)) {
    text_put(t, "tensor");
    return;
  }
  text_format(t, "%s[", tensor_type_name((uint64_t)x.dtype));
  for (uint32_t i = 0; i < x.rank; i++)
    text_format(t, "%s%lld", i > 0 ? "," : "", (long long)x.dim[i]);
  text_put(t, "]");
  for (size_t i = 0; i < x.n && i < 8; i++) {
    if (x.number != NULL)
      text_format(t, " %.6g", x.number[i]);
    else if (printable(x.string[i]))
      text_format(t, " \"%.*s\"", (int)(x.string[i].n < 40 ? x.string[i].n : 40), x.string[i].p);
  }
  if (x.n > 8) text_put(t, " ...");
  tensor_free(&x);
}

static void describe_shape(text *t, bytes shape) {
  text one = {0};
  put_shape(&one, shape);
  text_raw(t, one.p, one.n);
  text_free(&one);
}

static void describe(text *t, bytes value, int depth) {
  proto m = proto_of(value);
  bool any = false;
  while (proto_next(&m) && t->n < MOST_TEXT) {
    if (depth > 0 && any) text_put(t, ", ");
    any = true;
    if (m.field == 1 && m.wire == 2 && depth == 0) {
      text_put(t, "[");
      describe(t, m.in, 1);
      text_put(t, "]");
    } else if (m.field == 2 && m.wire == 2) {
      if (printable(m.in))
        text_raw(t, m.in.p, m.in.n);
      else
        text_format(t, "%zu bytes", m.in.n);
    } else if (m.field >= 3 && m.field <= 6 && m.wire == 2) { /* packed */
      proto packed = proto_of(m.in);
      for (uint64_t v; packed.at != packed.end && t->n < MOST_TEXT;) {
        if (m.field == 4 || !proto_varint(&packed, &v)) break;
        if (packed.at - (const unsigned char *)m.in.p > 1) text_put(t, " ");
        if (m.field == 6)
          text_put(t, tensor_type_name(v));
        else
          text_format(t, "%lld", (long long)v);
      }
    } else if (m.field == 3 || m.field == 5) {
      text_format(t, m.field == 5 ? "%s" : "%s%lld",
                  m.field == 5 ? (m.number != 0 ? "true" : "false") : "", (long long)m.number);
    } else if (m.field == 4) {
      text_format(t, "%.7g", (double)proto_float(&m));
    } else if (m.field == 6) {
      text_put(t, tensor_type_name(m.number));
    } else if (m.field == 7) {
      describe_shape(t, m.in);
    } else if (m.field == 8) {
      describe_tensor(t, m.in);
    } else if (m.field == 10) {
      bytes name = proto_field(m.in, 1);
      text_raw(t, name.p, name.n);
    }
  }
}

static void put_shapes(text *t, bytes value) {
  proto m = proto_of(proto_field(value, 1));
  json_open_at(t, "shapes", '[');
  while (proto_next(&m))
    if (proto_is(&m, 7, 2)) put_shape(t, m.in);
  json_close(t, ']');
}

static void put_attributes(text *t, bytes node) {
  proto m = proto_of(node);
  text one = {0};
  bytes shapes = {NULL, 0};
  json_open_at(t, "attributes", '{');
  while (proto_next(&m)) {
    if (!proto_is(&m, 5, 2)) continue;
    bytes key = proto_field(m.in, 1), value = proto_field(m.in, 2);
    if (bytes_are(key, "_output_shapes")) {
      shapes = value;
      continue;
    }
    one.n = 0;
    describe(&one, value, 0);
    json_key_n(t, key.p, key.n);
    json_string(t, one.p != NULL ? one.p : "", one.n < MOST_TEXT ? one.n : MOST_TEXT);
  }
  json_close(t, '}');
  if (shapes.p != NULL) put_shapes(t, shapes);
  t->failed = t->failed || one.failed;
  text_free(&one);
}

static void put_node(text *t, bytes node) {
  bytes name = proto_field(node, 1), op = proto_field(node, 2), device = proto_field(node, 4);
  json_open(t, '{');
  json_key(t, "name");
  json_string(t, name.p, name.n);
  json_key(t, "op");
  json_string(t, op.p, op.n);
  if (device.n > 0) {
    json_key(t, "device");
    json_string(t, device.p, device.n);
  }
  json_open_at(t, "inputs", '[');
  proto m = proto_of(node);
  while (proto_next(&m))
    if (proto_is(&m, 3, 2)) json_string(t, m.in.p, m.in.n);
  json_close(t, ']');
  put_attributes(t, node);
  json_close(t, '}');
}

/* The run's latest graph, or the one within its latest meta graph (MetaGraphDef{graph_def 2}). */
static bool find_graph(request *q, const char *name, place *out, bool *out_meta) {
  pthread_mutex_lock(&q->s->lock);
  const run *r = store_run(q->s, name);
  const series *x = r != NULL ? run_series(r, GRAPHS, "graph") : NULL;
  *out_meta = x == NULL;
  if (x == NULL && r != NULL) x = run_series(r, GRAPHS, "meta graph");
  bool found = x != NULL && x->n > 0;
  if (found) *out = x->places[x->n - 1];
  pthread_mutex_unlock(&q->s->lock);
  if (r == NULL)
    request_fail(q, 404, "there is no run '%s'", name);
  else if (!found)
    request_fail(q, 404, "the run '%s' has no graph", name);
  return found;
}

void data_graph(request *q) {
  const char *name;
  place at;
  bool meta;
  text *t = &q->out;
  if (!request_need(q, "run", &name) || !find_graph(q, name, &at, &meta)) return;
  tfsdk_tensor *box;
  bytes data = {"", 0};
  tfsdk_status *s = store_read(q->s, &at, &box, &data);
  if (s != NULL) {
    request_fail_status(q, s);
  } else {
    proto m = proto_of(meta ? proto_field(data, 2) : data);
    json_open(t, '{');
    json_int_at(t, "step", at.step);
    json_open_at(t, "nodes", '[');
    while (proto_next(&m))
      if (proto_is(&m, 1, 2)) put_node(t, m.in);
    json_close(t, ']');
    json_close(t, '}');
    if (m.wrong) request_fail(q, 500, "the graph of run '%s' is damaged", name);
  }
  tfsdk_tensor_release(box);
}
