/* Gradients: paths, stops, sums over uses, rows, second order; graph and tape agree bit for bit. */
#include "support.h"

typedef struct world {
  tfsdk_runtime *rt;
  tfsdk_graph *g;
  tfsdk_ctx *c;
  tfsdk_session *s;
} world;

static world new_world(void) {
  world w = {new_runtime(), NULL, NULL, NULL};
  OK(tfsdk_graph_create(w.rt, &w.g));
  w.c = tfsdk_graph_ctx(w.g);
  return w;
}
static void end(world *w) {
  tfsdk_session_release(w->s);
  tfsdk_graph_release(w->g);
  tfsdk_runtime_release(w->rt);
}
static tfsdk_tensor *fetch(world *w, tfsdk_val v, tfsdk_val feed, tfsdk_tensor *value) {
  tfsdk_tensor *out = NULL;
  if (w->s == NULL) OK(tfsdk_session_create(w->g, NULL, &w->s));
  OK(tfsdk_session_run(w->s, &v, 1, &feed, &value, feed.id ? 1 : 0, &out));
  return out;
}
static tfsdk_val grad(world *w, tfsdk_val y, tfsdk_val x) {
  tfsdk_gradient g;
  OK(tfsdk_gradients(w->g, &y, 1, &x, 1, NULL, NULL, 0, &g));
  OK(tfsdk_gradient_densify(w->c, &g));
  return g.value;
}

Test(gradient, AD_07_paths_stops_and_double_use) {
  world w = new_world();
  tfsdk_val x = placeholder(w.c, TFSDK_FLOAT32, 0, NULL),
            v = placeholder(w.c, TFSDK_FLOAT32, 0, NULL);
  tfsdk_val square = tfsdk_emit2(w.c, "Mul", x, x), stopped = tfsdk_emit1(w.c, "StopGradient", x);
  tfsdk_val half = tfsdk_emit2(w.c, "Mul", x, stopped),
            other = tfsdk_emit2(w.c, "AddV2", tfsdk_emit1(w.c, "StopGradient", square), x);
  OK(tfsdk_ctx_error(w.c));
  tfsdk_val xs[2] = {x, x};
  tfsdk_gradient both[2], none;
  OK(tfsdk_gradients(w.g, &square, 1, &v, 1, NULL, NULL, 0, &none));
  cr_expect_eq(none.value.id, 0);
  OK(tfsdk_gradients(w.g, &square, 1, xs, 2, NULL, NULL, 0, both));
  tfsdk_tensor *three = FLOATS(w.rt, 0, NULL, 3), *out[5];
  EXPECT_FLOATS(out[0] = fetch(&w, grad(&w, half, x), x, three), 0, 3);
  EXPECT_FLOATS(out[1] = fetch(&w, grad(&w, other, x), x, three), 0, 1);
  EXPECT_FLOATS(out[2] = fetch(&w, grad(&w, square, x), x, three), 0, 6);
  EXPECT_FLOATS(out[3] = fetch(&w, both[0].value, x, three), 0, 6);
  EXPECT_FLOATS(out[4] = fetch(&w, both[1].value, x, three), 0, 6);
  for (int i = 0; i < 5; i++) tfsdk_tensor_release(out[i]);
  tfsdk_tensor_release(three);
  end(&w);
}

Test(gradient, AD_07_broadcasting_gives_each_operand_its_own_shape) {
  world w = new_world();
  tfsdk_val a = placeholder(w.c, TFSDK_FLOAT32, 2, DIMS(1, 3)),
            b = placeholder(w.c, TFSDK_FLOAT32, 2, DIMS(2, 1)),
            c = placeholder(w.c, TFSDK_FLOAT32, 0, NULL);
  tfsdk_val y = tfsdk_emit2(w.c, "AddV2", tfsdk_emit2(w.c, "Mul", a, b), c);
  tfsdk_val sum = tfsdk_emit2(w.c, "Sum", y, tfsdk_int_vector(w.c, DIMS(0, 1), 2)),
            xs[3] = {a, b, c};
  OK(tfsdk_ctx_error(w.c));
  tfsdk_gradient g[3];
  OK(tfsdk_gradients(w.g, &sum, 1, xs, 3, NULL, NULL, 0, g));
  tfsdk_tensor *feeds[3] = {FLOATS(w.rt, 2, DIMS(1, 3), 1, 2, 3),
                            FLOATS(w.rt, 2, DIMS(2, 1), 10, 20), FLOATS(w.rt, 0, NULL, 0)},
               *out[3];
  tfsdk_val fetches[3] = {g[0].value, g[1].value, g[2].value};
  OK(tfsdk_session_create(w.g, NULL, &w.s));
  OK(tfsdk_session_run(w.s, fetches, 3, xs, feeds, 3, out));
  EXPECT_FLOATS(out[0], 0, 30, 30, 30);
  EXPECT_FLOATS(out[1], 0, 6, 6);
  EXPECT_FLOATS(out[2], 0, 6);
  cr_expect_eq(tfsdk_tensor_dims(out[1])[0], 2);
  for (int i = 0; i < 3; i++) {
    tfsdk_tensor_release(out[i]);
    tfsdk_tensor_release(feeds[i]);
  }
  end(&w);
}

/* A plugin that is part of the program: one op whose gradient nobody wrote. */
static tfsdk_status *same(tfsdk_infer *c) {
  c->out[0].shape = c->in[0].shape;
  return NULL;
}
static tfsdk_status *copy(void *state, tfsdk_run *r) {
  (void)state;
  return r->api->forward(r, 0, 0);
}
static const tfsdk_arg one_in[] = {{"x", "float32", "anything", 0, 0}},
                       one_out[] = {{"y", "float32", "x", 0, 0}};
static const tfsdk_opdef opaque_op = {
    TFSDK_OP_HEAD("test.Opaque", "the identity, without a gradient"),
    .in = one_in,
    .n_in = 1,
    .out = one_out,
    .n_out = 1,
    .infer = same,
    .reference = copy,
    .no_grad_reason = "nobody wrote it"};
static tfsdk_status *enroll(void *self, tfsdk_registrar *r) {
  (void)self;
  return r->op(r, &opaque_op);
}
static const tfsdk_plugin test_plugin = {TFSDK_PLUGIN_HEAD(TFSDK_KIND_OP), .name = "test-plugin",
                                         .version = "1.0", .summary = "for this test",
                                         .enroll = enroll};
static const tfsdk_plugin *query(uint32_t major, uint32_t minor) {
  (void)minor;
  return major == TFSDK_ABI_MAJOR ? &test_plugin : NULL;
}

Test(gradient, an_op_without_gradient_is_named_with_plugin_and_reason) {
  world w = new_world();
  OK(tfsdk_plugin_add_static(w.rt, query));
  tfsdk_val x = placeholder(w.c, TFSDK_FLOAT32, 1, DIMS(3)),
            y = tfsdk_emit1(w.c, "test.Opaque", tfsdk_emit1(w.c, "Square", x));
  OK(tfsdk_ctx_error(w.c));
  tfsdk_gradient g;
  FAILS(tfsdk_gradients(w.g, &y, 1, &x, 1, NULL, NULL, 0, &g), TFSDK_FAILED_PRECONDITION,
        "test.Opaque 'Opaque' of plugin test-plugin (nobody wrote it)");
  tfsdk_attrval to_int = tfsdk_a_dtype("DstT", TFSDK_INT32);
  tfsdk_val i = tfsdk_emit(w.c, "Cast", &x, 1, &to_int, 1);
  OK(tfsdk_ctx_error(w.c));
  FAILS(tfsdk_gradients(w.g, &i, 1, &x, 1, NULL, NULL, 0, &g), TFSDK_INVALID_ARGUMENT, "int32");
  end(&w);
}

/* d3/dx3 of x^3 is 6: each gradient is made of ops that have gradients. */
Test(gradient, third_order) {
  world w = new_world();
  tfsdk_val x = placeholder(w.c, TFSDK_FLOAT32, 0, NULL),
            y = tfsdk_emit2(w.c, "Mul", x, tfsdk_emit2(w.c, "Mul", x, x));
  tfsdk_val d1 = grad(&w, y, x), d2 = grad(&w, d1, x), d3 = grad(&w, d2, x);
  tfsdk_tensor *two = FLOATS(w.rt, 0, NULL, 2), *out[3];
  EXPECT_FLOATS(out[0] = fetch(&w, d1, x, two), 0, 12);
  EXPECT_FLOATS(out[1] = fetch(&w, d2, x, two), 0, 12);
  EXPECT_FLOATS(out[2] = fetch(&w, d3, x, two), 0, 6);
  for (int i = 0; i < 3; i++) tfsdk_tensor_release(out[i]);
  tfsdk_tensor_release(two);
  end(&w);
}

Test(gradient, AD_05_repeated_rows_add_up_and_mix_with_a_dense_path) {
  world w = new_world();
  tfsdk_val p = placeholder(w.c, TFSDK_FLOAT32, 2, DIMS(3, 2)),
            rows = tfsdk_int_vector(w.c, DIMS(2, 0, 2, 2), 4), axis = tfsdk_int_scalar(w.c, 0);
  tfsdk_val y = tfsdk_emit3(w.c, "GatherV2", p, rows, axis);
  const float up[8] = {1, 1, 10, 10, 100, 100, 1000, 1000};
  tfsdk_val dy = tfsdk_constant(w.c, TFSDK_FLOAT32, 2, DIMS(4, 2), up);
  OK(tfsdk_ctx_error(w.c));
  tfsdk_gradient g;
  OK(tfsdk_gradients(w.g, &y, 1, &p, 1, &dy, NULL, 0, &g));
  cr_expect(g.values.id != 0 && g.value.id == 0, "a gather's gradient stays rows");
  OK(tfsdk_gradient_densify(w.c, &g));
  tfsdk_tensor *x = FLOATS(w.rt, 2, DIMS(3, 2), 1, 2, 3, 4, 5, 6), *out;
  EXPECT_FLOATS(out = fetch(&w, g.value, p, x), 0, 10, 10, 0, 0, 1101, 1101);
  tfsdk_tensor_release(out);
  tfsdk_tensor_release(x);
  end(&w);

  w = new_world();
  tfsdk_val v = placeholder(w.c, TFSDK_FLOAT32, 2, DIMS(3, 5));
  tfsdk_val row =
      tfsdk_emit3(w.c, "GatherV2", v, tfsdk_int_vector(w.c, DIMS(1), 1), tfsdk_int_scalar(w.c, 0));
  tfsdk_val axes = tfsdk_int_vector(w.c, DIMS(0, 1), 2);
  tfsdk_val loss =
      tfsdk_emit2(w.c, "AddV2", tfsdk_emit2(w.c, "Sum", tfsdk_emit1(w.c, "Square", row), axes),
                  tfsdk_emit2(w.c, "Sum", tfsdk_emit1(w.c, "Square", v), axes));
  OK(tfsdk_ctx_error(w.c));
  x = FLOATS(w.rt, 2, DIMS(3, 5), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
  EXPECT_FLOATS(out = fetch(&w, grad(&w, loss, v), v, x), 0, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 2, 2, 2,
                2, 2);
  tfsdk_tensor_release(out);
  tfsdk_tensor_release(x);
  end(&w);
}

Test(tape, gives_the_graphs_numbers_bit_for_bit) {
  world w = new_world();
  tfsdk_val x = placeholder(w.c, TFSDK_FLOAT32, 2, DIMS(2, 2)),
            y = tfsdk_emit1(w.c, "Tanh", tfsdk_emit2(w.c, "MatMul", x, x));
  OK(tfsdk_ctx_error(w.c));
  tfsdk_val dx = grad(&w, y, x);
  tfsdk_tensor *value = FLOATS(w.rt, 2, DIMS(2, 2), 0.1f, 0.2f, -0.3f, 0.4f),
               *in[2] = {value, value}, *h, *z, *d = NULL;
  tfsdk_tensor *from_graph = fetch(&w, dx, x, value);
  tfsdk_tape *tape = NULL;
  OK(tfsdk_tape_create(w.rt, 0, 1, &tape));
  OK(tfsdk_tape_watch(tape, value));
  h = run1(w.rt, "MatMul", in, 2);
  z = run1(w.rt, "Tanh", &h, 1);
  OK(tfsdk_tape_gradient(tape, &z, 1, &value, 1, NULL, &d, NULL, NULL));
  cr_expect(memcmp(data_of(d), data_of(from_graph), 16) == 0);
  tfsdk_tensor *again = NULL;
  FAILS(tfsdk_tape_gradient(tape, &z, 1, &value, 1, NULL, &again, NULL, NULL),
        TFSDK_FAILED_PRECONDITION, "persistent");
  tfsdk_tape_release(tape);
  tfsdk_tensor_release(h);
  tfsdk_tensor_release(z);
  tfsdk_tensor_release(d);
  tfsdk_tensor_release(from_graph);
  tfsdk_tensor_release(value);
  end(&w);
}

Test(tape, nested_tapes_give_second_order) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_tensor *x = FLOATS(rt, 0, NULL, 3), *in[2] = {x, x}, *y, *d1 = NULL, *d2 = NULL;
  tfsdk_tape *outer = NULL, *inner = NULL;
  OK(tfsdk_tape_create(rt, 0, 1, &outer));
  OK(tfsdk_tape_watch(outer, x));
  OK(tfsdk_tape_create(rt, 0, 1, &inner));
  OK(tfsdk_tape_watch(inner, x));
  tfsdk_tensor *square = run1(rt, "Mul", in, 2), *cube_in[2] = {square, x};
  y = run1(rt, "Mul", cube_in, 2);
  OK(tfsdk_tape_gradient(inner, &y, 1, &x, 1, NULL, &d1, NULL, NULL));
  EXPECT_FLOATS(d1, 0, 27); /* 3 x^2 */
  OK(tfsdk_tape_gradient(outer, &d1, 1, &x, 1, NULL, &d2, NULL, NULL));
  EXPECT_FLOATS(d2, 0, 18); /* 6 x */
  tfsdk_tape_release(inner);
  tfsdk_tape_release(outer);
  tfsdk_tensor_release(x);
  tfsdk_tensor_release(square);
  tfsdk_tensor_release(y);
  tfsdk_tensor_release(d1);
  tfsdk_tensor_release(d2);
  tfsdk_runtime_release(rt);
}
