/* Variables live on the device where they were made, are changed there in place, and come back when
 * asked. */
#include "tiny_test.h"

static tfsdk_variable *variable_on(tfsdk_runtime *rt, const char *device, const char *name,
                                   int64_t n, const float *init) {
  tfsdk_ctx *c = tfsdk_eager_ctx(rt);
  tfsdk_tensor *value = floats(rt, 1, DIMS(n), init);
  tfsdk_varspec spec = {
      .struct_size = sizeof spec, .dtype = TFSDK_FLOAT32, .init = tfsdk_eager_val(value)};
  tfsdk_variable *v = NULL;
  spec.shape.rank = 1;
  spec.shape.dim[0] = n;
  OK(tfsdk_ctx_push_device(c, device));
  OK(tfsdk_variable_create(c, name, &spec, &v));
  tfsdk_ctx_pop_device(c);
  tfsdk_tensor_release(value);
  return v;
}
static tfsdk_tensor *value_of(tfsdk_variable *v) {
  tfsdk_tensor *t;
  OK(tfsdk_variable_read(v, &t));
  return t;
}
/* var -= rate * delta, on a device. */
static void descend(tfsdk_runtime *rt, const char *device, tfsdk_variable *v, float rate,
                    tfsdk_tensor *delta) {
  tfsdk_tensor *alpha = FLOATS(rt, 0, NULL, rate);
  run_on(rt, device, "ResourceApplyGradientDescent",
         (tfsdk_tensor *[]){tfsdk_eager_tensor(tfsdk_variable_handle(v)), alpha, delta}, 3, NULL, 0,
         NULL, 0);
  tfsdk_tensor_release(alpha);
}
static void end(tfsdk_runtime *rt, tfsdk_variable *v, tfsdk_tensor *delta) {
  tfsdk_tensor_release(delta);
  tfsdk_variable_release(v);
  end_runtime(rt);
}

Test(variable, lives_where_it_was_made) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_variable *v = variable_on(rt, "tiny:1", "w", 3, (float[]){1, 2, 3});
  tfsdk_tensor *t = value_of(v);
  expect_on(t, "tiny:1");
  EXPECT_FLOATS(t, 0, 1, 2, 3);
  tfsdk_tensor_release(t);
  end(rt, v, NULL);
}

Test(variable, is_changed_in_place_on_its_device) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_variable *v = variable_on(rt, "tiny:0", "w", 3, (float[]){1, 2, 3});
  tfsdk_tensor *delta = FLOATS(rt, 1, DIMS(3), 1, 1, 2), *there = to(delta, "tiny:0");
  tfsdk_memory_info m;
  descend(rt, "tiny:0", v, 0.5f, there);
  cr_expect_eq(in_use(rt, "tiny:0"), 24);
  for (int i = 0; i < 9; i++) descend(rt, "tiny:0", v, 0.5f, there);
  tfsdk_runtime_memory(rt, "tiny:0", &m);
  cr_expect_eq(m.peak, 24, "no copy is made; not %llu", (unsigned long long)m.peak);
  tfsdk_tensor *t = value_of(v);
  expect_on(t, "tiny:0");
  EXPECT_FLOATS(t, 1e-6, -4, -3, -7);
  tfsdk_tensor_release(t);
  tfsdk_tensor_release(there);
  end(rt, v, delta);
}

/* Looking at a value keeps a copy on the host: it must go when the value changes. */
Test(variable, what_was_looked_at_is_not_shown_again_after_a_change) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_variable *v = variable_on(rt, "tiny:0", "w", 2, (float[]){1, 2});
  tfsdk_tensor *delta = FLOATS(rt, 1, DIMS(2), 1, 1), *t;
  for (int i = 0; i < 3; i++) {
    t = value_of(v);
    EXPECT_FLOATS(t, 0, (float)(1 - i), (float)(2 - i));
    tfsdk_tensor_release(t);
    descend(rt, "tiny:0", v, 1, delta);
  }
  end(rt, v, delta);
}

/* Values that were read are constant, whatever happens to the variable. */
Test(variable, a_value_that_was_read_does_not_change) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_variable *v = variable_on(rt, "tiny:0", "w", 2, (float[]){1, 2});
  tfsdk_tensor *delta = FLOATS(rt, 1, DIMS(2), 1, 1), *before = value_of(v), *read = NULL;
  tfsdk_tensor *handle = tfsdk_eager_tensor(tfsdk_variable_handle(v));
  tfsdk_attrval dtype = tfsdk_a_dtype("dtype", TFSDK_FLOAT32);
  run_on(rt, "tiny:0", "ReadVariableOp", &handle, 1, &dtype, 1, &read, 1);
  expect_on(read, "tiny:0");
  cr_expect_eq(in_use(rt, "tiny:0"), 8, "reading copies nothing");
  descend(rt, "tiny:0", v, 1, delta);
  EXPECT_FLOATS(before, 0, 1, 2);
  EXPECT_FLOATS(read, 0, 1, 2);
  tfsdk_tensor *after = value_of(v);
  EXPECT_FLOATS(after, 0, 0, 1);
  tfsdk_tensor *all[3] = {before, read, after};
  drop(all, 3);
  end(rt, v, delta);
}

/* Whoever changes it takes it along: kernels of another ordinal, and of the host. */
Test(variable, can_be_changed_from_any_device) {
  static const char *const way[] = {"tiny:1", "cpu:0", "cpu:0", "tiny:0", "tiny:0", "tiny:1"};
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_variable *v = variable_on(rt, "tiny:0", "w", 2, (float[]){1, 2});
  tfsdk_tensor *delta = FLOATS(rt, 1, DIMS(2), 1, 2), *t;
  for (int i = 0; i < 6; i++) {
    descend(rt, way[i], v, 1, delta);
    t = value_of(v);
    expect_on(t, way[i]);
    EXPECT_FLOATS(t, 0, (float)-i, (float)(-2 * i));
    tfsdk_tensor_release(t);
  }
  cr_expect_eq(in_use(rt, "tiny:0"), 0);
  end(rt, v, delta);
}

/* Ops that the device has no kernel for work on it, too. */
Test(variable, ops_of_the_host_find_its_value) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_variable *v = variable_on(rt, "tiny:0", "w", 3, (float[]){1, 2, 3});
  tfsdk_tensor *handle = tfsdk_eager_tensor(tfsdk_variable_handle(v)), *rows, *out = NULL,
               *updates = FLOATS(rt, 1, DIMS(2), 10, 20);
  const int32_t index[2] = {2, 0};
  tfsdk_attrval dtype = tfsdk_a_dtype("dtype", TFSDK_FLOAT32);
  OK(tfsdk_tensor_create(rt, TFSDK_INT32, 1, DIMS(2), index, 8, &rows));
  run_on(rt, "tiny:0", "ResourceGather", (tfsdk_tensor *[]){handle, rows}, 2, &dtype, 1, &out, 1);
  EXPECT_FLOATS(out, 0, 3, 1);
  tfsdk_tensor_release(out);
  tfsdk_tensor *t = value_of(v);
  expect_on(t, "tiny:0"); /* reading did not move it */
  tfsdk_tensor_release(t);
  run_on(rt, "tiny:0", "ResourceScatterAdd", (tfsdk_tensor *[]){handle, rows, updates}, 3, NULL, 0,
         NULL, 0);
  t = value_of(v);
  EXPECT_FLOATS(t, 0, 21, 2, 13);
  tfsdk_tensor_release(t);
  run_on(rt, "tiny:0", "AssignAddVariableOp",
         (tfsdk_tensor *[]){handle, t = FLOATS(rt, 1, DIMS(3), 1, 1, 1)}, 2, NULL, 0, NULL, 0);
  tfsdk_tensor_release(t);
  t = value_of(v);
  EXPECT_FLOATS(t, 0, 22, 3, 14);
  tfsdk_tensor *all[3] = {t, rows, updates};
  drop(all, 3);
  end(rt, v, NULL);
}

Test(variable, assigning_puts_the_value_onto_the_device_of_the_op) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_variable *v = variable_on(rt, "cpu:0", "w", 2, (float[]){1, 2});
  tfsdk_tensor *handle = tfsdk_eager_tensor(tfsdk_variable_handle(v)),
               *x = FLOATS(rt, 1, DIMS(2), 5, 6), *t;
  run_on(rt, "tiny:1", "AssignVariableOp", (tfsdk_tensor *[]){handle, x}, 2, NULL, 0, NULL, 0);
  t = value_of(v);
  expect_on(t, "tiny:1");
  EXPECT_FLOATS(t, 0, 5, 6);
  tfsdk_tensor_release(t);
  end(rt, v, x);
}

Test(variable, strings_and_integers_can_be_variables_in_a_device_scope) {
  tfsdk_runtime *rt = tiny_runtime();
  tfsdk_ctx *c = tfsdk_eager_ctx(rt);
  tfsdk_tensor *text, *t;
  tfsdk_variable *v[2];
  const int64_t step = 41;
  OK(tfsdk_tensor_create_strings(rt, 0, NULL, (const char *const[]){"name"}, NULL, &text));
  OK(tfsdk_tensor_create(rt, TFSDK_INT64, 0, NULL, &step, 8, &t));
  tfsdk_varspec spec[2] = {
      {.struct_size = sizeof *spec, .dtype = TFSDK_STRING, .init = tfsdk_eager_val(text)},
      {.struct_size = sizeof *spec, .dtype = TFSDK_INT64, .init = tfsdk_eager_val(t)}};
  OK(tfsdk_ctx_push_device(c, "tiny:0"));
  for (int i = 0; i < 2; i++) OK(tfsdk_variable_create(c, i ? "step" : "text", &spec[i], &v[i]));
  tfsdk_ctx_pop_device(c);
  tfsdk_tensor_release(text);
  tfsdk_tensor_release(t);
  text = value_of(v[0]);
  expect_on(text, "cpu:0");
  const int64_t one = 1;
  tfsdk_view view;
  OK(tfsdk_tensor_create(rt, TFSDK_INT64, 0, NULL, &one, 8, &t));
  run_on(rt, "tiny:0", "AssignAddVariableOp",
         (tfsdk_tensor *[]){tfsdk_eager_tensor(tfsdk_variable_handle(v[1])), t}, 2, NULL, 0, NULL,
         0);
  tfsdk_tensor_release(t);
  t = value_of(v[1]);
  OK(tfsdk_tensor_view(t, &view));
  cr_expect_eq(*(const int64_t *)view.data, 42);
  tfsdk_tensor_release(text);
  tfsdk_tensor_release(t);
  for (int i = 0; i < 2; i++) tfsdk_variable_release(v[i]);
  end_runtime(rt);
}

/* --------------------------------------------------------------------------------------- graphs */

typedef struct model {
  tfsdk_graph *g;
  tfsdk_variable *w;
  tfsdk_val step, delta;
} model;

static model new_model(tfsdk_runtime *rt, const char *device) {
  model m;
  OK(tfsdk_graph_create(rt, &m.g));
  tfsdk_ctx *c = tfsdk_graph_ctx(m.g);
  if (device != NULL) OK(tfsdk_ctx_push_device(c, device));
  const float init[3] = {1, 2, 3};
  tfsdk_varspec spec = {.struct_size = sizeof spec, .dtype = TFSDK_FLOAT32};
  spec.init = tfsdk_constant(c, TFSDK_FLOAT32, 1, DIMS(3), init);
  spec.shape.rank = 1;
  spec.shape.dim[0] = 3;
  OK(tfsdk_variable_create(c, "w", &spec, &m.w));
  m.delta = placeholder(c, TFSDK_FLOAT32, 1, DIMS(3));
  m.step = tfsdk_emit3(c, "ResourceApplyGradientDescent", tfsdk_variable_handle(m.w),
                       tfsdk_scalar(c, TFSDK_FLOAT32, 0.5), m.delta);
  if (device != NULL) tfsdk_ctx_pop_device(c);
  OK(tfsdk_ctx_error(c));
  return m;
}
static void run_node(tfsdk_session *s, tfsdk_val v, tfsdk_val feed, tfsdk_tensor *x) {
  tfsdk_tensor *out = NULL;
  OK(tfsdk_session_run(s, &v, 1, &feed, &x, feed.id != 0, &out));
  tfsdk_tensor_release(out);
}

/* By the session's device and by scopes alike, even where no other device would do. */
Test(variable, of_a_graph_lives_on_the_device_of_its_nodes) {
  tfsdk_runtime *rt = tiny_runtime();
  for (int by_scope = 0; by_scope < 2; by_scope++) {
    model m = new_model(rt, by_scope ? "tiny:0" : NULL);
    tfsdk_session_options o = {.struct_size = sizeof o,
                               .device = by_scope ? NULL : "tiny:0",
                               .no_soft_placement = by_scope};
    tfsdk_session *s;
    tfsdk_tensor *x = FLOATS(rt, 1, DIMS(3), 2, 2, 4), *t = NULL;
    tfsdk_memory_info before, after;
    OK(tfsdk_session_create(m.g, &o, &s));
    run_node(s, tfsdk_variable_initializer(m.w), tfsdk_none(), NULL);
    cr_expect_eq(in_use(rt, "tiny:0"), 12);
    run_node(s, m.step, m.delta, x);
    tfsdk_runtime_memory(rt, "tiny:0", &before);
    for (int i = 0; i < 4; i++) run_node(s, m.step, m.delta, x);
    tfsdk_runtime_memory(rt, "tiny:0", &after);
    cr_expect_eq(after.in_use, 12);
    cr_expect_eq(after.peak, before.peak, "steps go in place");
    OK(tfsdk_session_read(s, "w", &t));
    expect_on(t, "cpu:0");
    EXPECT_FLOATS(t, 0, -4, -3, -7);
    tfsdk_tensor_release(t);
    tfsdk_tensor_release(x);
    tfsdk_session_close(s);
    cr_expect_eq(in_use(rt, "tiny:0"), 0, "a closed session gives its memory back");
    tfsdk_session_release(s);
    tfsdk_variable_release(m.w);
    tfsdk_graph_release(m.g);
  }
  end_runtime(rt);
}

/* What was fetched before a step keeps its value; variables of two sessions are two. */
Test(variable, of_two_sessions_on_two_devices_are_apart) {
  tfsdk_runtime *rt = tiny_runtime();
  model m = new_model(rt, NULL);
  tfsdk_session *s[2];
  tfsdk_tensor *x = FLOATS(rt, 1, DIMS(3), 2, 2, 2), *first[2], *last[2];
  tfsdk_val read;
  OK(tfsdk_variable_value(m.w, tfsdk_graph_ctx(m.g), &read));
  for (int i = 0; i < 2; i++) {
    tfsdk_session_options o = {.struct_size = sizeof o, .device = i ? "tiny:1" : "tiny:0"};
    OK(tfsdk_session_create(m.g, &o, &s[i]));
    run_node(s[i], tfsdk_variable_initializer(m.w), tfsdk_none(), NULL);
    OK(tfsdk_session_run(s[i], &read, 1, NULL, NULL, 0, &first[i]));
    for (int k = 0; k <= i; k++) run_node(s[i], m.step, m.delta, x);
  }
  for (int i = 0; i < 2; i++) {
    OK(tfsdk_session_run(s[i], &read, 1, NULL, NULL, 0, &last[i]));
    EXPECT_FLOATS(first[i], 0, 1, 2, 3);
    EXPECT_FLOATS(last[i], 0, (float)-i, (float)(1 - i), (float)(2 - i));
    tfsdk_session_release(s[i]);
  }
  drop(first, 2);
  drop(last, 2);
  tfsdk_tensor_release(x);
  tfsdk_variable_release(m.w);
  tfsdk_graph_release(m.g);
  end_runtime(rt);
}

Test(variable, without_a_value_is_an_error_on_every_device) {
  tfsdk_runtime *rt = tiny_runtime();
  model m = new_model(rt, NULL);
  tfsdk_session_options o = {.struct_size = sizeof o, .device = "tiny:0"};
  tfsdk_session *s;
  tfsdk_tensor *x = FLOATS(rt, 1, DIMS(3), 2, 2, 4), *out = NULL;
  OK(tfsdk_session_create(m.g, &o, &s));
  FAILS(tfsdk_session_run(s, &m.step, 1, &m.delta, &x, 1, &out), TFSDK_FAILED_PRECONDITION,
        "variable 'w' has no value yet");
  tfsdk_tensor_release(x);
  tfsdk_session_release(s);
  tfsdk_variable_release(m.w);
  tfsdk_graph_release(m.g);
  end_runtime(rt);
}
