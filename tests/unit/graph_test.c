/* Graphs: names, scopes, errors that say where, finalizing; sessions: feeding, partial runs, plans.
 */
#include "support.h"

static tfsdk_val scalar(tfsdk_ctx *c, float x) {
  tfsdk_val v = tfsdk_constant(c, TFSDK_FLOAT32, 0, NULL, &x);
  OK(tfsdk_ctx_error(c));
  return v;
}

static const char *name_of(tfsdk_graph *g, tfsdk_val v) {
  tfsdk_node_info info;
  OK(tfsdk_graph_node(g, v, &info));
  return info.name;
}

/* TensorFlow's rules: a name used again gets _1; a scope entered again too; "a/" enters the very
 * same. */
Test(graph, names_and_scopes) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_graph *g = NULL;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  cr_expect_str_eq(name_of(g, scalar(c, 1)), "Const");
  cr_expect_str_eq(name_of(g, scalar(c, 1)), "Const_1");
  OK(tfsdk_ctx_push_name_scope(c, "a"));
  cr_expect_str_eq(name_of(g, scalar(c, 1)), "a/Const");
  tfsdk_ctx_pop_name_scope(c);
  OK(tfsdk_ctx_push_name_scope(c, "a"));
  tfsdk_graph_set_name(g, "x");
  cr_expect_str_eq(name_of(g, scalar(c, 1)), "a_1/x");
  OK(tfsdk_ctx_push_name_scope(c, "a/"));
  cr_expect_str_eq(name_of(g, scalar(c, 1)), "a/Const_1");
  tfsdk_ctx_pop_name_scope(c);
  tfsdk_ctx_pop_name_scope(c);
  FAILS(tfsdk_ctx_push_name_scope(c, "_bad"), TFSDK_INVALID_ARGUMENT, "_bad");
  tfsdk_val found;
  OK(tfsdk_graph_find(g, "a_1/x:0", &found));
  FAILS(tfsdk_graph_find(g, "a_1/y", &found), TFSDK_NOT_FOUND, "'a_1/x'");
  tfsdk_graph_release(g);
  tfsdk_runtime_release(rt);
}

Test(graph, a_shape_error_names_op_node_shapes_and_line) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_graph *g = NULL;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_val a = placeholder(c, TFSDK_FLOAT32, 2, DIMS(8, 4)),
            b = placeholder(c, TFSDK_FLOAT32, 2, DIMS(5, 3));
  tfsdk_graph_set_where(g, "train.lua:7");
  tfsdk_graph_set_name(g, "dense/MatMul");
  tfsdk_emit2(c, "MatMul", a, b);
  tfsdk_status *s = tfsdk_ctx_error(c);
  const char *text = tfsdk_status_text(s);
  cr_assert(s != NULL);
  cr_expect(strstr(text, "MatMul 'dense/MatMul'") && strstr(text, "(8, 4)") &&
                strstr(text, "(5, 3)") && strstr(text, "train.lua:7"),
            "%s", text);
  cr_expect_str_eq(tfsdk_status_get(s, "where"), "train.lua:7");
  tfsdk_status_release(s);
  tfsdk_emit2(c, "MatMull", a, b);
  FAILS(tfsdk_ctx_error(c), TFSDK_NOT_FOUND, "'MatMul'");
  tfsdk_val in[2] = {a, b};
  tfsdk_attrval typo = tfsdk_a_bool("transpse_a", 1);
  tfsdk_emit(c, "MatMul", in, 2, &typo, 1);
  FAILS(tfsdk_ctx_error(c), TFSDK_INVALID_ARGUMENT, "'transpose_a'");
  tfsdk_graph_release(g);
  tfsdk_runtime_release(rt);
}

Test(graph, GRF_01_a_finalized_graph_refuses_nodes_and_names_the_op) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_graph *g = NULL;
  tfsdk_session *s = NULL;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_val a = scalar(c, 2), b = scalar(c, 3), sum = tfsdk_emit2(c, "AddV2", a, b);
  OK(tfsdk_ctx_error(c));
  uint32_t nodes = tfsdk_graph_node_count(g);
  OK(tfsdk_session_create(g, NULL, &s));
  for (int i = 0; i < 5000; i++) {
    tfsdk_tensor *out = NULL;
    OK(tfsdk_session_run(s, &sum, 1, NULL, NULL, 0, &out));
    tfsdk_tensor_release(out);
  }
  cr_expect_eq(tfsdk_graph_node_count(g), nodes);
  tfsdk_graph_finalize(g);
  tfsdk_emit2(c, "AddV2", a, b);
  FAILS(tfsdk_ctx_error(c), TFSDK_FAILED_PRECONDITION, "AddV2");
  tfsdk_session_release(s);
  tfsdk_graph_release(g);
  tfsdk_runtime_release(rt);
}

Test(session, any_value_can_be_fed_and_only_what_is_needed_runs) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_graph *g = NULL;
  tfsdk_session *s = NULL;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_val x = placeholder(c, TFSDK_FLOAT32, 1, DIMS(-1)),
            y = tfsdk_emit2(c, "Mul", x, scalar(c, 2)),
            z = tfsdk_emit2(c, "AddV2", y, scalar(c, 1));
  OK(tfsdk_ctx_error(c));
  OK(tfsdk_session_create(g, NULL, &s));
  tfsdk_tensor *in = FLOATS(rt, 1, DIMS(2), 3, 4), *out = NULL;
  OK(tfsdk_session_run(s, &z, 1, &x, &in, 1, &out));
  EXPECT_FLOATS(out, 0, 7, 9);
  tfsdk_tensor_release(out);
  OK(tfsdk_session_run(s, &z, 1, &y, &in, 1, &out)); /* x is not needed then */
  EXPECT_FLOATS(out, 0, 4, 5);
  tfsdk_tensor_release(out);
  OK(tfsdk_session_run(s, &y, 1, &y, &in, 1, &out)); /* fed and fetched */
  EXPECT_FLOATS(out, 0, 3, 4);
  tfsdk_tensor_release(out);
  FAILS(tfsdk_session_run(s, &z, 1, NULL, NULL, 0, &out), TFSDK_INVALID_ARGUMENT, "must be fed");
  tfsdk_tensor *matrix = FLOATS(rt, 2, DIMS(1, 2), 1, 2);
  FAILS(tfsdk_session_run(s, &z, 1, &x, &matrix, 1, &out), TFSDK_INVALID_ARGUMENT,
        "float32 (1, 2)");
  tfsdk_session_close(s);
  FAILS(tfsdk_session_run(s, &z, 1, &x, &in, 1, &out), TFSDK_FAILED_PRECONDITION, "closed");
  tfsdk_tensor_release(matrix);
  tfsdk_tensor_release(in);
  tfsdk_session_release(s);
  tfsdk_graph_release(g);
  tfsdk_runtime_release(rt);
}

Test(session, control_dependencies_run_first_and_variables_say_their_name) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_graph *g = NULL;
  tfsdk_session *s = NULL;
  tfsdk_variable *w = NULL;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_varspec spec = {.struct_size = sizeof spec, .dtype = TFSDK_FLOAT32, .init = scalar(c, 5)};
  OK(tfsdk_variable_create(c, "w", &spec, &w));
  tfsdk_val handle = tfsdk_variable_handle(w), one = scalar(c, 1), in[2] = {handle, one},
            add = tfsdk_emit(c, "AssignAddVariableOp", in, 2, NULL, 0);
  OK(tfsdk_ctx_error(c));
  OK(tfsdk_ctx_push_control(c, &add, 1));
  tfsdk_attrval dtype = tfsdk_a_dtype("dtype", TFSDK_FLOAT32);
  tfsdk_val after = tfsdk_emit(c, "ReadVariableOp", &handle, 1, &dtype, 1);
  tfsdk_ctx_pop_control(c);
  OK(tfsdk_ctx_error(c));
  OK(tfsdk_session_create(g, NULL, &s));
  tfsdk_tensor *out = NULL;
  FAILS(tfsdk_session_run(s, &after, 1, NULL, NULL, 0, &out), TFSDK_FAILED_PRECONDITION, "'w'");
  tfsdk_val init = tfsdk_variable_initializer(w);
  OK(tfsdk_session_run(s, &init, 1, NULL, NULL, 0, &out));
  cr_expect(out == NULL);
  OK(tfsdk_session_run(s, &after, 1, NULL, NULL, 0, &out));
  EXPECT_FLOATS(out, 0, 6);
  tfsdk_tensor_release(out);
  OK(tfsdk_session_read(s, "w", &out));
  EXPECT_FLOATS(out, 0, 6);
  tfsdk_tensor_release(out);
  tfsdk_variable_release(w);
  tfsdk_session_release(s);
  tfsdk_graph_release(g);
  tfsdk_runtime_release(rt);
}

/* TensorFlow's sharing rules: new refuses what exists, and says where it was made; reuse refuses
 * what does not. */
Test(variable, scopes_share_by_name) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_graph *g = NULL;
  tfsdk_variable *a = NULL, *b = NULL;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_varspec spec = {
      .struct_size = sizeof spec, .dtype = TFSDK_FLOAT32, .shape = {.rank = 1, .dim = {3}}};
  tfsdk_graph_set_where(g, "model.lua:3");
  OK(tfsdk_ctx_push_variable_scope(c, "layer", TFSDK_REUSE_NEW, 0));
  OK(tfsdk_variable_get(c, "w", &spec, NULL, &a));
  cr_expect_str_eq(tfsdk_variable_name(a), "layer/w");
  FAILS(tfsdk_variable_get(c, "w", &spec, NULL, &b), TFSDK_ALREADY_EXISTS, "model.lua:3");
  tfsdk_ctx_pop_variable_scope(c);
  OK(tfsdk_ctx_push_variable_scope(c, "layer", TFSDK_REUSE_ONLY, 0));
  OK(tfsdk_variable_get(c, "w", &spec, NULL, &b));
  cr_expect(a == b);
  FAILS(tfsdk_variable_get(c, "v", &spec, NULL, &b), TFSDK_NOT_FOUND, "layer/v");
  OK(tfsdk_ctx_push_variable_scope(c, "inner", TFSDK_REUSE_NEW, 0)); /* reuse is inherited */
  cr_expect_eq(tfsdk_ctx_reuse(c), TFSDK_REUSE_ONLY);
  tfsdk_ctx_pop_variable_scope(c);
  spec.shape.dim[0] = 4;
  FAILS(tfsdk_variable_get(c, "w", &spec, NULL, &b), TFSDK_INVALID_ARGUMENT, "(4)");
  tfsdk_ctx_pop_variable_scope(c);
  tfsdk_graph_release(g);
  tfsdk_runtime_release(rt);
}
