/* Where the nodes of a graph run, and what is copied for it. */
#include "tiny_test.h"
#include <pthread.h>

typedef struct net {
  tfsdk_graph *g;
  tfsdk_ctx *c;
  tfsdk_val x, y;
} net;

/* y = relu(sigmoid(relu(x) + 1)): the device has no Sigmoid. */
static net new_net(tfsdk_runtime *rt, const char *device) {
  net n = {NULL, NULL, {0}, {0}};
  OK(tfsdk_graph_create(rt, &n.g));
  n.c = tfsdk_graph_ctx(n.g);
  n.x = placeholder(n.c, TFSDK_FLOAT32, 1, DIMS(-1));
  if (device != NULL) OK(tfsdk_ctx_push_device(n.c, device));
  n.y =
      tfsdk_emit2(n.c, "AddV2", tfsdk_emit1(n.c, "Relu", n.x), tfsdk_scalar(n.c, TFSDK_FLOAT32, 1));
  n.y = tfsdk_emit1(n.c, "Relu", tfsdk_emit1(n.c, "Sigmoid", n.y));
  if (device != NULL) tfsdk_ctx_pop_device(n.c);
  OK(tfsdk_ctx_error(n.c));
  return n;
}
static tfsdk_session *session_on(tfsdk_graph *g, const char *device, int32_t strict) {
  tfsdk_session_options o = {
      .struct_size = sizeof o, .device = device, .no_soft_placement = strict, .passes = "all"};
  tfsdk_session *s = NULL;
  OK(tfsdk_session_create(g, &o, &s));
  return s;
}
static tfsdk_tensor *run_net(tfsdk_session *s, const net *n, tfsdk_tensor *x) {
  tfsdk_tensor *y = NULL;
  OK(tfsdk_session_run(s, &n->y, 1, &n->x, &x, 1, &y));
  return y;
}
/* The plan's line of a node. */
static void expect_plan(tfsdk_session *s, tfsdk_val fetch, tfsdk_val feed, tfsdk_tensor *x,
                        const char *line) {
  char *text;
  OK(tfsdk_session_explain(s, &fetch, 1, &feed, &x, feed.id != 0, &text));
  cr_expect(strstr(text, line) != NULL, "'%s' is not in:\n%s", line, text);
  free(text);
}

/* By hand: relu(x) + 1 = 1, 2, 3; the logistic function of that. */
#define EXPECT_Y(t) EXPECT_FLOATS(t, 1e-6, 0.731058579f, 0.880797078f, 0.952574127f)

static void run_checked(tfsdk_session *s, const net *n, tfsdk_runtime *rt) {
  tfsdk_tensor *x = FLOATS(rt, 1, DIMS(3), -1, 1, 2), *y = run_net(s, n, x);
  EXPECT_Y(y);
  expect_on(y, "cpu:0");
  tfsdk_tensor_release(x);
  tfsdk_tensor_release(y);
}

Test(placement, nodes_go_where_their_scope_says) {
  tfsdk_runtime *rt = tiny_runtime();
  net n = new_net(rt, "tiny:1");
  tfsdk_session *s = session_on(n.g, NULL, 0);
  tfsdk_tensor *x = FLOATS(rt, 1, DIMS(3), -1, 1, 2);
  run_checked(s, &n, rt);
  expect_plan(s, n.y, n.x, x, "AddV2 (AddV2) float32(3)  on tiny:1: kernel tiny of tiny-device");
  expect_plan(s, n.y, n.x, x, "Relu_1 (Relu) float32(3)  on tiny:1: kernel tiny of tiny-device");
  expect_plan(s, n.y, n.x, x, "Sigmoid (Sigmoid) float32(3)  on cpu:0");
  tfsdk_tensor_release(x);
  tfsdk_session_release(s);
  tfsdk_graph_release(n.g);
  end_runtime(rt);
}

Test(placement, nodes_without_a_device_go_where_the_session_says) {
  tfsdk_runtime *rt = tiny_runtime();
  net n = new_net(rt, NULL);
  tfsdk_session *on_tiny = session_on(n.g, "tiny:0", 0), *on_cpu = session_on(n.g, NULL, 0);
  tfsdk_tensor *x = FLOATS(rt, 1, DIMS(3), -1, 1, 2);
  run_checked(on_tiny, &n, rt);
  run_checked(on_cpu, &n, rt);
  expect_plan(on_tiny, n.y, n.x, x, "AddV2 (AddV2) float32(3)  on tiny:0");
  expect_plan(on_cpu, n.y, n.x, x, "4 nodes in one walk, tiles of 2048 elements, on cpu:0");
  tfsdk_tensor_release(x);
  tfsdk_session_release(on_tiny);
  tfsdk_session_release(on_cpu);
  tfsdk_graph_release(n.g);
  end_runtime(rt);
}

/* A scope is stronger than the session; an inner scope is stronger than an outer one; nil takes all
 * back. */
Test(placement, the_innermost_scope_decides) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_graph *g;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_val x = tfsdk_scalar(c, TFSDK_FLOAT32, -1), y[4];
  OK(tfsdk_ctx_push_device(c, "tiny:0"));
  y[0] = tfsdk_emit1(c, "Relu", x);
  OK(tfsdk_ctx_push_device(c, "/cpu:0"));
  y[1] = tfsdk_emit1(c, "Relu", y[0]);
  OK(tfsdk_ctx_push_device(c, NULL));
  y[2] = tfsdk_emit1(c, "Relu", y[1]);
  for (int i = 0; i < 2; i++) tfsdk_ctx_pop_device(c);
  y[3] = tfsdk_emit1(c, "Relu", y[2]);
  tfsdk_ctx_pop_device(c);
  OK(tfsdk_ctx_error(c));
  tfsdk_session *s = session_on(g, "tiny:1", 0);
  static const char *const lines[4] = {
      "Relu (Relu) float32()  on tiny:0", "Relu_1 (Relu) float32()  on cpu:0",
      "Relu_2 (Relu) float32()  on tiny:1", "Relu_3 (Relu) float32()  on tiny:0"};
  for (int i = 0; i < 4; i++) expect_plan(s, y[3], (tfsdk_val){0}, NULL, lines[i]);
  tfsdk_session_release(s);
  tfsdk_graph_release(g);
  end_runtime(rt);
}

Test(placement, falling_back_is_logged_once_for_each_node) {
  tfsdk_runtime *rt = tiny_runtime();
  net n = new_net(rt, "tiny:0");
  tfsdk_session *s = session_on(n.g, NULL, 0), *other = session_on(n.g, NULL, 0);
  run_checked(s, &n, rt);
  run_checked(s, &n, rt);
  run_checked(other, &n, rt);
  cr_expect_eq(
      times_logged(
          "node 'Sigmoid': tiny:0 has no kernel for Sigmoid of these types; it runs on cpu:0"),
      1, "%s", logged);
  cr_expect_eq(times_logged("has no kernel"), 1, "constants belong nowhere: %s", logged);
  tfsdk_session_release(s);
  tfsdk_session_release(other);
  tfsdk_graph_release(n.g);
  end_runtime(rt);
}

/* Constants, shapes and the like are at home on every device; what needs a kernel is an error. */
Test(placement, without_soft_placement_a_missing_kernel_is_an_error) {
  tfsdk_runtime *rt = tiny_runtime();
  net n = new_net(rt, "tiny:0");
  tfsdk_session *s = session_on(n.g, NULL, 1);
  tfsdk_tensor *x = FLOATS(rt, 1, DIMS(3), -1, 1, 2), *y = NULL;
  tfsdk_status *e = tfsdk_session_run(s, &n.y, 1, &n.x, &x, 1, &y);
  cr_assert(e != NULL);
  cr_expect_eq(tfsdk_status_code(e), TFSDK_UNIMPLEMENTED);
  cr_expect_str_eq(tfsdk_status_get(e, "node"), "Sigmoid");
  cr_expect(strncmp(tfsdk_status_message(e),
                    "tiny:0 has no kernel for T=float32; kernels exist for: cpu (", 60) == 0,
            "%s", tfsdk_status_message(e));
  tfsdk_status_release(e);
  OK(tfsdk_ctx_push_device(n.c, "tiny:0"));
  tfsdk_val ok =
      tfsdk_emit2(n.c, "MatMul", tfsdk_constant(n.c, TFSDK_FLOAT32, 2, DIMS(1, 1), (float[]){2}),
                  tfsdk_constant(n.c, TFSDK_FLOAT32, 2, DIMS(1, 1), (float[]){3}));
  tfsdk_val size = tfsdk_emit1(n.c, "Size", tfsdk_emit1(n.c, "Identity", ok));
  tfsdk_ctx_pop_device(n.c);
  OK(tfsdk_ctx_error(n.c));
  tfsdk_tensor *out[2];
  OK(tfsdk_session_run(s, (tfsdk_val[]){ok, size}, 2, NULL, NULL, 0, out));
  EXPECT_FLOATS(out[0], 0, 6);
  drop(out, 2);
  tfsdk_tensor_release(x);
  tfsdk_session_release(s);
  tfsdk_graph_release(n.g);
  end_runtime(rt);
}

/* The kernels that exist are listed with their types. */
Test(placement, the_error_lists_kernels_of_other_types) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_graph *g;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_graph_set_where(g, "model.lua:3");
  OK(tfsdk_ctx_push_device(c, "tiny:0"));
  tfsdk_val one = tfsdk_scalar(c, TFSDK_FLOAT64, 1), y;
  tfsdk_graph_set_name(g, "total");
  y = tfsdk_emit2(c, "AddV2", one, one);
  OK(tfsdk_ctx_error(c));
  tfsdk_session *s = session_on(g, NULL, 1);
  tfsdk_tensor *out = NULL;
  tfsdk_status *e = tfsdk_session_run(s, &y, 1, NULL, NULL, 0, &out);
  cr_assert(e != NULL);
  cr_expect(strstr(tfsdk_status_message(e),
                   "tiny:0 has no kernel for T=float64; kernels exist for: ") != NULL,
            "%s", tfsdk_status_message(e));
  cr_expect(strstr(tfsdk_status_message(e), "tiny (tiny float32)") != NULL, "%s",
            tfsdk_status_message(e));
  cr_expect_str_eq(tfsdk_status_get(e, "node"), "total");
  cr_expect_str_eq(tfsdk_status_get(e, "where"), "model.lua:3");
  tfsdk_status_release(e);
  tfsdk_session_release(s);
  tfsdk_graph_release(g);
  end_runtime(rt);
}

Test(placement, an_unknown_device_lists_the_devices) {
  tfsdk_runtime *rt = tiny_runtime();
  net n = new_net(rt, "tiny:7");
  tfsdk_session_options o = {.struct_size = sizeof o, .device = "tinny:0"};
  tfsdk_session *s = NULL;
  FAILS(tfsdk_session_create(n.g, &o, &s), TFSDK_NOT_FOUND,
        "there is no device 'tinny:0'; the devices are: cpu:0, tiny:0, tiny:1");
  tfsdk_tensor *x = FLOATS(rt, 1, DIMS(3), -1, 1, 2), *y = NULL;
  s = session_on(n.g, NULL, 1);
  tfsdk_status *e = tfsdk_session_run(s, &n.y, 1, &n.x, &x, 1, &y);
  cr_assert(e != NULL);
  cr_expect_str_eq(tfsdk_status_message(e),
                   "there is no device 'tiny:7'; the devices are: cpu:0, tiny:0, tiny:1");
  cr_expect(tfsdk_status_get(e, "node") != NULL);
  tfsdk_status_release(e);
  tfsdk_session_release(s);
  s = session_on(n.g, "tiny:1", 0); /* soft: such nodes go to the session's device */
  run_checked(s, &n, rt);
  cr_expect(times_logged("node 'Relu' asks for 'tiny:7': there is no device") >= 1, "%s", logged);
  tfsdk_session_release(s);
  tfsdk_tensor_release(x);
  tfsdk_graph_release(n.g);
  end_runtime(rt);
}

Test(placement, placement_is_logged_when_asked_for) {
  tfsdk_runtime *rt = tiny_runtime();
  net n = new_net(rt, "tiny:0");
  tfsdk_session_options o = {.struct_size = sizeof o, .log_placement = 1};
  tfsdk_session *s;
  OK(tfsdk_session_create(n.g, &o, &s));
  run_checked(s, &n, rt);
  cr_expect_eq(times_logged("AddV2: (AddV2): tiny:0"), 1, "%s", logged);
  cr_expect_eq(times_logged("Sigmoid: (Sigmoid): cpu:0"), 1, "%s", logged);
  tfsdk_session_release(s);
  tfsdk_graph_release(n.g);
  end_runtime(rt);
}

Test(placement, values_of_any_device_can_be_fed) {
  tfsdk_runtime *rt = tiny_runtime();
  net n = new_net(rt, NULL);
  tfsdk_session *s = session_on(n.g, "tiny:0", 0);
  tfsdk_tensor *x = FLOATS(rt, 1, DIMS(3), -1, 1, 2);
  static const char *const devices[3] = {"tiny:0", "tiny:1", "cpu:0"};
  for (int i = 0; i < 3; i++) {
    tfsdk_tensor *there = to(x, devices[i]), *y = run_net(s, &n, there), *same = NULL;
    EXPECT_Y(y);
    EXPECT_FLOATS(there, 0, -1, 1, 2); /* a fed tensor is never written to */
    OK(tfsdk_session_run(s, &n.x, 1, &n.x, &there, 1, &same));
    expect_on(same, "cpu:0"); /* what is fetched is on the host, even if it was fed */
    EXPECT_FLOATS(same, 0, -1, 1, 2);
    tfsdk_tensor *all[3] = {there, y, same};
    drop(all, 3);
  }
  tfsdk_tensor_release(x);
  tfsdk_session_release(s);
  tfsdk_graph_release(n.g);
  end_runtime(rt);
}

/* An output may take over its input's memory only where both are memory of the same kind. */
Test(placement, no_memory_is_mixed_up_when_outputs_take_over_inputs) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_graph *g;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_val x = placeholder(c, TFSDK_FLOAT32, 1, DIMS(-1)), y = x;
  for (int i = 0; i < 12; i++) {
    static const char *const device[3] = {"cpu:0", "tiny:0", "tiny:1"};
    OK(tfsdk_ctx_push_device(c, device[i * 7 % 3]));
    y = i % 2
            ? tfsdk_emit1(c, "Neg", y)
            : tfsdk_emit1(c, "Relu", tfsdk_emit2(c, "AddV2", y, tfsdk_scalar(c, TFSDK_FLOAT32, 1)));
    tfsdk_ctx_pop_device(c);
  }
  OK(tfsdk_ctx_error(c));
  float want[2];
  for (int k = 0; k < 2; k++) {
    float v = k ? -3 : 2;
    for (int i = 0; i < 12; i++) v = i % 2 ? -v : v + 1 > 0 ? v + 1 : 0;
    want[k] = v;
  }
  tfsdk_session *s = session_on(g, NULL, 0);
  tfsdk_tensor *in = FLOATS(rt, 1, DIMS(2), 2, -3), *out = NULL;
  for (int i = 0; i < 3; i++) {
    OK(tfsdk_session_run(s, &y, 1, &x, &in, 1, &out));
    expect_floats(out, 2, want, 0);
    tfsdk_tensor_release(out);
  }
  EXPECT_FLOATS(in, 0, 2, -3);
  cr_expect_eq(in_use(rt, "tiny:0") + in_use(rt, "tiny:1"), 0, "runs leave nothing on the devices");
  tfsdk_tensor_release(in);
  tfsdk_session_release(s);
  tfsdk_graph_release(g);
  end_runtime(rt);
}

/* ------------------------------------------------------------------------------ several devices */

typedef struct worker {
  tfsdk_runtime *rt;
  const net *n;
  tfsdk_session *s;
} worker;
static void *work(void *user) {
  worker *w = user;
  for (int i = 0; i < 100; i++) run_checked(w->s, w->n, w->rt);
  return NULL;
}

Test(placement, two_sessions_run_on_two_devices_at_once) {
  tfsdk_runtime *rt = tiny_runtime();
  net n = new_net(rt, NULL);
  worker w[3] = {{rt, &n, session_on(n.g, "tiny:0", 0)},
                 {rt, &n, session_on(n.g, "tiny:1", 0)},
                 {rt, &n, session_on(n.g, "cpu:0", 0)}};
  pthread_t thread[3];
  for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, work, &w[i]);
  for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < 3; i++) tfsdk_session_release(w[i].s);
  tfsdk_graph_release(n.g);
  end_runtime(rt);
}

Test(placement, several_cpus_can_be_declared) {
  tfsdk_runtime *rt = runtime_with((tfsdk_runtime_options){.devices = "cpu*2,tiny:1"});
  net n = new_net(rt, "cpu:1");
  tfsdk_session *s = session_on(n.g, "tiny:1", 0);
  tfsdk_tensor *x = FLOATS(rt, 1, DIMS(3), -1, 1, 2), *y = run_net(s, &n, x);
  EXPECT_Y(y);
  expect_plan(s, n.y, n.x, x, "4 nodes in one walk, tiles of 2048 elements, on cpu:1");
  tfsdk_tensor_release(y);
  y = run1_on(rt, "cpu:1", "Relu", &x,
              1); /* memory is counted where it was made; no copy is needed */
  expect_on(y, "cpu:1");
  cr_expect_eq(in_use(rt, "cpu:1"), 12);
  tfsdk_tensor *same = to(y, "cpu:0"), *z = run1_on(rt, "tiny:1", "Relu", &y, 1);
  cr_expect_eq(same, y);
  EXPECT_FLOATS(z, 0, 0, 1, 2);
  tfsdk_tensor *all[4] = {x, y, same, z};
  drop(all, 4);
  tfsdk_session_release(s);
  tfsdk_graph_release(n.g);
  end_runtime(rt);
}

Test(placement, each_host_device_has_its_limit) {
  tfsdk_runtime *rt =
      runtime_with((tfsdk_runtime_options){.devices = "cpu*2", .memory_limit = 4096});
  tfsdk_tensor *x = floats(rt, 1, DIMS(900), NULL), *y = run1_on(rt, "cpu:1", "Relu", &x, 1),
               *out = NULL;
  FAILS(tfsdk_eager_run(rt, "Relu", &x, 1, NULL, 0, &out, 1), TFSDK_RESOURCE_EXHAUSTED,
        "cpu:0 cannot give 3600 bytes");
  tfsdk_tensor_release(x);
  tfsdk_tensor_release(y);
  end_runtime(rt);
}
