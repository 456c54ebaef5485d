/* Seeds of random ops (NUM-10): which of them make numbers repeatable, and what does not matter. */
#include "support.h"

static int same_data(tfsdk_tensor *a, tfsdk_tensor *b) {
  return tfsdk_tensor_bytes(a) == tfsdk_tensor_bytes(b) &&
         memcmp(data_of(a), data_of(b), tfsdk_tensor_bytes(a)) == 0;
}

typedef struct world {
  tfsdk_runtime *rt;
  tfsdk_graph *g;
  tfsdk_val y;
} world;

/* A graph with `extra` constants and one random op. */
static world new_world(int64_t graph_seed, int64_t op_seed, int extra) {
  world w = {new_runtime(), NULL, {0}};
  OK(tfsdk_graph_create(w.rt, &w.g));
  tfsdk_ctx *c = tfsdk_graph_ctx(w.g);
  tfsdk_graph_set_seed(w.g, graph_seed);
  for (int i = 0; i < extra; i++) tfsdk_scalar(c, TFSDK_FLOAT32, i);
  tfsdk_val shape = tfsdk_int_vector(c, DIMS(1000), 1);
  tfsdk_attrval attr[3] = {tfsdk_a_dtype("dtype", TFSDK_FLOAT32), tfsdk_a_int("seed", graph_seed),
                           tfsdk_a_int("seed2", op_seed)};
  w.y = tfsdk_emit(c, "RandomStandardNormal", &shape, 1, attr, 3);
  OK(tfsdk_ctx_error(c));
  return w;
}
static void end(world *w) {
  tfsdk_graph_release(w->g);
  tfsdk_runtime_release(w->rt);
}
static tfsdk_tensor *run_in(tfsdk_session *s, tfsdk_val y) {
  tfsdk_tensor *t = NULL;
  OK(tfsdk_session_run(s, &y, 1, NULL, NULL, 0, &t));
  return t;
}

Test(seed, NUM_10_sessions_repeat_the_sequence_and_runs_go_on) {
  world w = new_world(42, 7, 0);
  tfsdk_session *a, *b;
  OK(tfsdk_session_create(w.g, NULL, &a));
  OK(tfsdk_session_create(w.g, NULL, &b));
  tfsdk_tensor *a1 = run_in(a, w.y), *a2 = run_in(a, w.y), *b1 = run_in(b, w.y),
               *b2 = run_in(b, w.y);
  cr_expect(same_data(a1, b1) && same_data(a2, b2), "two sessions differ");
  cr_expect(!same_data(a1, a2), "two runs of a session are the same");
  tfsdk_tensor *all[4] = {a1, a2, b1, b2};
  for (int i = 0; i < 4; i++) tfsdk_tensor_release(all[i]);
  tfsdk_session_release(a);
  tfsdk_session_release(b);
  end(&w);
}

Test(seed, NUM_10_other_nodes_do_not_matter_when_both_seeds_are_given) {
  world w = new_world(42, 7, 0), x = new_world(42, 7, 3), z = new_world(42, 8, 0);
  tfsdk_session *s[3];
  tfsdk_tensor *t[3];
  world *all[3] = {&w, &x, &z};
  for (int i = 0; i < 3; i++) {
    OK(tfsdk_session_create(all[i]->g, NULL, &s[i]));
    t[i] = run_in(s[i], all[i]->y);
  }
  cr_expect(same_data(t[0], t[1]), "three constants moved the numbers");
  cr_expect(!same_data(t[0], t[2]), "another op seed gives the same numbers");
  for (int i = 0; i < 3; i++) {
    tfsdk_tensor_release(t[i]);
    tfsdk_session_release(s[i]);
    end(all[i]);
  }
}

Test(seed, the_same_seeds_give_the_same_numbers_in_both_modes) {
  world w = new_world(42, 7, 0);
  tfsdk_session *s;
  tfsdk_tensor *shape, *eager = NULL;
  const int32_t n = 1000;
  tfsdk_attrval attr[3] = {tfsdk_a_dtype("dtype", TFSDK_FLOAT32), tfsdk_a_int("seed", 42),
                           tfsdk_a_int("seed2", 7)};
  OK(tfsdk_session_create(w.g, NULL, &s));
  tfsdk_tensor *graph = run_in(s, w.y);
  OK(tfsdk_tensor_create(w.rt, TFSDK_INT32, 1, DIMS(1), &n, 4, &shape));
  OK(tfsdk_eager_run(w.rt, "RandomStandardNormal", &shape, 1, attr, 3, &eager, 1));
  cr_expect(same_data(graph, eager));
  tfsdk_tensor_release(shape);
  tfsdk_tensor_release(eager);
  tfsdk_tensor_release(graph);
  tfsdk_session_release(s);
  end(&w);
}

/* One random op of a graph that has a seed or not (0: none), after `before` and among `extra` other
 * nodes, drawn in a runtime and a session of its own. */
typedef struct setting {
  int64_t graph_seed, op_seed;
  int late;          /* the graph's seed is set when the nodes are there */
  int before, extra; /* random ops before it, constants around it */
  const char *scope;
} setting;

static tfsdk_tensor *draw_in_graph(setting o) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_graph *g;
  tfsdk_session *s;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  if (o.graph_seed && !o.late) tfsdk_graph_set_seed(g, o.graph_seed);
  for (int i = 0; i < o.extra; i++) tfsdk_scalar(c, TFSDK_FLOAT32, i);
  tfsdk_val shape = tfsdk_int_vector(c, DIMS(1000), 1), y;
  tfsdk_attrval attr[2] = {tfsdk_a_dtype("dtype", TFSDK_FLOAT32), tfsdk_a_int("seed2", o.op_seed)};
  for (int i = 0; i < o.before; i++) tfsdk_emit(c, "RandomStandardNormal", &shape, 1, attr, 1);
  if (o.scope) OK(tfsdk_ctx_push_name_scope(c, o.scope));
  y = tfsdk_emit(c, "RandomStandardNormal", &shape, 1, attr, 2);
  if (o.scope) tfsdk_ctx_pop_name_scope(c);
  for (int i = 0; i < o.extra; i++) tfsdk_scalar(c, TFSDK_FLOAT32, i);
  OK(tfsdk_ctx_error(c));
  if (o.graph_seed && o.late) tfsdk_graph_set_seed(g, o.graph_seed);
  OK(tfsdk_session_create(g, NULL, &s));
  tfsdk_tensor *t = run_in(s, y);
  tfsdk_session_release(s);
  tfsdk_graph_release(g);
  tfsdk_runtime_release(rt);
  return t;
}
static void expect_draws(setting a, setting b, int same, const char *what) {
  tfsdk_tensor *x = draw_in_graph(a), *y = draw_in_graph(b);
  cr_expect(same_data(x, y) == same, "%s", what);
  tfsdk_tensor_release(x);
  tfsdk_tensor_release(y);
}

/* Each fresh runtime stands for a process. */
Test(seed, NUM_10_either_seed_makes_numbers_repeatable) {
  expect_draws((setting){.graph_seed = 42, .op_seed = 7}, (setting){.graph_seed = 42, .op_seed = 7},
               1, "both seeds");
  expect_draws((setting){.op_seed = 7}, (setting){.op_seed = 7}, 1, "op seed only");
  expect_draws((setting){.graph_seed = 42}, (setting){.graph_seed = 42}, 1, "graph seed only");
  expect_draws((setting){0}, (setting){0}, 0, "no seed");
  expect_draws((setting){.op_seed = 7}, (setting){.op_seed = 8}, 0, "two op seeds");
  expect_draws((setting){.graph_seed = 42}, (setting){.graph_seed = 43}, 0, "two graph seeds");
  expect_draws((setting){.graph_seed = 42, .op_seed = 7}, (setting){.graph_seed = 43, .op_seed = 7},
               0, "two graph seeds with an op seed");
  expect_draws((setting){.graph_seed = 42, .op_seed = 7}, (setting){.op_seed = 7}, 0,
               "with and without a graph seed");
}

Test(seed, NUM_10_unrelated_nodes_do_not_matter) {
  expect_draws((setting){.graph_seed = 42, .op_seed = 7},
               (setting){.graph_seed = 42, .op_seed = 7, .extra = 3, .before = 2}, 1, "both seeds");
  expect_draws((setting){.op_seed = 7}, (setting){.op_seed = 7, .extra = 3, .before = 2}, 1,
               "op seed only");
  expect_draws((setting){.graph_seed = 42}, (setting){.graph_seed = 42, .extra = 3}, 1,
               "graph seed only");
  expect_draws((setting){.graph_seed = 42, .scope = "a"},
               (setting){.graph_seed = 42, .scope = "a", .before = 2}, 1,
               "random ops of other scopes");
  expect_draws((setting){.graph_seed = 42}, (setting){.graph_seed = 42, .before = 1}, 0,
               "the second op of a scope has numbers of its own");
  expect_draws((setting){.graph_seed = 42, .scope = "a"}, (setting){.graph_seed = 42, .scope = "b"},
               0, "two scopes");
}

Test(seed, NUM_10_a_graph_seed_set_after_the_nodes_is_honoured) {
  expect_draws((setting){.graph_seed = 42, .op_seed = 7},
               (setting){.graph_seed = 42, .op_seed = 7, .late = 1}, 1, "both seeds");
  expect_draws((setting){.graph_seed = 42}, (setting){.graph_seed = 42, .late = 1}, 1,
               "graph seed only");
}

/* ... and even one set between two runs of a session; a session's own seed is stronger. */
Test(seed, NUM_10_a_graph_seed_set_between_runs_is_honoured) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_graph *g;
  tfsdk_session *s, *own;
  tfsdk_session_options o = {.struct_size = sizeof o, .seed = 5};
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_val shape = tfsdk_int_vector(c, DIMS(1000), 1);
  tfsdk_attrval attr = tfsdk_a_dtype("dtype", TFSDK_FLOAT32);
  tfsdk_val y = tfsdk_emit(c, "RandomStandardNormal", &shape, 1, &attr, 1);
  OK(tfsdk_ctx_error(c));
  OK(tfsdk_session_create(g, NULL, &s));
  OK(tfsdk_session_create(g, &o, &own));
  tfsdk_tensor *t[8];
  t[0] = run_in(s, y);
  t[6] = run_in(own, y);
  tfsdk_graph_set_seed(g, 42);
  t[1] = run_in(s, y);
  t[2] = run_in(s, y);
  tfsdk_graph_set_seed(g, 43);
  t[3] = run_in(s, y);
  t[7] = run_in(own, y);
  tfsdk_graph_set_seed(g, 42);
  t[4] = run_in(s, y);
  t[5] = draw_in_graph((setting){.graph_seed = 42});
  cr_expect(!same_data(t[0], t[1]) && !same_data(t[1], t[2]) && !same_data(t[1], t[3]));
  cr_expect(same_data(t[1], t[4]), "the same seed again, the same numbers again");
  cr_expect(same_data(t[1], t[5]), "as if it had been there from the beginning");
  cr_expect(!same_data(t[6], t[7]), "the session with a seed of its own goes on");
  for (int i = 0; i < 8; i++) tfsdk_tensor_release(t[i]);
  tfsdk_session_release(s);
  tfsdk_session_release(own);
  tfsdk_graph_release(g);
  tfsdk_runtime_release(rt);
}

static tfsdk_tensor *normal(tfsdk_runtime *rt, int64_t op_seed) {
  const int32_t n = 1000;
  tfsdk_tensor *shape, *out = NULL;
  tfsdk_attrval attr[2] = {tfsdk_a_dtype("dtype", TFSDK_FLOAT32), tfsdk_a_int("seed2", op_seed)};
  OK(tfsdk_tensor_create(rt, TFSDK_INT32, 1, DIMS(1), &n, 4, &shape));
  OK(tfsdk_eager_run(rt, "RandomStandardNormal", &shape, 1, attr, 2, &out, 1));
  tfsdk_tensor_release(shape);
  return out;
}

/* With the runtime's seed in the place of the graph's: the n-th op of a scope draws what the
 * graph's n-th does. */
Test(seed, the_first_draws_of_a_graph_are_those_of_define_by_run) {
  static const struct { int64_t seed, op_seed; } cases[3] = {{42, 7}, {0, 7}, {42, 0}};
  for (int i = 0; i < 3; i++) {
    tfsdk_runtime *rt = new_runtime();
    if (cases[i].seed) tfsdk_runtime_set_seed(rt, cases[i].seed);
    tfsdk_tensor *eager = normal(rt, cases[i].op_seed);
    tfsdk_tensor *graph =
        draw_in_graph((setting){.graph_seed = cases[i].seed, .op_seed = cases[i].op_seed});
    cr_expect(same_data(eager, graph), "seeds %lld and %lld", (long long)cases[i].seed,
              (long long)cases[i].op_seed);
    if (cases[i].op_seed == 0) {
      tfsdk_tensor *second = normal(rt, 0),
                   *other = draw_in_graph((setting){.graph_seed = 42, .before = 1});
      cr_expect(same_data(second, other), "the second op");
      tfsdk_tensor_release(second);
      tfsdk_tensor_release(other);
    }
    tfsdk_tensor_release(eager);
    tfsdk_tensor_release(graph);
    tfsdk_runtime_release(rt);
  }
}

/* Define-by-run: a sequence goes on from call to call, and setting the seed begins it anew. */
Test(seed, NUM_10_setting_the_seed_again_repeats_the_sequence) {
  tfsdk_runtime *rt = new_runtime();
  for (int64_t op_seed = 0; op_seed < 8; op_seed += 7) {
    tfsdk_tensor *t[4];
    for (int i = 0; i < 4; i++) {
      if (i % 2 == 0) tfsdk_runtime_set_seed(rt, 42);
      t[i] = normal(rt, op_seed);
    }
    cr_expect(same_data(t[0], t[2]) && same_data(t[1], t[3]), "op seed %lld", (long long)op_seed);
    cr_expect(!same_data(t[0], t[1]), "op seed %lld", (long long)op_seed);
    for (int i = 0; i < 4; i++) tfsdk_tensor_release(t[i]);
  }
  tfsdk_runtime_release(rt);
}

/* Without any seed a draw is as good as unrepeatable. */
Test(seed, NUM_10_without_seeds_runtimes_differ) {
  tfsdk_runtime *a = new_runtime(), *b = new_runtime();
  tfsdk_tensor *x = normal(a, 0), *y = normal(b, 0);
  cr_expect(!same_data(x, y));
  tfsdk_tensor_release(x);
  tfsdk_tensor_release(y);
  tfsdk_runtime_release(a);
  tfsdk_runtime_release(b);
}

/* A stateless op is a function of its seed. */
Test(seed, stateless_numbers_depend_on_the_seed_alone) {
  tfsdk_runtime *rt = new_runtime();
  const int32_t n = 1000;
  const int64_t seeds[2][2] = {{1, 2}, {1, 3}};
  tfsdk_tensor *in[2], *out[3];
  OK(tfsdk_tensor_create(rt, TFSDK_INT32, 1, DIMS(1), &n, 4, &in[0]));
  for (int i = 0; i < 3; i++) {
    OK(tfsdk_tensor_create(rt, TFSDK_INT64, 1, DIMS(2), seeds[i / 2], 16, &in[1]));
    OK(tfsdk_eager_run(rt, "StatelessRandomUniform", in, 2, NULL, 0, &out[i], 1));
    tfsdk_tensor_release(in[1]);
  }
  cr_expect(same_data(out[0], out[1]));
  cr_expect(!same_data(out[0], out[2]));
  for (int i = 0; i < 3; i++) tfsdk_tensor_release(out[i]);
  tfsdk_tensor_release(in[0]);
  tfsdk_runtime_release(rt);
}
