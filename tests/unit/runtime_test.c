/* Runtimes: several in a process, nothing left behind, memory that runs out. */
#include "support.h"

Test(runtime, two_in_a_process_do_not_meet) {
  tfsdk_runtime *a = new_runtime(), *b = new_runtime();
  tfsdk_tensor *x = FLOATS(a, 1, DIMS(2), 1, 2), *y = FLOATS(b, 1, DIMS(2), 10, 20);
  tfsdk_tensor *in_a[2] = {x, x}, *in_b[2] = {y, y};
  tfsdk_tensor *p = run1(a, "AddV2", in_a, 2), *q = run1(b, "AddV2", in_b, 2);
  EXPECT_FLOATS(p, 0, 2, 4);
  EXPECT_FLOATS(q, 0, 20, 40);
  tfsdk_memory_info m;
  tfsdk_runtime_memory(a, NULL, &m);
  cr_expect_eq(m.live_tensors, 2);
  tfsdk_tensor_release(x);
  tfsdk_tensor_release(p);
  tfsdk_runtime_release(a);
  tfsdk_tensor *again = run1(b, "AddV2", in_b, 2);
  EXPECT_FLOATS(again, 0, 20, 40);
  tfsdk_tensor_release(y);
  tfsdk_tensor_release(q);
  tfsdk_tensor_release(again);
  tfsdk_runtime_release(b);
}

Test(runtime, tensors_outlive_the_owners_handle) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_tensor *x = FLOATS(rt, 1, DIMS(3), 1, 2, 3);
  tfsdk_runtime_release(rt);
  EXPECT_FLOATS(x, 0, 1, 2, 3);
  tfsdk_tensor_release(x);
}

Test(runtime, a_memory_limit_is_an_error_and_the_next_call_works) {
  tfsdk_runtime_options o = {.struct_size = sizeof o, .memory_limit = 1000};
  tfsdk_runtime *rt = NULL;
  tfsdk_tensor *t = NULL;
  OK(tfsdk_runtime_create(&o, &rt));
  FAILS(tfsdk_tensor_create(rt, TFSDK_FLOAT32, 1, DIMS(1000), NULL, 0, &t),
        TFSDK_RESOURCE_EXHAUSTED, "limit of 1000");
  OK(tfsdk_tensor_create(rt, TFSDK_FLOAT32, 1, DIMS(100), NULL, 0, &t));
  tfsdk_tensor_release(t);
  tfsdk_runtime_release(rt);
}

/* A small training step: variable, product, gradient, session, tape. Returns the first error. */
static tfsdk_status *small_program(tfsdk_runtime *rt) {
  tfsdk_graph *g = NULL;
  tfsdk_session *s = NULL;
  tfsdk_variable *w = NULL;
  tfsdk_tensor *x = NULL, *out[2] = {NULL, NULL}, *square = NULL, *dx = NULL;
  tfsdk_tape *tape = NULL;
  tfsdk_varspec spec = {.struct_size = sizeof spec, .dtype = TFSDK_FLOAT32};
  tfsdk_status *st = tfsdk_graph_create(rt, &g);
  spec.shape.rank = 2;
  spec.shape.dim[0] = spec.shape.dim[1] = 2;
  if (st == NULL) st = tfsdk_variable_create(tfsdk_graph_ctx(g), "w", &spec, &w);
  if (st == NULL) st = tfsdk_tensor_create(rt, TFSDK_FLOAT32, 2, DIMS(2, 2), NULL, 0, &x);
  if (st == NULL) {
    tfsdk_ctx *c = tfsdk_graph_ctx(g);
    tfsdk_attrval attr[2] = {tfsdk_a_dtype("dtype", TFSDK_FLOAT32),
                             tfsdk_a_shape("shape", DIMS(-1, 2), 2)};
    tfsdk_val p = tfsdk_emit(c, "Placeholder", NULL, 0, attr, 2), value = {0},
              handle = tfsdk_variable_handle(w);
    tfsdk_gradient grad = {{0}, {0}, {0}, {0}};
    st = tfsdk_ctx_error(c);
    if (st == NULL) st = tfsdk_variable_value(w, c, &value);
    tfsdk_val y = {0};
    if (st == NULL) {
      y = tfsdk_emit1(c, "L2Loss", tfsdk_emit2(c, "MatMul", p, value));
      st = tfsdk_ctx_error(c);
    }
    if (st == NULL) st = tfsdk_gradients(g, &y, 1, &handle, 1, NULL, NULL, 0, &grad);
    if (st == NULL) st = tfsdk_session_create(g, NULL, &s);
    tfsdk_val init = tfsdk_variable_initializer(w), fetches[2] = {y, grad.value};
    if (st == NULL) st = tfsdk_session_run(s, &init, 1, NULL, NULL, 0, out);
    if (st == NULL) st = tfsdk_session_run(s, fetches, 2, &p, &x, 1, out);
  }
  if (st == NULL) st = tfsdk_tape_create(rt, 0, 1, &tape);
  if (st == NULL) st = tfsdk_tape_watch(tape, x);
  if (st == NULL) st = tfsdk_eager_run(rt, "Square", &x, 1, NULL, 0, &square, 1);
  if (st == NULL) st = tfsdk_tape_gradient(tape, &square, 1, &x, 1, NULL, &dx, NULL, NULL);
  tfsdk_tape_release(tape);
  tfsdk_tensor_release(dx);
  tfsdk_tensor_release(square);
  tfsdk_tensor_release(out[0]);
  tfsdk_tensor_release(out[1]);
  tfsdk_tensor_release(x);
  tfsdk_variable_release(w);
  tfsdk_session_release(s);
  tfsdk_graph_release(g);
  return st;
}

/* After Lua's memerr.lua: let the n-th allocation fail, for every n of a whole program. Each
 * failure is a clean RESOURCE_EXHAUSTED (or is got over: folding a constant early is optional), and
 * nothing of it stays behind. */
Test(runtime, every_allocation_may_fail, .timeout = 120) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_memory_info first, before, after;
  OK(small_program(rt)); /* plugins are loaded and caches filled from here on */
  tfsdk_runtime_memory(rt, NULL, &first);
  OK(small_program(rt));
  tfsdk_runtime_memory(rt, NULL, &before);
  uint64_t n = before.allocations - first.allocations, failed = 0;
  cr_assert(n > 100, "the program makes only %llu allocations", (unsigned long long)n);
  for (uint64_t i = 1; i <= n; i++) {
    tfsdk_runtime_fail_allocation(rt, i, 0);
    tfsdk_status *s = small_program(rt);
    tfsdk_runtime_fail_allocation(rt, 0, 0);
    failed += s != NULL;
    cr_assert(s == NULL || tfsdk_status_code(s) == TFSDK_RESOURCE_EXHAUSTED, "allocation %llu: %s",
              (unsigned long long)i, tfsdk_status_text(s));
    tfsdk_status_release(s);
    tfsdk_runtime_memory(rt, NULL, &after);
    cr_assert(after.live_tensors == before.live_tensors, "allocation %llu left %llu tensors",
              (unsigned long long)i,
              (unsigned long long)(after.live_tensors - before.live_tensors));
    cr_assert(after.live_blocks <= before.live_blocks, "allocation %llu left %lld blocks",
              (unsigned long long)i, (long long)(after.live_blocks - before.live_blocks));
  }
  cr_expect(failed > n / 2, "only %llu of %llu failures were told", (unsigned long long)failed,
            (unsigned long long)n);
  OK(small_program(rt));
  tfsdk_runtime_release(rt);
}

/* Eager variables live as long as somebody has them; their names are free again afterwards. */
Test(runtime, eager_variables_are_not_kept) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_ctx *c = tfsdk_eager_ctx(rt);
  tfsdk_varspec spec = {.struct_size = sizeof spec, .dtype = TFSDK_INT32};
  tfsdk_memory_info before, after;
  tfsdk_variable *v, *w;
  OK(tfsdk_variable_create(c, "warm", &spec, &v));
  tfsdk_variable_release(v);
  tfsdk_runtime_memory(rt, NULL, &before);
  for (int i = 0; i < 100; i++) {
    OK(tfsdk_variable_create(c, "v", &spec, &v));
    OK(tfsdk_variable_create(c, "v", &spec, &w));
    cr_expect_str_eq(tfsdk_variable_name(v), "v");
    cr_expect(strncmp(tfsdk_variable_name(w), "v_", 2) == 0);
    tfsdk_variable_release(v);
    tfsdk_variable_release(w);
  }
  tfsdk_runtime_memory(rt, NULL, &after);
  cr_expect_eq(after.live_tensors, before.live_tensors);
  cr_expect(after.live_blocks <= before.live_blocks + 8, "%llu blocks more",
            (unsigned long long)(after.live_blocks - before.live_blocks));
  OK(tfsdk_variable_get(c, "shared", &spec, NULL,
                        &v)); /* the context holds what is shared by name */
  OK(tfsdk_ctx_push_variable_scope(c, "", TFSDK_REUSE_ONLY, 0));
  OK(tfsdk_variable_get(c, "shared", &spec, NULL, &w));
  cr_expect(v == w);
  tfsdk_ctx_pop_variable_scope(c);
  tfsdk_runtime_release(rt);
}
