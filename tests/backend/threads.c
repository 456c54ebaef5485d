/* Several threads, several devices, one runtime: sessions on a graph that they share,
 * define-by-run, copies, and devices that are opened by whoever comes first. For the thread
 * sanitizer above all (hence no test framework): a race is its verdict, wrong numbers are ours.
 *
 *     threads FOLDER      where the pretend accelerator's plugin is */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tfsdk/tfsdk.h>

#define THREADS 6
#define ROUNDS  30

static const char *const devices[3] = {"cpu:0", "tiny:0", "tiny:1"};
static atomic_int failures;

static bool ok(tfsdk_status *s, const char *what) {
  if (s == NULL) return true;
  fprintf(stderr, "%s: %s\n", what, tfsdk_status_text(s));
  tfsdk_status_release(s);
  atomic_fetch_add(&failures, 1);
  return false;
}

typedef struct shared {
  tfsdk_runtime *rt;
  tfsdk_graph *graph;
  tfsdk_val x, y, step, init;
} shared;

/* y = sigmoid(relu(x) + w); a step takes x / 2 away from w, which begins at 1. */
static void build(shared *a) {
  tfsdk_ctx *c = tfsdk_graph_ctx(a->graph);
  const int64_t dim[1] = {64};
  float ones[64];
  for (int i = 0; i < 64; i++) ones[i] = 1;
  tfsdk_attrval attr[2] = {tfsdk_a_dtype("dtype", TFSDK_FLOAT32), tfsdk_a_shape("shape", dim, 1)};
  tfsdk_varspec spec = {.struct_size = sizeof spec, .dtype = TFSDK_FLOAT32, .shape = {1, 0, {64}}};
  tfsdk_variable *w = NULL;
  tfsdk_val value = {0};
  spec.init = tfsdk_constant(c, TFSDK_FLOAT32, 1, dim, ones);
  if (!ok(tfsdk_variable_create(c, "w", &spec, &w), "variable") ||
      !ok(tfsdk_variable_value(w, c, &value), "its value"))
    return;
  a->x = tfsdk_emit(c, "Placeholder", NULL, 0, attr, 2);
  a->y = tfsdk_emit1(c, "Sigmoid", tfsdk_emit2(c, "AddV2", tfsdk_emit1(c, "Relu", a->x), value));
  a->step = tfsdk_emit3(c, "ResourceApplyGradientDescent", tfsdk_variable_handle(w),
                        tfsdk_scalar(c, TFSDK_FLOAT32, 0.5), a->x);
  a->init = tfsdk_variable_initializer(w);
  ok(tfsdk_ctx_error(c), "graph");
  tfsdk_variable_release(w);
}

static void expect(tfsdk_tensor *t, float want, const char *what) {
  tfsdk_view v;
  if (t == NULL || !ok(tfsdk_tensor_view(t, &v), what)) return;
  for (int64_t i = 0; i < v.n_elem; i++) {
    float got = ((const float *)v.data)[i];
    if (got - want < 1e-5f && want - got < 1e-5f) continue;
    fprintf(stderr, "%s: %g, not %g\n", what, (double)got, (double)want);
    atomic_fetch_add(&failures, 1);
    return;
  }
}

static tfsdk_tensor *full(tfsdk_runtime *rt, float value) {
  const int64_t dim[1] = {64};
  float data[64];
  tfsdk_tensor *t = NULL;
  for (int i = 0; i < 64; i++) data[i] = value;
  ok(tfsdk_tensor_create(rt, TFSDK_FLOAT32, 1, dim, data, sizeof data, &t), "tensor");
  return t;
}

/* With x = 2: w goes 1, 0, -1, ... */
static void use_session(shared *a, const char *device, tfsdk_tensor *x) {
  tfsdk_session_options o = {.struct_size = sizeof o, .device = device};
  tfsdk_session *s = NULL;
  tfsdk_tensor *out = NULL;
  if (!ok(tfsdk_session_create(a->graph, &o, &s), "session")) return;
  ok(tfsdk_session_run(s, &a->init, 1, NULL, NULL, 0, &out), "init");
  for (int i = 0; i < 3; i++) {
    static const float want[3] = {0.952574127f, 0.880797078f,
                                  0.731058579f}; /* logistic of 3, 2, 1 */
    if (ok(tfsdk_session_run(s, &a->y, 1, &a->x, &x, 1, &out), "run"))
      expect(out, want[i], "session");
    tfsdk_tensor_release(out);
    ok(tfsdk_session_run(s, &a->step, 1, &a->x, &x, 1, &out), "step");
  }
  tfsdk_session_release(s);
}

static void use_copies(tfsdk_tensor *x, const char *device, const char *other) {
  tfsdk_tensor *there = NULL, *on = NULL;
  if (ok(tfsdk_tensor_to_device(x, device, &there), "copy") &&
      ok(tfsdk_tensor_to_device(there, other, &on), "copy on")) {
    expect(on, 2, "copies");
    expect(there, 2, "copy");
  }
  tfsdk_tensor_release(there);
  tfsdk_tensor_release(on);
}

static void use_eager(shared *a, tfsdk_tensor *there) {
  tfsdk_tensor *out = NULL;
  if (ok(tfsdk_eager_run(a->rt, "Square", &there, 1, NULL, 0, &out, 1), "Square"))
    expect(out, 4, "eager");
  tfsdk_tensor_release(out);
}

static atomic_int next_thread;

static void *work(void *user) {
  shared *a = user;
  int me = atomic_fetch_add(&next_thread, 1);
  tfsdk_tensor *x = full(a->rt, 2);
  for (int i = 0; x != NULL && i < ROUNDS; i++) {
    tfsdk_tensor *there = NULL;
    use_session(a, devices[(me + i) % 3], x);
    use_copies(x, devices[i % 3], devices[(i + me) % 3]);
    if (ok(tfsdk_tensor_to_device(x, devices[i % 3], &there), "copy")) use_eager(a, there);
    tfsdk_tensor_release(there);
  }
  tfsdk_tensor_release(x);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread[THREADS];
  shared a = {0};
  tfsdk_runtime_options o = {
      .struct_size = sizeof o, .plugin_path = argc > 1 ? argv[1] : NULL, .threads = 2};
  if (!ok(tfsdk_runtime_create(&o, &a.rt), "runtime") ||
      !ok(tfsdk_graph_create(a.rt, &a.graph), "graph"))
    return 1;
  build(&a);
  for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, work, &a);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  for (int i = 1; i < 3; i++) {
    tfsdk_memory_info m;
    tfsdk_runtime_memory(a.rt, devices[i], &m);
    if (m.in_use != 0) atomic_fetch_add(&failures, 1);
  }
  tfsdk_graph_release(a.graph);
  tfsdk_runtime_release(a.rt);
  printf("threads: %d failed\n", atomic_load(&failures));
  return atomic_load(&failures) != 0;
}
