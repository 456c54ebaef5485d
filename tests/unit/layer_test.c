/* Layers from C: the same record in a graph and at once, weights that the caller gives, effects, errors, and memory that runs out. */
#include "support.h"
#include <tfsdk/shape.h>

static tfsdk_attrval units(int64_t n) { return tfsdk_a_int("units", n); }

static tfsdk_val eager_matrix(tfsdk_tensor **out, tfsdk_runtime *rt) {
  *out = FLOATS(rt, 2, DIMS(2, 3), 1, 2, 3, -1, 0, 1);
  return tfsdk_eager_val(*out);
}

Test(layer, records_are_found_by_name_and_the_nearest_is_named) {
  tfsdk_runtime *rt = new_runtime();
  const tfsdk_layerdef *d = NULL;
  OK(tfsdk_layer_find(rt, "dense", &d));
  cr_expect_str_eq(d->name, "dense");
  cr_expect_str_eq(d->param[0].name, "units");
  cr_expect_str_eq(d->weight[0].name, "kernel");
  cr_expect_str_eq(tfsdk_layer_plugin(rt, "dense"), "layers");
  FAILS(tfsdk_layer_find(rt, "denze", &d), TFSDK_NOT_FOUND, "'dense'");
  cr_expect_str_eq(tfsdk_layer_plugin(rt, "denze"), "");
  tfsdk_runtime_release(rt);
}

static int note(void *user, const char *name) {
  char *last = user;
  cr_expect(strcmp(last, name) < 0, "'%s' comes after '%s'", name, last);
  snprintf(last, 100, "%s", name);
  return 0;
}

Test(layer, names_come_in_order) {
  tfsdk_runtime *rt = new_runtime();
  char last[100] = "";
  tfsdk_layer_each(rt, note, last);
  cr_expect_neq(last[0], 0);
  tfsdk_runtime_release(rt);
}

Test(layer, text_shows_what_is_not_the_default) {
  tfsdk_runtime *rt = new_runtime();
  char *text = NULL;
  int64_t size[2] = {3, 5};
  tfsdk_attrval p[3] = {tfsdk_a_int("filters", 4), tfsdk_a_ints("kernel_size", size, 2),
                        tfsdk_a_string("padding", "valid")};
  OK(tfsdk_layer_text(rt, "conv2d", p, 3, &text));
  cr_expect_str_eq(text, "conv2d(filters=4, kernel_size=[3,5])");
  free(text);
  FAILS(tfsdk_layer_text(rt, "conv2d", p, 1, &text), TFSDK_INVALID_ARGUMENT, "'kernel_size'");
  tfsdk_runtime_release(rt);
}

/* Every weight is all ones; counts what was asked for. */
typedef struct giver {
  tfsdk_runtime *rt;
  int asked, states, effects;
  char roles[200];
} giver;

static tfsdk_status *give_ones(void *user, tfsdk_ctx *c, const tfsdk_weightspec *w,
                               tfsdk_val *handle, tfsdk_val *value) {
  giver *g = user;
  g->asked++;
  g->states += w->state != 0;
  snprintf(g->roles + strlen(g->roles), sizeof g->roles - strlen(g->roles), "%s:%d ", w->role,
           (int)w->shape.rank);
  *value = tfsdk_emit2(c, "Fill", tfsdk_int_vector(c, w->shape.dim, (uint32_t)w->shape.rank),
                       tfsdk_scalar(c, w->dtype, 1));
  return tfsdk_ctx_error(c);
}

Test(layer, the_caller_gives_the_weights) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_ctx *c = tfsdk_eager_ctx(rt);
  giver g = {rt, 0, 0, 0, ""};
  tfsdk_layer_options o = {sizeof o, 0, give_ones, NULL, &g};
  tfsdk_tensor *x;
  tfsdk_val in = eager_matrix(&x, rt), y;
  tfsdk_attrval p[2] = {units(2), tfsdk_a_string("activation", "relu")};
  size_t mark = tfsdk_eager_mark(rt);
  OK(tfsdk_layer_build(c, "dense", &in, 1, p, 2, &o, &y, 1));
  cr_expect_str_eq(g.roles, "kernel:2 bias:1 ");
  EXPECT_FLOATS(tfsdk_eager_tensor(y), 0, 7, 7, 1, 1); /* relu(row sum + 1) */
  tfsdk_eager_release_vals(rt, mark);
  tfsdk_tensor_release(x);
  tfsdk_runtime_release(rt);
}

static tfsdk_status *give_wrong(void *user, tfsdk_ctx *c, const tfsdk_weightspec *w,
                                tfsdk_val *handle, tfsdk_val *value) {
  *value = tfsdk_scalar(c, w->dtype, 1);
  return tfsdk_ctx_error(c);
}

Test(layer, a_weight_that_does_not_fit_is_named) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_layer_options o = {sizeof o, 0, give_wrong, NULL, NULL};
  tfsdk_tensor *x;
  tfsdk_val in = eager_matrix(&x, rt), y;
  tfsdk_attrval p = units(2);
  FAILS(tfsdk_layer_build(tfsdk_eager_ctx(rt), "dense", &in, 1, &p, 1, &o, &y, 1),
        TFSDK_INVALID_ARGUMENT, "weight 'kernel' must be float32(3, 2)");
  tfsdk_tensor_release(x);
  tfsdk_runtime_release(rt);
}

Test(layer, without_options_variables_come_from_the_scope_and_are_shared) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_graph *g = NULL;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_val x = placeholder(c, TFSDK_FLOAT32, 2, DIMS(-1, 3)), y, again;
  tfsdk_attrval p = units(4);
  OK(tfsdk_ctx_push_variable_scope(c, "fc", TFSDK_REUSE_NEW, 0));
  OK(tfsdk_layer_build(c, "dense", &x, 1, &p, 1, NULL, &y, 1));
  FAILS(tfsdk_layer_build(c, "dense", &x, 1, &p, 1, NULL, &again, 1), TFSDK_ALREADY_EXISTS,
        "fc/kernel");
  tfsdk_ctx_pop_variable_scope(c);
  OK(tfsdk_ctx_push_variable_scope(c, "fc", TFSDK_REUSE_ONLY, 0));
  uint32_t before = tfsdk_graph_node_count(g);
  OK(tfsdk_layer_build(c, "dense", &x, 1, &p, 1, NULL, &again, 1));
  cr_expect_eq(tfsdk_graph_node_count(g), before + 2, "only MatMul and BiasAdd are new");
  tfsdk_ctx_pop_variable_scope(c);
  tfsdk_typed_shape t = tfsdk_type(c, y);
  cr_expect_str_eq(tfsdk_shape_text(&t.shape).s, "(?, 4)");
  tfsdk_graph_release(g);
  tfsdk_runtime_release(rt);
}

Test(layer, updates_go_to_the_bucket_of_the_graph_and_happen_at_once_else) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_graph *g = NULL;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_val x = placeholder(c, TFSDK_FLOAT32, 2, DIMS(2, 1)), y;
  tfsdk_attrval p[2] = {tfsdk_a_bool("training", 1), tfsdk_a_float("momentum", 0.5)};
  const tfsdk_val *list;
  cr_expect_eq(tfsdk_graph_bucket(g, TFSDK_BUCKET_UPDATES, &list), 0);
  OK(tfsdk_layer_build(c, "batch_normalization", &x, 1, p, 2, NULL, &y, 1));
  cr_assert_eq(tfsdk_graph_bucket(g, TFSDK_BUCKET_UPDATES, &list), 2);
  tfsdk_node_info info;
  OK(tfsdk_graph_node(g, list[0], &info));
  cr_expect_str_eq(info.op, "AssignSubVariableOp");
  tfsdk_graph_release(g);

  tfsdk_ctx *e = tfsdk_eager_ctx(rt);
  tfsdk_tensor *data = FLOATS(rt, 2, DIMS(2, 1), 2, 4), *mean = NULL;
  tfsdk_val in = tfsdk_eager_val(data);
  size_t mark = tfsdk_eager_mark(rt);
  OK(tfsdk_layer_build(e, "batch_normalization", &in, 1, p, 2, NULL, &y, 1));
  OK(tfsdk_ctx_push_variable_scope(e, "", TFSDK_REUSE_ONLY, 1));
  tfsdk_varspec spec = {
      .struct_size = sizeof spec, .dtype = TFSDK_FLOAT32, .shape = {.rank = 1, .dim = {1}}};
  tfsdk_variable *v = NULL;
  OK(tfsdk_variable_get(e, "moving_mean", &spec, NULL, &v));
  OK(tfsdk_variable_read(v, &mean));
  EXPECT_FLOATS(mean, 0, 1.5f); /* 0 - (0 - 3) / 2 */
  cr_expect_eq(tfsdk_variable_trainable(v), 0);
  tfsdk_ctx_pop_variable_scope(e);
  tfsdk_tensor_release(mean);
  tfsdk_tensor_release(data);
  tfsdk_eager_release_vals(rt, mark);
  tfsdk_runtime_release(rt);
}

Test(layer, errors_name_layer_scope_shapes_and_line) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_graph *g = NULL;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_val x = placeholder(c, TFSDK_FLOAT32, 2, DIMS(8, 784)), y;
  int64_t three = 3;
  tfsdk_attrval p[2] = {tfsdk_a_int("filters", 4), tfsdk_a_ints("kernel_size", &three, 1)};
  tfsdk_graph_set_where(g, "train.lua:7");
  OK(tfsdk_ctx_push_variable_scope(c, "conv1", TFSDK_REUSE_NEW, 0));
  tfsdk_status *s = tfsdk_layer_build(c, "conv2d", &x, 1, p, 2, NULL, &y, 1);
  const char *text = tfsdk_status_text(s);
  cr_assert(s != NULL);
  cr_expect(strstr(text, "conv2d 'conv1'") && strstr(text, "(8, 784)") &&
                strstr(text, "train.lua:7"),
            "%s", text);
  tfsdk_status_release(s);
  FAILS(tfsdk_layer_build(c, "conv2d", &x, 0, p, 2, NULL, &y, 1), TFSDK_INVALID_ARGUMENT,
        "input 'inputs' is missing");
  tfsdk_attrval wrong = tfsdk_a_int("filter", 4);
  FAILS(tfsdk_layer_build(c, "conv2d", &x, 1, &wrong, 1, NULL, &y, 1), TFSDK_INVALID_ARGUMENT,
        "'filters'");
  tfsdk_graph_release(g);
  tfsdk_runtime_release(rt);
}

Test(layer, memory_that_runs_out_is_a_status_and_leaves_nothing) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_ctx *c = tfsdk_eager_ctx(rt);
  giver g = {rt, 0, 0, 0, ""};
  tfsdk_layer_options o = {sizeof o, 0, give_ones, NULL, &g};
  tfsdk_tensor *x;
  tfsdk_val in = eager_matrix(&x, rt), y;
  tfsdk_attrval p = units(2);
  size_t mark = tfsdk_eager_mark(rt);
  OK(tfsdk_layer_build(c, "dense", &in, 1, &p, 1, &o, &y,
                       1)); /* plugins are open, kernels chosen */
  tfsdk_eager_release_vals(rt, mark);
  int failures = 0;
  for (uint64_t n = 1; n < 200; n++) {
    g.roles[0] = 0;
    tfsdk_runtime_fail_allocation(rt, n, 0);
    tfsdk_status *s = tfsdk_layer_build(c, "dense", &in, 1, &p, 1, &o, &y, 1);
    tfsdk_runtime_fail_allocation(rt, 0, 0);
    tfsdk_eager_release_vals(rt, mark);
    if (s == NULL) break;
    failures++;
    cr_expect_eq(tfsdk_status_code(s), TFSDK_RESOURCE_EXHAUSTED);
    tfsdk_status_release(s);
  }
  cr_expect_gt(failures, 0);
  cr_expect_lt(failures, 199, "it succeeds once nothing fails any more");
  tfsdk_tensor_release(x);
  tfsdk_runtime_release(rt);
}
