/* Constants, placeholders, variables, printing and asserting. */
#include "support.h"

typedef struct world {
  tfsdk_runtime *rt;
  tfsdk_graph *g;
  tfsdk_ctx *c;
  tfsdk_session *s;
  tfsdk_variable *v; /* float32 [2, 3], initially 1..6 */
  tfsdk_val handle, read;
} world;

static char printed[2000];
static void keep_line(void *user, int32_t level, const char *line) {
  (void)user;
  (void)level;
  strncat(printed, line, sizeof printed - strlen(printed) - 2);
  strcat(printed, "\n");
}

static world new_world(void) {
  world w = {0};
  const float one_to_six[6] = {1, 2, 3, 4, 5, 6};
  tfsdk_runtime_options o = {.struct_size = sizeof o, .log = keep_line};
  tfsdk_varspec spec = {
      .struct_size = sizeof spec, .dtype = TFSDK_FLOAT32, .shape = {2, 0, {2, 3}}};
  OK(tfsdk_runtime_create(&o, &w.rt));
  OK(tfsdk_graph_create(w.rt, &w.g));
  w.c = tfsdk_graph_ctx(w.g);
  spec.init = tfsdk_constant(w.c, TFSDK_FLOAT32, 2, DIMS(2, 3), one_to_six);
  OK(tfsdk_variable_create(w.c, "w", &spec, &w.v));
  w.handle = tfsdk_variable_handle(w.v);
  OK(tfsdk_variable_value(w.v, w.c, &w.read));
  OK(tfsdk_session_create(w.g, NULL, &w.s));
  return w;
}
static void end(world *w) {
  tfsdk_session_release(w->s);
  tfsdk_variable_release(w->v);
  tfsdk_graph_release(w->g);
  tfsdk_runtime_release(w->rt);
}
static tfsdk_tensor *fetch(world *w, tfsdk_val v) {
  tfsdk_tensor *t = NULL;
  OK(tfsdk_session_run(w->s, &v, 1, NULL, NULL, 0, &t));
  return t;
}
static void run(world *w, tfsdk_val v) { tfsdk_tensor_release(fetch(w, v)); }
static tfsdk_status *emit(world *w, const char *op, const tfsdk_val *in, size_t n, tfsdk_val *out) {
  return w->c->api->emit(w->c, op, in, n, NULL, 0, out, 1);
}

Test(state, a_variable_has_a_value_once_it_is_assigned) {
  world w = new_world();
  tfsdk_val is = tfsdk_emit1(w.c, "VarIsInitializedOp", w.handle);
  tfsdk_tensor *t = NULL;
  FAILS(tfsdk_session_run(w.s, &w.read, 1, NULL, NULL, 0, &t), TFSDK_FAILED_PRECONDITION, "'w'");
  t = fetch(&w, is);
  cr_expect_eq(*(const uint8_t *)data_of(t), 0);
  tfsdk_tensor_release(t);
  run(&w, tfsdk_variable_initializer(w.v));
  t = fetch(&w, is);
  cr_expect_eq(*(const uint8_t *)data_of(t), 1);
  tfsdk_tensor_release(t);
  EXPECT_FLOATS(t = fetch(&w, w.read), 0, 1, 2, 3, 4, 5, 6);
  tfsdk_tensor_release(t);
  end(&w);
}

/* Whoever has read a value keeps it, also when the variable is changed in place. */
Test(state, adding_to_a_variable_leaves_values_that_were_read) {
  world w = new_world();
  tfsdk_val ten =
      tfsdk_constant(w.c, TFSDK_FLOAT32, 2, DIMS(2, 3), (const float[]){10, 10, 10, 10, 10, 10});
  tfsdk_val in[2] = {w.handle, ten}, add, sub;
  OK(emit(&w, "AssignAddVariableOp", in, 2, &add));
  OK(emit(&w, "AssignSubVariableOp", in, 2, &sub));
  run(&w, tfsdk_variable_initializer(w.v));
  tfsdk_tensor *before = fetch(&w, w.read), *after;
  run(&w, add);
  EXPECT_FLOATS(after = fetch(&w, w.read), 0, 11, 12, 13, 14, 15, 16);
  EXPECT_FLOATS(before, 0, 1, 2, 3, 4, 5, 6);
  tfsdk_tensor_release(after);
  run(&w, sub);
  run(&w, sub);
  EXPECT_FLOATS(after = fetch(&w, w.read), 0, -9, -8, -7, -6, -5, -4);
  tfsdk_tensor_release(after);
  tfsdk_tensor_release(before);
  end(&w);
}

Test(state, shapes_of_assignments_are_checked_when_the_graph_is_built) {
  world w = new_world();
  tfsdk_val scalar = tfsdk_scalar(w.c, TFSDK_FLOAT32, 1), whole = tfsdk_scalar(w.c, TFSDK_INT32, 1),
            out;
  FAILS(emit(&w, "AssignVariableOp", (tfsdk_val[]){w.handle, scalar}, 2, &out),
        TFSDK_INVALID_ARGUMENT, "(2, 3) and ()");
  FAILS(emit(&w, "AssignAddVariableOp", (tfsdk_val[]){w.handle, scalar}, 2, &out),
        TFSDK_INVALID_ARGUMENT, "(2, 3) and ()");
  OK(emit(&w, "AssignVariableOp", (tfsdk_val[]){w.handle, tfsdk_emit2(w.c, "Mul", w.read, scalar)},
          2, &out));
  FAILS(emit(&w, "AssignVariableOp", (tfsdk_val[]){whole, scalar}, 2, &out), TFSDK_INVALID_ARGUMENT,
        "resource");
  end(&w);
}

Test(state, the_gradient_of_a_variable_goes_through_its_reading) {
  world w = new_world();
  tfsdk_val y = tfsdk_emit2(w.c, "Mul", w.read, w.read);
  tfsdk_gradient g;
  OK(tfsdk_ctx_error(w.c));
  OK(tfsdk_gradients(w.g, &y, 1, &w.handle, 1, NULL, NULL, 0, &g));
  run(&w, tfsdk_variable_initializer(w.v));
  tfsdk_tensor *t;
  EXPECT_FLOATS(t = fetch(&w, g.value), 0, 2, 4, 6, 8, 10, 12);
  tfsdk_tensor_release(t);
  end(&w);
}

Test(state, the_shape_of_a_variable) {
  world w = new_world();
  tfsdk_val shape = tfsdk_emit1(w.c, "VariableShape", w.handle);
  run(&w, tfsdk_variable_initializer(w.v));
  tfsdk_tensor *t = fetch(&w, shape);
  cr_expect_eq(tfsdk_tensor_elements(t), 2);
  cr_expect_eq(((const int32_t *)data_of(t))[0], 2);
  cr_expect_eq(((const int32_t *)data_of(t))[1], 3);
  tfsdk_tensor_release(t);
  end(&w);
}

Test(state, a_placeholder_must_be_fed_and_one_with_default_may_be) {
  world w = new_world();
  tfsdk_attrval shape = tfsdk_a_shape("shape", DIMS(-1, 2), 2);
  tfsdk_val must = placeholder(w.c, TFSDK_FLOAT32, 2, DIMS(-1, 2));
  tfsdk_val initial = tfsdk_constant(w.c, TFSDK_FLOAT32, 2, DIMS(1, 2), (const float[]){3, 4});
  tfsdk_val may = tfsdk_emit(w.c, "PlaceholderWithDefault", &initial, 1, &shape, 1);
  tfsdk_val twice = tfsdk_emit2(w.c, "AddV2", may, may);
  tfsdk_tensor *t = NULL, *fed = FLOATS(w.rt, 2, DIMS(2, 2), 1, 2, 3, 4);
  tfsdk_view known;
  OK(tfsdk_ctx_error(w.c));
  FAILS(tfsdk_session_run(w.s, &must, 1, NULL, NULL, 0, &t), TFSDK_INVALID_ARGUMENT, "must be fed");
  EXPECT_FLOATS(t = fetch(&w, twice), 0, 6, 8);
  tfsdk_tensor_release(t);
  OK(tfsdk_session_run(w.s, &twice, 1, &may, &fed, 1, &t));
  EXPECT_FLOATS(t, 0, 2, 4, 6, 8);
  tfsdk_tensor_release(t);
  /* A run may feed something else: the default is not a constant. */
  cr_expect_eq(tfsdk_type(w.c, may).shape.dim[0], -1);
  cr_expect(!tfsdk_known(w.c, may, &known));
  tfsdk_tensor_release(fed);
  end(&w);
}

Test(state, ensure_shape_checks_what_only_the_run_knows) {
  world w = new_world();
  tfsdk_attrval shape = tfsdk_a_shape("shape", DIMS(2, -1), 2);
  tfsdk_val x = placeholder(w.c, TFSDK_FLOAT32, 2, DIMS(-1, 2)),
            y = tfsdk_emit(w.c, "EnsureShape", &x, 1, &shape, 1);
  tfsdk_tensor *t = NULL, *good = FLOATS(w.rt, 2, DIMS(2, 2), 1, 2, 3, 4),
               *bad = FLOATS(w.rt, 2, DIMS(1, 2), 1, 2);
  OK(tfsdk_ctx_error(w.c));
  cr_expect_eq(tfsdk_type(w.c, y).shape.dim[0], 2);
  cr_expect_eq(tfsdk_type(w.c, y).shape.dim[1], 2);
  OK(tfsdk_session_run(w.s, &y, 1, &x, &good, 1, &t));
  EXPECT_FLOATS(t, 0, 1, 2, 3, 4);
  tfsdk_tensor_release(t);
  FAILS(tfsdk_session_run(w.s, &y, 1, &x, &bad, 1, &t), TFSDK_INVALID_ARGUMENT,
        "(1, 2) and (2, ?)");
  tfsdk_tensor_release(good);
  tfsdk_tensor_release(bad);
  end(&w);
}

Test(state, check_numerics_says_what_it_found_and_where) {
  world w = new_world();
  tfsdk_attrval message = tfsdk_a_string("message", "loss");
  tfsdk_tensor *good = FLOATS(w.rt, 2, DIMS(1, 2), 1, -2), *out = NULL;
  tfsdk_tensor *bad = FLOATS(w.rt, 2, DIMS(2, 3), 1, 2, INFINITY, NAN, 5, -INFINITY);
  OK(tfsdk_eager_run(w.rt, "CheckNumerics", &good, 1, &message, 1, &out, 1));
  EXPECT_FLOATS(out, 0, 1, -2);
  tfsdk_tensor_release(out);
  FAILS(tfsdk_eager_run(w.rt, "CheckNumerics", &bad, 1, &message, 1, &out, 1),
        TFSDK_INVALID_ARGUMENT,
        "loss: tensor has 1 NaN and 2 Inf among 6 elements, the first (Inf) at (0, 2)");
  tfsdk_tensor_release(good);
  tfsdk_tensor_release(bad);
  end(&w);
}

/* TensorFlow's form: tf.Print of a matrix with summarize=3 shows [[1 2 3]...]. */
Test(state, assert_and_print_show_the_first_elements) {
  world w = new_world();
  const uint8_t yes = 1, no = 0;
  tfsdk_tensor *in[3] = {NULL, FLOATS(w.rt, 2, DIMS(2, 3), 1, 2, 3, 4.5f, 5, 6),
                         FLOATS(w.rt, 1, DIMS(2), 0.1f, -7)};
  tfsdk_tensor *t, *f, *out = NULL;
  OK(tfsdk_tensor_create(w.rt, TFSDK_BOOL, 0, NULL, &yes, 1, &t));
  OK(tfsdk_tensor_create(w.rt, TFSDK_BOOL, 0, NULL, &no, 1, &f));
  in[0] = t;
  OK(tfsdk_eager_run(w.rt, "Assert", in, 3, NULL, 0, NULL, 0));
  in[0] = f;
  FAILS(tfsdk_eager_run(w.rt, "Assert", in, 3, NULL, 0, NULL, 0), TFSDK_INVALID_ARGUMENT,
        "assertion failed: [[1 2 3]...] [0.1 -7]");
  tfsdk_attrval attr[2] = {tfsdk_a_string("message", "see: "), tfsdk_a_int("summarize", 4)};
  printed[0] = 0;
  OK(tfsdk_eager_run(w.rt, "Print", &in[1], 2, attr, 2, &out, 1));
  cr_expect_str_eq(printed, "see: [0.1 -7]\n");
  EXPECT_FLOATS(out, 0, 1, 2, 3, 4.5f, 5, 6);
  tfsdk_tensor_release(out);
  printed[0] = 0;
  tfsdk_tensor *swapped[2] = {in[2], in[1]};
  OK(tfsdk_eager_run(w.rt, "Print", swapped, 2, attr, 2, &out, 1));
  cr_expect_str_eq(printed, "see: [[1 2 3][4.5...]...]\n");
  tfsdk_tensor_release(out);
  tfsdk_tensor *all[4] = {t, f, in[1], in[2]};
  for (int i = 0; i < 4; i++) tfsdk_tensor_release(all[i]);
  end(&w);
}

Test(state, print_stops_after_first_n) {
  world w = new_world();
  tfsdk_attrval attr[2] = {tfsdk_a_string("message", "x"), tfsdk_a_int("first_n", 2)};
  tfsdk_val x = tfsdk_scalar(w.c, TFSDK_FLOAT32, 1), in[2] = {x, x};
  tfsdk_val y = tfsdk_emit(w.c, "Print", in, 2, attr, 2);
  OK(tfsdk_ctx_error(w.c));
  printed[0] = 0;
  for (int i = 0; i < 4; i++) run(&w, y);
  cr_expect_str_eq(printed, "x[1]\nx[1]\n");
  end(&w);
}
