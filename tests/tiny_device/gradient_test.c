/* Learning on the pretend accelerator: the same gradients and the same steps as on the CPU, by tape
 * and by graph. Half of the ops run on the device, the others (and most backward ops) fall back. */
#include "tiny_test.h"

#define N_PARAMS 4

/* A small convolutional classifier: parameters are filter, bias, matrix, offset. */
static tfsdk_val loss_of(tfsdk_ctx *c, tfsdk_val x, tfsdk_val labels, const tfsdk_val p[N_PARAMS]) {
  const int64_t ones[4] = {1, 1, 1, 1};
  tfsdk_attrval conv[2] = {tfsdk_a_ints("strides", ones, 4), tfsdk_a_string("padding", "SAME")};
  tfsdk_val out[2], in[2] = {x, p[0]};
  tfsdk_val h = tfsdk_emit1(
      c, "Relu", tfsdk_emit2(c, "BiasAdd", tfsdk_emit(c, "Conv2D", in, 2, conv, 2), p[1]));
  h = tfsdk_emit2(c, "Reshape", h, tfsdk_int_vector(c, DIMS(-1, 5 * 5 * 3), 2));
  in[0] = tfsdk_emit2(c, "AddV2", tfsdk_emit2(c, "MatMul", h, p[2]), p[3]);
  in[1] = labels;
  tfsdk_emit_n(c, "SparseSoftmaxCrossEntropyWithLogits", in, 2, NULL, 0, out, 2);
  return tfsdk_emit2(c, "Mean", out[0], tfsdk_int_vector(c, DIMS(0), 1));
}

typedef struct task {
  tfsdk_tensor *x, *labels, *p[N_PARAMS];
} task;

static const int64_t dims[N_PARAMS][4] = {{3, 3, 2, 3}, {3}, {75, 4}, {4}};
static const uint32_t ranks[N_PARAMS] = {4, 1, 2, 1};

static task new_task(tfsdk_runtime *rt) {
  task t;
  const int64_t label[6] = {0, 1, 2, 3, 2, 1};
  t.x = noise(rt, 4, DIMS(6, 5, 5, 2), 7);
  OK(tfsdk_tensor_create(rt, TFSDK_INT64, 1, DIMS(6), label, sizeof label, &t.labels));
  for (int i = 0; i < N_PARAMS; i++) t.p[i] = noise(rt, ranks[i], dims[i], (uint64_t)i + 1);
  return t;
}
static void drop_task(task *t) {
  tfsdk_tensor_release(t->x);
  tfsdk_tensor_release(t->labels);
  drop(t->p, N_PARAMS);
}

/* out: the loss, then the gradients. */
static void by_tape(tfsdk_runtime *rt, const char *device, const task *t,
                    tfsdk_tensor *out[1 + N_PARAMS]) {
  tfsdk_ctx *c = tfsdk_eager_ctx(rt);
  tfsdk_val p[N_PARAMS];
  tfsdk_tape *tape;
  size_t mark = tfsdk_eager_mark(rt);
  OK(tfsdk_tape_create(rt, 0, 0, &tape));
  for (int i = 0; i < N_PARAMS; i++) {
    OK(tfsdk_tape_watch(tape, t->p[i]));
    p[i] = tfsdk_eager_val(t->p[i]);
  }
  OK(tfsdk_ctx_push_device(c, device));
  tfsdk_val loss = loss_of(c, tfsdk_eager_val(t->x), tfsdk_eager_val(t->labels), p);
  OK(tfsdk_ctx_error(c));
  tfsdk_tensor *y = tfsdk_eager_tensor(loss);
  OK(tfsdk_tape_gradient(tape, &y, 1, t->p, N_PARAMS, NULL, out + 1, NULL, NULL));
  tfsdk_ctx_pop_device(c);
  out[0] = tfsdk_tensor_retain(y);
  tfsdk_tape_release(tape);
  tfsdk_eager_release_vals(rt, mark);
}

static void by_graph(tfsdk_runtime *rt, const char *device, const task *t,
                     tfsdk_tensor *out[1 + N_PARAMS]) {
  tfsdk_graph *g;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_val feeds[2 + N_PARAMS], fetches[1 + N_PARAMS];
  feeds[0] = placeholder(c, TFSDK_FLOAT32, 4, DIMS(-1, 5, 5, 2));
  feeds[1] = placeholder(c, TFSDK_INT64, 1, DIMS(-1));
  for (int i = 0; i < N_PARAMS; i++)
    feeds[2 + i] = placeholder(c, TFSDK_FLOAT32, ranks[i], dims[i]);
  fetches[0] = loss_of(c, feeds[0], feeds[1], feeds + 2);
  OK(tfsdk_ctx_error(c));
  tfsdk_gradient grads[N_PARAMS];
  OK(tfsdk_gradients(g, fetches, 1, feeds + 2, N_PARAMS, NULL, NULL, 0, grads));
  for (int i = 0; i < N_PARAMS; i++) fetches[1 + i] = grads[i].value;
  tfsdk_session_options o = {.struct_size = sizeof o, .device = device};
  tfsdk_session *s;
  OK(tfsdk_session_create(g, &o, &s));
  tfsdk_tensor *const values[2 + N_PARAMS] = {t->x, t->labels, t->p[0], t->p[1], t->p[2], t->p[3]};
  OK(tfsdk_session_run(s, fetches, 1 + N_PARAMS, feeds, values, 2 + N_PARAMS, out));
  tfsdk_session_release(s);
  tfsdk_graph_release(g);
}

Test(gradient, of_a_network_are_those_of_the_cpu) {
  tfsdk_runtime *rt = tiny_runtime();
  task t = new_task(rt), there = t;
  tfsdk_tensor *want[1 + N_PARAMS], *got[1 + N_PARAMS];
  by_tape(rt, "cpu:0", &t, want);
  for (int i = 0; i < N_PARAMS; i++) there.p[i] = to(t.p[i], "tiny:0");
  for (int way = 0; way < 4; way++) {
    const task *from = way & 1 ? &there : &t; /* parameters on the device, or copied at each use */
    if (way & 2)
      by_graph(rt, "tiny:0", from, got);
    else
      by_tape(rt, "tiny:0", from, got);
    for (int i = 0; i <= N_PARAMS; i++) expect_close(got[i], want[i], 1e-4);
    drop(got, 1 + N_PARAMS);
  }
  drop(there.p, N_PARAMS);
  drop(want, 1 + N_PARAMS);
  cr_expect_eq(in_use(rt, "tiny:0"), 0, "gradients leave nothing behind");
  drop_task(&t);
  end_runtime(rt);
}

/* d/dx sum of relu(x) x = 2 x where x > 0, and its derivative 2. */
Test(gradient, of_gradients_work_on_the_device) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_ctx *c = tfsdk_eager_ctx(rt);
  tfsdk_tensor *host = FLOATS(rt, 1, DIMS(3), -1, 2, 3), *x = to(host, "tiny:1"), *y, *first = NULL,
               *second = NULL;
  tfsdk_tape *outer, *inner;
  OK(tfsdk_ctx_push_device(c, "tiny:1"));
  OK(tfsdk_tape_create(rt, 0, 0, &outer));
  OK(tfsdk_tape_watch(outer, x));
  OK(tfsdk_tape_create(rt, 0, 0, &inner));
  OK(tfsdk_tape_watch(inner, x));
  tfsdk_tensor *r = run1(rt, "Relu", &x, 1);
  y = run1(rt, "Mul", (tfsdk_tensor *[]){r, x}, 2);
  OK(tfsdk_tape_gradient(inner, &y, 1, &x, 1, NULL, &first, NULL, NULL));
  expect_on(first, "cpu:0"); /* the sum of two paths is AddN, which the device has not got */
  EXPECT_FLOATS(first, 0, 0, 4, 6);
  OK(tfsdk_tape_gradient(outer, &first, 1, &x, 1, NULL, &second, NULL, NULL));
  EXPECT_FLOATS(second, 0, 0, 2, 2);
  tfsdk_ctx_pop_device(c);
  tfsdk_tape_release(inner);
  tfsdk_tape_release(outer);
  tfsdk_tensor *all[6] = {host, x, r, y, first, second};
  drop(all, 6);
  end_runtime(rt);
}

/* ------------------------------------------------------------------------------------- training */

/* Trains in define-by-run by Adam, variables and slots on the device; gives the losses. */
static void train_eagerly(tfsdk_runtime *rt, const char *device, int steps, float *losses) {
  tfsdk_ctx *c = tfsdk_eager_ctx(rt);
  task t = new_task(rt);
  tfsdk_variable *v[N_PARAMS][3];
  tfsdk_tensor *handle[N_PARAMS], *scalar[6], *grad[N_PARAMS];
  OK(tfsdk_ctx_push_device(c, device));
  for (int i = 0; i < N_PARAMS; i++)
    for (int k = 0; k < 3; k++) {
      static const char *const slot[3] = {"w", "m", "v"};
      tfsdk_tensor *zero = run1(rt, "ZerosLike", &t.p[i], 1);
      tfsdk_varspec spec = {.struct_size = sizeof spec,
                            .dtype = TFSDK_FLOAT32,
                            .init = tfsdk_eager_val(k ? zero : t.p[i]),
                            .not_trainable = k != 0};
      char name[16];
      snprintf(name, sizeof name, "%s%d", slot[k], i);
      spec.shape.rank = (int32_t)ranks[i];
      for (uint32_t d = 0; d < ranks[i]; d++) spec.shape.dim[d] = dims[i][d];
      OK(tfsdk_variable_create(c, name, &spec, &v[i][k]));
      tfsdk_tensor_release(zero);
    }
  double power[2] = {1, 1};
  for (int step = 0; step < steps; step++) {
    size_t mark = tfsdk_eager_mark(rt);
    tfsdk_val p[N_PARAMS];
    tfsdk_tape *tape;
    OK(tfsdk_tape_create(rt, 0, 1, &tape));
    for (int i = 0; i < N_PARAMS; i++) {
      handle[i] = tfsdk_eager_tensor(tfsdk_variable_handle(v[i][0]));
      OK(tfsdk_variable_value(v[i][0], c, &p[i]));
    }
    tfsdk_val loss = loss_of(c, tfsdk_eager_val(t.x), tfsdk_eager_val(t.labels), p);
    OK(tfsdk_ctx_error(c));
    tfsdk_tensor *y = tfsdk_eager_tensor(loss);
    losses[step] = data_of(y)[0];
    OK(tfsdk_tape_gradient(tape, &y, 1, handle, N_PARAMS, NULL, grad, NULL, NULL));
    tfsdk_tape_release(tape);
    tfsdk_eager_release_vals(rt, mark);
    power[0] *= 0.9;
    power[1] *= 0.999;
    const float number[6] = {(float)power[0], (float)power[1], 0.05f, 0.9f, 0.999f, 1e-8f};
    for (int k = 0; k < 6; k++) scalar[k] = floats(rt, 0, NULL, &number[k]);
    for (int i = 0; i < N_PARAMS; i++) {
      tfsdk_tensor *in[10] = {handle[i],
                              tfsdk_eager_tensor(tfsdk_variable_handle(v[i][1])),
                              tfsdk_eager_tensor(tfsdk_variable_handle(v[i][2])),
                              scalar[0],
                              scalar[1],
                              scalar[2],
                              scalar[3],
                              scalar[4],
                              scalar[5],
                              grad[i]};
      OK(tfsdk_eager_run(rt, "ResourceApplyAdam", in, 10, NULL, 0, NULL, 0));
    }
    drop(scalar, 6);
    drop(grad, N_PARAMS);
  }
  tfsdk_ctx_pop_device(c);
  for (int i = 0; i < N_PARAMS; i++)
    for (int k = 0; k < 3; k++) {
      tfsdk_tensor *value;
      OK(tfsdk_variable_read(v[i][k], &value));
      expect_on(value, device);
      tfsdk_tensor_release(value);
      tfsdk_variable_release(v[i][k]);
    }
  drop_task(&t);
}

Test(gradient, training_goes_as_on_the_cpu) {
  tfsdk_runtime *rt[2] = {tiny_runtime(), tiny_runtime()};
  float losses[2][12];
  for (int i = 0; i < 2; i++) train_eagerly(rt[i], i ? "tiny:0" : "cpu:0", 12, losses[i]);
  for (int k = 0; k < 12; k++)
    cr_expect(fabs((double)(losses[0][k] - losses[1][k])) < 1e-3 * (1 + (double)losses[0][k]),
              "step %d: %g and %g", k, (double)losses[0][k], (double)losses[1][k]);
  cr_expect(losses[1][11] < losses[1][0] / 4, "it learns: %g to %g", (double)losses[1][0],
            (double)losses[1][11]);
  for (int i = 0; i < 2; i++) end_runtime(rt[i]);
}

/* ------------------------------------------------------------------------- memory that runs out */

/* A graph with a variable, its gradient and a step on the device, and a tape. Nothing stays behind.
 */
static tfsdk_status *small_program(tfsdk_runtime *rt) {
  tfsdk_graph *g = NULL;
  tfsdk_session *s = NULL;
  tfsdk_variable *w = NULL;
  tfsdk_tape *tape = NULL;
  tfsdk_tensor *x = NULL, *there = NULL, *y = NULL, *dx = NULL, *out[2] = {NULL, NULL};
  const float data[4] = {1, 2, 3, 4};
  tfsdk_ctx *eager = tfsdk_eager_ctx(rt);
  tfsdk_status *st = tfsdk_graph_create(rt, &g);
  if (st == NULL) st = tfsdk_tensor_create(rt, TFSDK_FLOAT32, 2, DIMS(2, 2), data, sizeof data, &x);
  if (st == NULL) {
    tfsdk_ctx *c = tfsdk_graph_ctx(g);
    tfsdk_varspec spec = {
        .struct_size = sizeof spec, .dtype = TFSDK_FLOAT32, .shape = {2, 0, {2, 2}}};
    spec.init = tfsdk_constant(c, TFSDK_FLOAT32, 2, DIMS(2, 2), data);
    st = tfsdk_ctx_error(c);
    if (st == NULL) st = tfsdk_variable_create(c, "w", &spec, &w);
    tfsdk_attrval attr[2] = {tfsdk_a_dtype("dtype", TFSDK_FLOAT32),
                             tfsdk_a_shape("shape", DIMS(-1, 2), 2)};
    tfsdk_val p = {0}, value = {0}, loss = {0}, step = {0};
    tfsdk_gradient grad = {{0}, {0}, {0}, {0}};
    if (st == NULL) st = tfsdk_variable_value(w, c, &value);
    if (st == NULL) {
      p = tfsdk_emit(c, "Placeholder", NULL, 0, attr, 2);
      loss = tfsdk_emit1(c, "L2Loss", tfsdk_emit1(c, "Relu", tfsdk_emit2(c, "MatMul", p, value)));
      st = tfsdk_ctx_error(c);
    }
    if (st == NULL)
      st = tfsdk_gradients(g, &loss, 1, (tfsdk_val[]){tfsdk_variable_handle(w)}, 1, NULL, NULL, 0,
                           &grad);
    if (st == NULL) {
      step = tfsdk_emit3(c, "ResourceApplyGradientDescent", tfsdk_variable_handle(w),
                         tfsdk_scalar(c, TFSDK_FLOAT32, 0.1), grad.value);
      st = tfsdk_ctx_error(c);
    }
    tfsdk_session_options o = {.struct_size = sizeof o, .device = "tiny:0"};
    if (st == NULL) st = tfsdk_session_create(g, &o, &s);
    tfsdk_val init = w ? tfsdk_variable_initializer(w) : tfsdk_none(), fetches[2] = {loss, step};
    if (st == NULL) st = tfsdk_session_run(s, &init, 1, NULL, NULL, 0, out);
    if (st == NULL) st = tfsdk_session_run(s, fetches, 2, &p, &x, 1, out);
  }
  if (st == NULL) st = tfsdk_tensor_to_device(x, "tiny:1", &there);
  if (st == NULL) st = tfsdk_tape_create(rt, 0, 1, &tape);
  if (st == NULL) st = tfsdk_tape_watch(tape, there);
  if (st == NULL) st = tfsdk_ctx_push_device(eager, "tiny:1");
  if (st == NULL) {
    st = tfsdk_eager_run(rt, "Relu", &there, 1, NULL, 0, &y, 1);
    if (st == NULL) st = tfsdk_tape_gradient(tape, &y, 1, &there, 1, NULL, &dx, NULL, NULL);
    tfsdk_ctx_pop_device(eager);
  }
  tfsdk_tape_release(tape);
  tfsdk_tensor *all[6] = {x, there, y, dx, out[0], out[1]};
  drop(all, 6);
  tfsdk_variable_release(w);
  tfsdk_session_release(s);
  tfsdk_graph_release(g);
  return st;
}

/* As runtime_test.c does for the host: each allocation fails once. Copies and device memory are on
 * the way. */
Test(gradient, every_allocation_may_fail, .timeout = 120) {
  tfsdk_runtime *rt = runtime_with((tfsdk_runtime_options){.log_level = TFSDK_LOG_ERROR});
  tfsdk_memory_info first, before, after;
  OK(small_program(rt)); /* plugins are loaded and caches filled from here on */
  tfsdk_runtime_memory(rt, NULL, &first);
  OK(small_program(rt));
  tfsdk_runtime_memory(rt, NULL, &before);
  uint64_t n = before.allocations - first.allocations, failed = 0;
  cr_assert(n > 100);
  for (uint64_t i = 1; i <= n; i++) {
    tfsdk_runtime_fail_allocation(rt, i, 0);
    tfsdk_status *s = small_program(rt);
    tfsdk_runtime_fail_allocation(rt, 0, 0);
    failed += s != NULL;
    cr_assert(s == NULL || tfsdk_status_code(s) == TFSDK_RESOURCE_EXHAUSTED, "allocation %llu: %s",
              (unsigned long long)i, tfsdk_status_text(s));
    tfsdk_status_release(s);
    tfsdk_runtime_memory(rt, NULL, &after);
    cr_assert(after.live_tensors == before.live_tensors, "allocation %llu left tensors",
              (unsigned long long)i);
    cr_assert(in_use(rt, "tiny:0") + in_use(rt, "tiny:1") == 0,
              "allocation %llu left device memory", (unsigned long long)i);
  }
  cr_expect(failed > n / 2, "only %llu of %llu failures were told", (unsigned long long)failed,
            (unsigned long long)n);
  OK(small_program(rt));
  end_runtime(rt);
}
